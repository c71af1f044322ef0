"""A judge's reply read strictly: one JSON object of a score and a reason, or no vote."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

LONGEST_REASON = 4_000
_FENCE = re.compile(r"\s*```(?:json|JSON)?[ \t]*\n(?P<body>.*?)\n?[ \t]*```\s*", re.DOTALL)


class Stop(StrEnum):
    """Why a reply ended."""

    END = "end"
    LENGTH = "length"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a judge wrote, as it came."""

    text: str
    stop: Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a reply says: a score with a reason, or a problem and no score."""

    score: int | None
    reason: str


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    score: int
    reason: Annotated[str, Field(max_length=LONGEST_REASON)]


def read_reply(reply: Reply, scale: Collection[int]) -> Read:
    """Read a reply; the whole of it may stand in a fence, and nothing may stand around it.

    A reply that was cut off or refused, is prose, has other fields or a score that is not on the scale has no score.
    It is not guessed at: a guess would be a pass or a fail that nobody gave.
    """
    if reply.stop is Stop.LENGTH:
        return Read(score=None, reason="cut off; allow more max_tokens")
    if reply.stop is Stop.REFUSAL:
        return Read(score=None, reason="refused")
    fenced = _FENCE.fullmatch(reply.text)
    body = reply.text if fenced is None else fenced["body"]
    try:
        said = _Said.model_validate_json(body.strip())
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        place = ".".join(map(str, found["loc"]))
        return Read(score=None, reason=f"malformed: {place + ': ' if place else ''}{found['msg']}")
    if said.score not in scale:
        return Read(score=None, reason=f"score {said.score} is not on the scale {min(scale)}..{max(scale)}")
    return Read(score=said.score, reason=said.reason)
