"""The two small languages inside an entry's text: decorators and macros in braces."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_DECORATOR = re.compile(r"\s*@@@?(\w+)")
_UNSAID = re.compile(r"\{\{(?://|comment:|hidden_key:)[^{}]*\}\}", re.IGNORECASE)
_CHAR = re.compile(r"\{\{char\}\}|<char>|<bot>", re.IGNORECASE)
_MACRO = re.compile(r"\{\{\s*([\w/]+)[^{}]*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """A text without decorators and macros.

    Attributes:
        decorators: names of those taken away.
        macros: names of those that stay as they are, because only a chat can tell what they stand for.
    """

    text: str
    decorators: tuple[str, ...]
    macros: tuple[str, ...]


def clear(text: str, character: str) -> Cleared:
    """Take decorators and unsaid macros away, and put a character's name for ``{{char}}``."""
    kept: list[str] = []
    decorators: dict[str, None] = {}
    for line in text.splitlines():
        found = _DECORATOR.match(line)
        if found:
            decorators[found[1]] = None
        else:
            kept.append(line)
    body = _UNSAID.sub("", "\n".join(kept))
    body = _CHAR.sub(lambda _: character, body) if character else body
    macros = dict.fromkeys(name.lower() for name in _MACRO.findall(body))
    return Cleared(text=body, decorators=tuple(decorators), macros=tuple(macros))


def listed(counts: Mapping[str, int]) -> str:
    """Write names with how often each was met."""
    return ", ".join(f"{name} ({count})" for name, count in counts.items())
