"""``docs/api.md`` says all that the tables say."""

import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from unmask.api.chat_schema import MOST_MESSAGES, MOST_PARTS, ChatBody
from unmask.api.completion_schema import MOST_ANSWERS, MOST_PROMPTS, CompletionBody
from unmask.api.effort import BUCKETS, SHARES
from unmask.api.event_stream import StreamPace
from unmask.api.format_schema import LONGEST_DESCRIPTION, LONGEST_NAME
from unmask.api.refusals import CHAT, COMPLETION, MESSAGE, NAMED_SCHEMA, STREAM_OPTIONS, TEXT_PART, Refusals
from unmask.api.schema import (
    LONGEST_KEY,
    LONGEST_LABEL,
    MOST_CHOICES,
    MOST_METADATA,
    MOST_TOTAL_STEPS,
    DiffusionOptions,
    ServiceTier,
    StreamOptions,
    VllmArguments,
)
from unmask.api.status import STATUS, Status
from unmask.backend import MOST_STOPS
from unmask.strategy import NAMED_STRATEGIES
from unmask.tasks.schema_limits import DEEPEST_SCHEMA, LONGEST_SCHEMA, MOST_PATTERNS, MOST_WORK
from unmask.types import Bucket

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


MODELS: tuple[type[BaseModel], ...] = (ChatBody, CompletionBody, DiffusionOptions, StreamOptions, VllmArguments)
REFUSED: tuple[Refusals, ...] = (CHAT, COMPLETION, MESSAGE, NAMED_SCHEMA, STREAM_OPTIONS, TEXT_PART)


@pytest.mark.parametrize(
    "name",
    sorted({*NAMED_STRATEGIES, *ServiceTier}.union(*(model.model_fields for model in MODELS)).union(*REFUSED)),
)
def test_every_field_is_documented(name: str) -> None:
    """Whether supported or refused, a field is named."""
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize("refused", REFUSED)
def test_every_neutral_value_is_documented(refused: Refusals) -> None:
    """What is taken of a field that is not supported is said beside its name."""
    for name, neutral in refused.items():
        rows = [line for line in TEXT.splitlines() if f"`{name}`" in line]
        for value in neutral:
            assert any(f"`{json.dumps(value)}`" in row for row in rows), (name, value)


LIMITS = (LONGEST_SCHEMA, DEEPEST_SCHEMA, MOST_PATTERNS, MOST_WORK, MOST_MESSAGES, MOST_PARTS, MOST_PROMPTS)
MORE_LIMITS = (MOST_ANSWERS, MOST_CHOICES, MOST_STOPS, MOST_METADATA, MOST_TOTAL_STEPS, LONGEST_KEY, LONGEST_LABEL)


@pytest.mark.parametrize("limit", {*LIMITS, *MORE_LIMITS, LONGEST_DESCRIPTION, LONGEST_NAME})
def test_every_limit_is_documented(limit: int) -> None:
    """A number that requests are refused for is on the page."""
    assert re.search(rf"\b{limit}\b", TEXT)


@pytest.mark.parametrize("bucket", SHARES)
def test_every_bucket_is_documented(bucket: Bucket) -> None:
    """Each row of the table says which words mean a bucket, and what share it is."""
    words = ", ".join(f"`{effort}`" for effort, found in BUCKETS.items() if found is bucket)

    assert f"| {words} | {bucket} | {SHARES[bucket]} |" in TEXT


@pytest.mark.parametrize(
    "status", [status for status in STATUS.values() if status.code], ids=lambda status: status.code
)
def test_every_error_is_documented(status: Status) -> None:
    """Each row of the table is a row of the page."""
    assert f"| {status.http} | `{status.type}` | `{status.code}` |" in TEXT


def test_pace_of_streams_is_documented() -> None:
    """How long a stream is silent, and its client may be deaf, are the figures in use."""
    pace = StreamPace()

    assert f"After every {pace.comment_s:g} seconds of silence" in TEXT
    assert f"reads nothing for {pace.stalled_s:g} seconds" in TEXT
