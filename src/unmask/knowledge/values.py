"""Whether a value is what its slot holds, and a time one that the world knows."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import assert_never

from unmask.errors import shown
from unmask.knowledge.schema import LONGEST_TEXT, one_line
from unmask.knowledge.world import Slot, Validity, ValueKind


class MisfitError(ValueError):
    """A value does not fit; the message says what does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What values may refer to.

    Attributes:
        types: of entities by id; ``None`` for one that is too malformed to have any.
    """

    words: frozenset[str]
    types: Mapping[str, str | None]
    times: tuple[str, ...]

    def written(self, slot: Slot, value: object) -> str:
        """Return a value as a `Statement` holds it.

        Raises:
            MisfitError: it is of another kind, or leads nowhere.
        """
        match slot.kind:
            case ValueKind.NUMBER:
                return _number(slot, value)
            case ValueKind.TEXT:
                return _text(slot, value)
            case ValueKind.WORD:
                return self._word(slot, value)
            case ValueKind.ENTITY:
                return self._entity(slot, value)
            case _:
                assert_never(slot.kind)

    def misfits(self, validity: Validity) -> Iterator[str]:
        """Yield what is wrong with a validity: a time that is not known, or an end before its beginning."""
        times = [time for time in (validity.since, validity.until) if time is not None]
        unknown = [time for time in times if self.times and time not in self.times]
        for time in unknown:
            yield f"{shown(time)} is no time of this world; allowed: {', '.join(self.times)}"
        if len(times) == 2 and not unknown:
            since, until = (self._ordinal(time) for time in times)
            if since is not None and until is not None and until < since:
                yield f"it ends in {times[1]}, before it begins in {times[0]}"

    def _ordinal(self, time: str) -> int | None:
        if self.times:
            return self.times.index(time)
        return int(time) if time.removeprefix("-").isdecimal() else None

    def _word(self, slot: Slot, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            near = _near(value, self.words)
            raise MisfitError(f"{slot.name} is {shown(value)}, allowed: a key of the world's words{near}")
        return value

    def _entity(self, slot: Slot, value: object) -> str:
        if not isinstance(value, str) or value not in self.types:
            raise MisfitError(f"{slot.name} is {shown(value)}, allowed: the id of an entity{_near(value, self.types)}")
        found = self.types[value]
        if slot.refers_to and found is not None and found not in slot.refers_to:
            allowed = " or ".join(slot.refers_to)
            raise MisfitError(f"{slot.name} is {value}, which is of type {found}; allowed: {allowed}")
        return value


def _number(slot: Slot, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise MisfitError(f"{slot.name} is {shown(value)}, allowed: a number without quotes")
    return str(value)


def _text(slot: Slot, value: object) -> str:
    if not isinstance(value, str):
        raise MisfitError(f"{slot.name} is {shown(value)}, allowed: a text; write a number in quotes")
    if len(value) > LONGEST_TEXT:
        raise MisfitError(f"{slot.name} has {len(value)} characters, allowed: up to {LONGEST_TEXT}")
    try:
        return one_line(value)
    except ValueError as error:
        raise MisfitError(f"{slot.name} is {shown(value)}, {error}") from error


def _near(value: object, known: Mapping[str, object] | frozenset[str]) -> str:
    close = get_close_matches(value, known, 1) if isinstance(value, str) and len(known) <= 2000 else []
    return f"; did you mean {close[0]}?" if close else ""
