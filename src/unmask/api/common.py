"""What the choices of a call have in common."""

from collections.abc import Iterable
from typing import TypeVar

_Value = TypeVar("_Value")


def common(values: Iterable[_Value]) -> _Value | None:
    """Return the value that all share; nothing where two differ or there are none."""
    first, *others = dict.fromkeys(values) or (None,)
    return None if others else first
