"""Names in running text: a tree of units, from which every name that begins at a unit is read in one walk."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from unmask.knowledge.korean import Stemmer, Tail, tail_of
from unmask.knowledge.script import Script, Unit, units

T = TypeVar("T")

_FIT = {Tail.NOTHING: 1.0, Tail.FITTING: 0.9, Tail.MISSPELT: 0.6}
_BY_MORPHEME = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[T]):
    """One reading of a stretch of units as a name.

    Attributes:
        start, end: units, the latter exclusive.
        tail: what of the last unit is no part of the name.
        fit: how well the end of the last unit fits, 1 where it ends with the name.
    """

    start: int
    end: int
    tail: str
    fit: float
    targets: tuple[T, ...]


@dataclass(slots=True)
class _Node(Generic[T]):
    children: dict[str, "_Node[T]"] = field(default_factory=dict)
    targets: list[T] = field(default_factory=list)


class NameTree(Generic[T]):
    """Names and what each stands for; looked up by longest match.

    A Hangul name may be followed by particles in its last unit, and a name of several Hangul units may be written
    without spaces.
    """

    def __init__(self, stemmer: Stemmer | None = None) -> None:
        self._root: _Node[T] = _Node()
        self._stemmer = stemmer

    def add(self, name: str, target: T) -> None:
        """Add a name; one without letters and digits is never found."""
        pieces = units(name)
        if not pieces:
            return
        self._put([piece.text for piece in pieces], target)
        if len(pieces) > 1 and all(piece.script is Script.HANGUL for piece in pieces):
            self._put(["".join(piece.text for piece in pieces)], target)

    def _put(self, key: Sequence[str], target: T) -> None:
        node = self._root
        for piece in key:
            node = node.children.setdefault(piece, _Node())
        if target not in node.targets:
            node.targets.append(target)

    def find(self, text: Sequence[Unit]) -> tuple[tuple[Found[T], ...], ...]:
        """Return what names stand in a text, from left to right: for each stretch its readings, best first.

        The longest match at a unit wins. A stretch has several readings where particles can be told from names in
        more than one way; only where none fits is one with the wrong form of a particle taken.
        """
        found: list[tuple[Found[T], ...]] = []
        at = 0
        while at < len(text):
            readings = self._at(text, at)
            if readings:
                found.append(readings)
            at = readings[0].end if readings else at + 1
        return tuple(found)

    def _at(self, text: Sequence[Unit], start: int) -> tuple[Found[T], ...]:
        readings = list(self._walk(text, start))
        if not readings:
            return ()
        longest = max(reading.end for reading in readings)
        kept = [reading for reading in readings if reading.end == longest]
        best = max(reading.fit for reading in kept)
        if best > _FIT[Tail.MISSPELT]:
            kept = [reading for reading in kept if reading.fit > _FIT[Tail.MISSPELT]]
        return tuple(sorted(kept, key=lambda reading: -reading.fit))

    def _walk(self, text: Sequence[Unit], start: int) -> Iterator[Found[T]]:
        node = self._root
        for at in range(start, len(text)):
            unit = text[at]
            for length, fit in self._ends(node, unit):
                targets = node.children[unit.text[:length]].targets
                yield Found(start=start, end=at + 1, tail=unit.text[length:], fit=fit, targets=tuple(targets))
            child = node.children.get(unit.text)
            if child is None:
                return
            node = child

    def _ends(self, node: _Node[T], unit: Unit) -> Iterator[tuple[int, float]]:
        """Yield how many characters of a unit a name may end with here, and how well that fits."""
        whole = len(unit.text)
        if unit.script is not Script.HANGUL:
            child = node.children.get(unit.text)
            if child is not None and child.targets:
                yield whole, 1.0
            return
        stems = set(self._stemmer.stems(unit.text)) if self._stemmer else set()
        for length in range(whole, 0, -1):
            child = node.children.get(unit.text[:length])
            if child is None or not child.targets:
                continue
            tail = tail_of(unit.text[:length], unit.text[length:])
            if tail is not Tail.NO_PARTICLE:
                yield length, _FIT[tail]
            elif unit.text[:length] in stems:
                yield length, _BY_MORPHEME
