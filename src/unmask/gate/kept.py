"""Which lines of a run were there when it was decided on: lines are only added, so with more it is the same run."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from unmask.policy.digest import content_digest
from unmask.policy.log import ORIGIN, FullDigest
from unmask.policy.schema import Document


class Kept(Document):
    """So many lines from the beginning of a file, by their digest."""

    lines: Annotated[int, Field(ge=0)]
    head: FullDigest

    def begins(self, heads: Sequence[str]) -> bool:
        """Tell whether a file still begins with these lines, by what `chained` says of it now."""
        return self.lines <= len(heads) and kept_of(heads[: self.lines]).head == self.head


def chained(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Return for each line the digest of all lines up to it."""
    heads: list[str] = []
    for line in lines:
        before = heads[-1] if heads else ORIGIN
        heads.append(content_digest(before.encode() + b"\n" + line.strip()))
    return tuple(heads)


def kept_of(heads: Sequence[str]) -> Kept:
    """Return what stands for all lines of a file."""
    return Kept(lines=len(heads), head=heads[-1] if heads else ORIGIN)
