"""Whether a clause speaks of what is or of what was."""

import re

from unmask.gate.reading.normal import has_past_ending
from unmask.gate.reading.phrases import KOREAN, Words
from unmask.gate.reading.said import Tense

# "is sealed" and "have lived" are what is now, "sealed" is what was.
_PARTICIPLE = re.compile(r"\b(?:am|is|are|has|have|'m|'s|'re|'ve|be|being)\s+(?:\w+ly\s+)?\w+ed\b", re.IGNORECASE)
_PAST_VERB = re.compile(r"\b\w+ed\b", re.IGNORECASE)
_PRESENT_VERB = re.compile(r"\b(?!Q[ew])[a-z]{2,}s\b|'m\b|'re\b")


def tense_of(clause: str, words: Words) -> Tense:
    """Return the tense of a clause with mentions as tokens."""
    if words.language == KOREAN:
        if words.no_longer.search(clause):
            return Tense.ENDED
        if words.past.search(clause) or has_past_ending(clause):
            return Tense.PAST
        return (
            Tense.PRESENT
            if re.search(r"[가-힣]다(?:[^가-힣]|$)|니다|습니|[가-힣]요(?:[^가-힣]|$)", clause)
            else Tense.UNSAID
        )
    if words.no_longer.search(clause):
        return Tense.ENDED
    if words.present.search(clause) and not re.search(r"\b(?:was|were|had|did)\b", clause, re.IGNORECASE):
        without = _PARTICIPLE.sub("", clause)
        return Tense.PAST if _PAST_VERB.search(without) else Tense.PRESENT
    if words.past.search(clause) or _PAST_VERB.search(clause):
        return Tense.PAST
    return Tense.PRESENT if _PRESENT_VERB.search(clause) or re.search(r"\bI \w+", clause) else Tense.UNSAID
