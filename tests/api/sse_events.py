"""Reads a stream of server-sent events, strictly."""

import json
import re
from dataclasses import dataclass
from typing import Any

BLOCK = re.compile(r"(?:event: (?P<name>[^\r\n]+)\n)?data: (?P<data>[^\r\n]*)|: (?P<comment>[^\r\n]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """An event: its JSON, or ``None`` for the one that says all is done."""

    name: str | None
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SseStream:
    """All events of a body, and how many comments were among them."""

    events: tuple[SseEvent, ...]
    comments: int

    @property
    def done(self) -> bool:
        """Whether it ends with the mark of success."""
        return bool(self.events) and self.events[-1].value is None

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """What unnamed events carry, errors aside."""
        return [e.value for e in self.events if e.name is None and e.value is not None and "error" not in e.value]

    @property
    def snapshots(self) -> list[dict[str, Any]]:
        """The drafts."""
        return [e.value["diffusion_snapshot"] for e in self.events if e.name == "unmask.snapshot"]

    @property
    def error(self) -> dict[str, Any] | None:
        """The error it ends with, if it does."""
        value = self.events[-1].value
        return value["error"] if value is not None and "error" in value else None

    def choice(self, index: int) -> list[dict[str, Any]]:
        """The parts of a choice, in their order."""
        return [part for chunk in self.chunks for part in chunk["choices"] if part["index"] == index]

    def text(self, index: int = 0) -> str:
        """All text of a choice joined, of either endpoint."""
        return "".join(
            part["delta"].get("content", "") if "delta" in part else part["text"] for part in self.choice(index)
        )


def parse_stream(body: bytes) -> SseStream:
    """Read a body; every block is one event or comment, and no event comes after the last one."""
    text = body.decode()
    assert text.endswith("\n\n")
    events: list[SseEvent] = []
    comments = 0
    # As clients do that take every line end of Unicode for one.
    assert len(text.splitlines()) == text.count("\n")
    for block in text.removesuffix("\n\n").split("\n\n"):
        found = BLOCK.fullmatch(block)
        assert found, block
        if found["comment"] is not None:
            comments += 1
            continue
        assert not events or events[-1].value is not None
        value = None if found["data"] == "[DONE]" else json.loads(found["data"])
        events.append(SseEvent(name=found["name"], value=value))
    return SseStream(events=tuple(events), comments=comments)
