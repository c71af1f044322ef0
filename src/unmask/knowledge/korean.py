"""Korean particles: told from the name they follow, and chosen for the word they follow.

A particle is written onto its noun without a space, and many have two forms, one after a final consonant and one
after a vowel (은/는, 이/가, 을/를). The forms tell a particle from a name's last syllable more often than not: 하은 is
no 하 with a topic particle, which would be 하는. The endings are those of the Korean standard grammar (National
Institute of Korean Language, *Standard Korean Orthography*, chapter 5).
"""

import re
from enum import StrEnum
from functools import cache
from typing import Protocol

_FIRST, _LAST = 0xAC00, 0xD7A3
_FINALS = 28
_RIEUL = 8
_CONSONANT_DIGITS, _RIEUL_DIGITS = "0136", "178"

_EITHER = (
    "의 에 에게 에게서 에서 에서는 께 께서 께서는 께서도 한테 한테서 더러 보고 도 만 만이 만은 까지 "
    "까지도 부터 조차 마저 밖에 처럼 같이 같은 보다 마다 만큼 대로 하고 들 들의 들이 들은 들을 들과 "
    "들에게 님 씨 네 네의 에는 에도 에만 에서도 에게는 에게도 한테는 한테도 및 뿐 따라 치고 커녕 입니다 "
    "입니까 입니 인가 인가요 인지 인 일까 일까요 였 예요 이에요 에요"
)
_AFTER_CONSONANT = (
    "이 은 을 과 아 이랑 이나 이며 이고 이라 이라고 이라는 이라면 이란 이라도 이든 이든지 이나마 이야 "
    "이야말로 이다 이니 이냐 이지 이죠 이었 이여 이시여 과는 과도 과의 이랑은 은커녕 이가 이는 이를 이의 "
    "이도 이와 이한테 이에게"
)
_AFTER_VOWEL = (
    "가 는 를 와 야 랑 나 며 고 라 라고 라는 라면 란 라도 든 든지 나마 야말로 다 니 냐 지 죠 였 여 시여 "
    "와는 와도 와의 랑은 는커녕 ㄴ ㄹ"
)
_DIRECTION_AFTER_CONSONANT = "으로 으로서 으로써 으로는 으로도 으로부터"
_DIRECTION_AFTER_VOWEL = "로 로서 로써 로는 로도 로부터"
_OPEN_ENDED = ("였", "이었", "입니")
"""Beginnings of verb forms, whose rest may be anything."""


class Tail(StrEnum):
    """What stands behind a name in one run of Hangul."""

    NOTHING = "nothing"
    FITTING = "fitting"
    MISSPELT = "misspelt"
    NO_PARTICLE = "no_particle"


class Stemmer(Protocol):
    """Says where else a Hangul word may be cut into a name and what follows it."""

    def stems(self, word: str) -> tuple[str, ...]:
        """Return the beginnings of a word that a name may be; each is a prefix of it."""
        ...


def final_of(character: str) -> int | None:
    """Return the number of a syllable's final consonant, 0 where it has none; ``None`` where that is not known.

    Digits are read as Sino-Korean numerals. How a letter of another script is read aloud is not known.
    """
    if _FIRST <= ord(character) <= _LAST:
        return (ord(character) - _FIRST) % _FINALS
    if character in _RIEUL_DIGITS:
        return _RIEUL
    if character.isdecimal() and character.isascii():
        return 1 if character in _CONSONANT_DIGITS else 0
    return None


def tail_of(stem: str, rest: str) -> Tail:
    """Tell whether what follows a stem in a word is particles, and whether they have the form that fits it."""
    if not rest:
        return Tail.NOTHING
    final = final_of(stem[-1])
    if final is None:
        return Tail.FITTING if _pattern(0).fullmatch(rest) or _pattern(1).fullmatch(rest) else Tail.NO_PARTICLE
    if _pattern(final if final in (0, _RIEUL) else 1).fullmatch(rest):
        return Tail.FITTING
    fits_others = any(_pattern(other).fullmatch(rest) for other in (0, 1))
    return Tail.MISSPELT if fits_others else Tail.NO_PARTICLE


def particle(word: str, after_consonant: str, after_vowel: str) -> str:
    """Return the form of a particle that fits a word; both, as ``은(는)``, where its reading is not known.

    A word that ends in ㄹ takes 로 and not 으로.
    """
    final = final_of(word[-1]) if word else None
    if final is None:
        return f"{after_consonant}({after_vowel})" if after_vowel else f"({after_consonant})"
    if final == _RIEUL and after_consonant == "으로":
        return after_vowel
    return after_consonant if final else after_vowel


@cache
def _pattern(final: int) -> re.Pattern[str]:
    """Return what may follow a stem of a final consonant: the particles that fit, up to three of them."""
    fitting = _AFTER_CONSONANT if final else _AFTER_VOWEL
    direction = _DIRECTION_AFTER_CONSONANT if final not in (0, _RIEUL) else _DIRECTION_AFTER_VOWEL
    first = sorted({*_EITHER.split(), *fitting.split(), *direction.split()}, key=len, reverse=True)
    later = sorted({*_EITHER.split(), *_AFTER_CONSONANT.split(), *_AFTER_VOWEL.split()}, key=len, reverse=True)
    opened = "|".join(f"{ending}.*" for ending in _OPEN_ENDED if final or ending != "이었")
    # The particle after a particle is held by the syllable before it, which the alternatives need not tell apart.
    return re.compile(f"(?:{opened}|(?:{'|'.join(first)})(?:{'|'.join(later)}){{0,2}})")
