"""Which beginnings of an answer nothing that follows can mend: what has begun so need not be denoised to its end."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pydantic_core import from_json

from unmask.tasks.dialogue_refuted import is_refuted
from unmask.types import Message

Refutes = Callable[[tuple[Message, ...], str], bool]
"""Tells it from the request and the beginning alone; never raises."""

REFUTATION: Mapping[str, Refutes] = MappingProxyType({"dialogue": is_refuted})
"""By task type. Those of the others are judged whole."""
_UNTOLD = ("EOF while parsing", "recursion limit")
"""How the parser complains of a number that goes on, of nothing at all, and of too much nesting."""


def is_no_json(beginning: str) -> bool:
    """Tell whether no JSON text begins so; of nesting that is too deep to be looked at nothing is told."""
    try:
        from_json(beginning, allow_partial="trailing-strings", allow_inf_nan=False)
    except ValueError as error:
        return not str(error).startswith(_UNTOLD)
    return False
