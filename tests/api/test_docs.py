"""``docs/api.md`` says all that the tables say."""

from pathlib import Path

import pytest

from unmask.api.event_stream import StreamPace
from unmask.api.refusals import BODY, DIFFUSION, MESSAGE
from unmask.api.schema import ChatBody, DiffusionOptions
from unmask.api.status import STATUS, Status
from unmask.types import StrategyName

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", [*ChatBody.model_fields, *DiffusionOptions.model_fields, *BODY, *DIFFUSION, *MESSAGE, *StrategyName]
)
def test_every_field_is_documented(name: str) -> None:
    """Whether supported or refused, a field is named."""
    assert f"`{name}`" in TEXT


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
