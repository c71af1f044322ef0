"""The votes of a run's judges as lines of its folder, each under what exactly was asked of whom."""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.gate.artefacts import RunFolder
from unmask.gate.errors import RunFolderError
from unmask.gate.judges.prompt import judge_prompt
from unmask.gate.judges.rubric import Criterion
from unmask.gate.judges.settings import JudgeSettings
from unmask.gate.response import Response, ResponseKey
from unmask.gate.scenario import Scenario
from unmask.gate.score import Vote
from unmask.knowledge.world import World
from unmask.policy.digest import canonical, content_digest

VOTES = "votes.jsonl"
FORMAT: Literal["unmask.gate.vote/1"] = "unmask.gate.vote/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteName:
    """Which vote: on which answer, by which criterion, of whom, the how manieth, and a digest of all that was asked."""

    key: ResponseKey
    criterion: str
    judge: str
    number: int
    asking: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVote:
    """A vote under its name."""

    name: VoteName
    vote: Vote


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["unmask.gate.vote/1"]
    name: VoteName
    vote: Vote


_LINE = TypeAdapter(_Line)


class VoteFile:
    """The votes of a folder; what is there is never changed."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._votes: dict[VoteName, Vote] = {}
        for number, line in enumerate(folder.lines(VOTES), start=1):
            try:
                kept = _LINE.validate_json(line)
            except ValidationError as error:
                found = error.errors(include_url=False)[0]
                place = ".".join(map(str, found["loc"]))
                raise RunFolderError(
                    f"line {number} of {folder.url}/{VOTES} is no vote: {place}: {found['msg']}"
                ) from error
            self._votes[kept.name] = kept.vote

    def vote(self, name: VoteName) -> Vote | None:
        """Return a vote that is there."""
        return self._votes.get(name)

    def add(self, votes: Iterable[KeptVote]) -> None:
        """Add votes; once this returns, they outlive the process."""
        kept = list(votes)
        self._folder.append_lines(
            VOTES, [orjson.dumps({"format": FORMAT, "name": one.name, "vote": one.vote}) + b"\n" for one in kept]
        )
        self._votes.update({one.name: one.vote for one in kept})


def asking_digest(
    judge: JudgeSettings, criterion: Criterion, scenario: Scenario, world: World, response: Response
) -> str:
    """Return what tells any two ways of asking apart: the judge and every word it is sent but the fence."""
    prompt = judge_prompt(criterion, scenario, world, response, Random(0))
    return content_digest(
        canonical(
            {
                **judge_record(judge),
                "system": prompt.system.replace(prompt.fence, ""),
                "user": prompt.user.replace(prompt.fence, ""),
            }
        )
    )


def judge_record(judge: JudgeSettings) -> dict[str, object]:
    """Return what of a judge's settings may change its votes; where it is and how fast it is asked may not."""
    return {
        "name": judge.name,
        "api": judge.api.value,
        "model": judge.model,
        "max_tokens": judge.max_tokens,
        "temperature": judge.temperature,
    }
