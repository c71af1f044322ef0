"""Texts made comparable: one form of characters, sentences, and how much two texts have in common."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

TEXT_F1 = 0.7
"""From here on a free text counts as said. Particles and endings cost a Korean text of ten syllables two or three."""

_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+|\n+")
_NO_LETTER = re.compile(r"[\W_]+")
_HANGUL = re.compile(r"[가-힣]")
_HANGUL_FIRST, _FINALS, _DOUBLE_S = 0xAC00, 28, 20


def normalised(text: str) -> str:
    """Return a text in composed characters with plain quotes and single spaces; lines stay lines."""
    lines = unicodedata.normalize("NFKC", text).translate(_QUOTES).splitlines()
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def key_of(text: str) -> str:
    """Return what two writings of one name have in common: letters and digits, whatever their case."""
    return _NO_LETTER.sub("", normalised(text).casefold())


def sentences_of(text: str) -> tuple[str, ...]:
    """Split a normalised text into sentences."""
    return tuple(sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence and sentence.strip())


def has_hangul(text: str) -> bool:
    """Whether a text has a Hangul syllable."""
    return _HANGUL.search(text) is not None


def has_past_ending(text: str) -> bool:
    """Whether a Korean verb is in the past: a syllable that ends in a double s, but for 있 (be) and 겠 (will)."""
    return any(
        _HANGUL.match(letter) is not None
        and (ord(letter) - _HANGUL_FIRST) % _FINALS == _DOUBLE_S
        and letter not in "있겠"
        for letter in text
    )


def text_f1(value: str, sentence: str) -> float:
    """Return how much of a free text is in the best window of a sentence, in [0, 1].

    F1 over syllables where the text has Hangul, as KorQuAD 1.0 is evaluated (Lim et al., 2019), because Korean words
    carry particles that the text need not; over words elsewhere, as SQuAD is (Rajpurkar et al., 2016). The window is
    as long as the text, so that a long sentence costs nothing and cannot collect a text from its ends.
    """
    wanted, said = _units(value), _units(sentence)
    if not wanted or not said:
        return 0.0
    size = min(len(wanted), len(said))
    return max(_f1(wanted, said[start : start + size]) for start in range(len(said) - size + 1))


def _units(text: str) -> Sequence[str]:
    plain = normalised(text).casefold()
    return _NO_LETTER.sub("", plain) if has_hangul(plain) else _NO_LETTER.sub(" ", plain).split()


def _f1(wanted: Sequence[str], said: Sequence[str]) -> float:
    common = sum((Counter(wanted) & Counter(said)).values())
    return 2 * common / (len(wanted) + len(said))
