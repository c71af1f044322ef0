"""Which task types can tell that the beginning of an answer leaves nothing wanting."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from unmask.tasks.dialogue_complete import is_complete
from unmask.types import Message

Completes = Callable[[tuple[Message, ...], str], bool]
"""Tells it from the request and the text alone; never raises."""

COMPLETENESS: Mapping[str, Completes] = MappingProxyType({"dialogue": is_complete})
"""By task type. Answers of the others end with what was asked for: there is nothing behind it to be spared."""
