"""Whether a clause speaks of what is or of what was."""

import re

from unmask.gate.reading.normal import has_past_ending
from unmask.gate.reading.phrases import KOREAN, Words
from unmask.gate.reading.said import Tense

# "is sealed" and "have lived" are what is now, "sealed" is what was.
_PARTICIPLE = re.compile(r"\b(?:am|is|are|has|have|'m|'s|'re|'ve|be|being)\s+(?:\w+ly\s+)?\w+ed\b", re.IGNORECASE)
_PAST_VERB = re.compile(r"\b\w+ed\b", re.IGNORECASE)
_PRESENT_VERB = re.compile(r"\b(?!Q[ew])[a-z]{2,}s\b|'m\b|'re\b")


_PAST_AUXILIARY = re.compile(r"\b(?:was|were|had|did)\b", re.IGNORECASE)
_FIRST_PERSON_VERB = re.compile(r"\bI \w+")
_KOREAN_STATEMENT = re.compile(r"(?:[가-힣]다|니다|습니|[가-힣]요)(?:[^가-힣]|$)")


def tense_of(clause: str, words: Words) -> Tense:
    """Return the tense of a clause with mentions as tokens."""
    if words.no_longer.search(clause):
        return Tense.ENDED
    return _korean(clause, words) if words.language == KOREAN else _english(clause, words)


def _korean(clause: str, words: Words) -> Tense:
    if words.past.search(clause) or has_past_ending(clause):
        return Tense.PAST
    return Tense.PRESENT if _KOREAN_STATEMENT.search(clause) else Tense.UNSAID


def _english(clause: str, words: Words) -> Tense:
    if words.present.search(clause) and not _PAST_AUXILIARY.search(clause):
        return Tense.PAST if _PAST_VERB.search(_PARTICIPLE.sub("", clause)) else Tense.PRESENT
    if words.past.search(clause) or _PAST_VERB.search(clause):
        return Tense.PAST
    is_said = _PRESENT_VERB.search(clause) or _FIRST_PERSON_VERB.search(clause)
    return Tense.PRESENT if is_said else Tense.UNSAID
