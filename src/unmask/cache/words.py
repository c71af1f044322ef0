"""What may differ between two texts that ask the same: ways of asking for a value, articles, politeness."""

import re
from collections.abc import Mapping
from types import MappingProxyType


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a list that is written as a text."""
    return tuple(text.split())


CONTRACTIONS = (
    (re.compile(r"\b(wo)n[’']t\b", re.IGNORECASE), "will not"),
    (re.compile(r"\b(ca)n[’']t\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"n[’']t\b", re.IGNORECASE), " not"),
    (re.compile(r"\b(what|who|where|when|how|it|that|there)[’']s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"[’']re\b", re.IGNORECASE), " are"),
    (re.compile(r"[’']m\b", re.IGNORECASE), " am"),
)
"""Contractions and what they stand for; of ``'s`` only those that are no possessive."""

SOFT = frozenset(words_of("a an the please kindly 좀 제발"))
"""Words that are passed over wherever they stand. Everything else counts, in its order."""

_ASK = r"(?:tell me|let me know|give me|name|say|speak of)"
_POLITE = r"(?:please |kindly )"
FRAME = re.compile(
    rf"(?:and |now |then )?{_POLITE}?(?:"
    rf"(?:can|could|would|will) you {_POLITE}?{_ASK}(?: what (?:is|are))?"
    rf"|{_ASK}(?: what (?:is|are))?"
    r"|what (?:is|are)"
    r"|i (?:want|need|would like) to know(?: what (?:is|are))?"
    r"|do you (?:know what (?:is|are)|remember|recall)"
    r"|i ask you about"
    r")(?= )(?! (?:of|about)\b)",
    re.IGNORECASE,
)
"""How an English sentence begins that asks for a value: what follows is what is asked for.

Whoever *describes*, *explains* or *tells about* something gives another answer, so these are no such beginnings, and
neither is *do you know*, which may want a yes.
"""

_KOREAN_ASK = r"무엇(?:인가요|입니까|이에요|이니|이야|인지|인가)|뭐(?:예요|에요|야|니|지)|뭔가요|뭔지|뭡니까"
_KOREAN_TELL = r"(?:알려|말해|가르쳐) ?(?:주세요|주십시오|주시겠어요|줄래요|줄래|줘요|줘|주겠니)"
KOREAN_FRAME = re.compile(rf"(?: (?P<ask>{_KOREAN_ASK})(?: {_KOREAN_TELL})?| {_KOREAN_TELL})$")
"""The same for Korean, where it stands at the end, behind the particle of what is asked for."""
FRAME_PARTICLES = ("은", "는", "을", "를")
SUBJECT_PARTICLES = ("이", "가")
"""Of what is asked for too, but only where it is asked what that is."""

ASKING = re.compile(
    r"\s*(?:who|whom|whose|what|which|where|when|why|how|is|are|am|was|were|do|does|did|has|have|had|can|could|will|"
    r"would|shall|should|may|might|must)\b"
    r"|누구|누가|무엇|무슨|뭐|뭘|어디|언제|왜|어느|어떤|어떻게|얼마|몇",
    re.IGNORECASE,
)
"""Words by which a sentence is a question with or without its mark: at its beginning, in Korean anywhere."""

_UNITS = words_of(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = words_of("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBERS: Mapping[str, str] = MappingProxyType(
    {word: str(value) for value, word in enumerate(_UNITS)}
    | {word: str(value) for value, word in zip(range(20, 100, 10), _TENS, strict=True)}
)
"""English numerals of one word. Longer ones are words like any other, and so are those of other languages."""

NEGATIONS = frozenset(
    words_of(
        "not no never none nobody nothing nowhere neither nor without hardly except unless "
        "안 못 아니 아닌 아니라 없이 말고 제외하고"
    )
)
NEGATIVE_STEMS = ("않", "없", "아니", "아닙", "아닌", "못하", "말고", "지마")
"""Beginnings and parts of Korean words that say no."""
