"""Text in any script as units that names and phrases are looked up by.

Languages differ in what a space means: in English a word ends at it, in Korean a name and its particles stand
before it, in Chinese there is none. A unit is therefore a word of a script that has spaces, a run of Hangul, or one
character of a script without spaces.
"""

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise

_UNSPACED = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3040", "\u30ff"),  # Kana
    ("\u3400", "\u9fff"),  # Han
    ("\uf900", "\ufaff"),  # Han, compatibility
    ("\U00020000", "\U0003ffff"),  # Han, rare
)
_HANGUL = (("\uac00", "\ud7a3"), ("\u1100", "\u11ff"), ("\u3131", "\u318e"))


class Script(StrEnum):
    """How a character is joined to the next one."""

    WORD = "word"
    HANGUL = "hangul"
    SINGLE = "single"
    MARK = "mark"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A piece of text.

    Attributes:
        text: folded, so that equal units are equal strings.
        raw: as written.
        start: index of its first character in the normalised text.
        script: never ``MARK`` or ``NONE``.
    """

    text: str
    raw: str
    start: int
    script: Script

    @property
    def end(self) -> int:
        """Return the index behind its last character."""
        return self.start + len(self.raw)


@cache
def script_of(character: str) -> Script:
    """Tell how a character is joined to its neighbours."""
    if any(first <= character <= last for first, last in _HANGUL):
        return Script.HANGUL
    if any(first <= character <= last for first, last in _UNSPACED):
        return Script.SINGLE if character.isalnum() or unicodedata.category(character)[0] == "M" else Script.NONE
    if character.isalnum():
        return Script.WORD
    return Script.MARK if unicodedata.category(character)[0] == "M" else Script.NONE


def normal(text: str) -> str:
    """Return text in the one of its spellings that Unicode counts as compatible (NFKC)."""
    return unicodedata.normalize("NFKC", text)


def fold(text: str) -> str:
    """Return text without what case and compatible spellings add to it."""
    return normal(normal(text).casefold())


def units(text: str) -> tuple[Unit, ...]:
    """Cut a text into units; what stands between them is no part of any."""
    text = normal(text)
    scripts = _scripts(text)
    cuts = [0, *(at for at, (one, two) in enumerate(pairwise(scripts), 1) if one != two or two is Script.SINGLE)]
    return tuple(
        Unit(text=fold(text[start:end]), raw=text[start:end], start=start, script=scripts[start])
        for start, end in pairwise([*cuts, len(text)])
        if end > start and scripts[start] is not Script.NONE
    )


def key_of(text: str) -> tuple[str, ...]:
    """Return the folded units of a text: texts of one key are one name."""
    return tuple(unit.text for unit in units(text))


def _scripts(text: str) -> list[Script]:
    """Tell the script of every character; a mark is of the script it stands on."""
    scripts: list[Script] = []
    for character in text:
        script = script_of(character)
        if script is Script.MARK:
            script = scripts[-1] if scripts and scripts[-1] is not Script.SINGLE else Script.NONE
        scripts.append(script)
    return scripts
