"""Values of a body as messages repeat them."""

from dataclasses import dataclass
from reprlib import Repr

from unmask.errors import LONGEST_VALUE


class _JsonRepr(Repr):
    """Shortens as `Repr` does, in the words of JSON where Python has others."""

    def repr_bool(self, value: bool, _level: int) -> str:  # noqa: FBT001 - called by reprlib, with what there is
        return "true" if value else "false"

    def repr_NoneType(self, _value: None, _level: int) -> str:  # noqa: N802 - named after the type, for reprlib
        return "null"


@dataclass(frozen=True, slots=True)
class AsJson:
    """A value that its sender wrote as JSON, and reads so."""

    value: object

    def __repr__(self) -> str:
        short = _JsonRepr()
        short.maxstring = short.maxother = short.maxlong = LONGEST_VALUE
        return short.repr(self.value)
