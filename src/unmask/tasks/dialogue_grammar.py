"""Writes answers from claims and reads answers back into claims.

A claim is a string, so that it fits ``Item.accepted``:

* ``first|home|Miven``: the speaker's own fact;
* ``third|Dorasen|home|Velka``: somebody else's fact;
* ``absent|home``: the speaker's card says nothing of it;
* ``deny|Tulven``: that value is wrong;
* ``correct|Tulven|home|Miven``: a denial and a first-person fact, two sentences.
"""

import re
from dataclasses import dataclass
from functools import cache
from random import Random

from unmask.tasks.dialogue_phrases import ADMISSIONS, DENIALS, FIRST_PERSON, MANNERS, SLOT_NOUNS, THIRD_PERSON

MAX_SENTENCES = 4
MAX_COST = 55
MAX_TEXT = 4000
# A phrasing has one at most, and one more joins two: a text with more is no answer, and slow to try.
MAX_JOINTS = 3
NAME_COST = 3
OPENING_SHARE = 0.5
_TRIES = 6
_SHORT_PHRASINGS = 3
SENTENCE_END = re.compile(r"(?<=[.!?]) ")
_JOINT = ", and "
_WORD = r"[\w'-]+"
# Else "They made me a keeper" could speak of somebody called "me", and "I was born" of an "I".
_SUBJECT = rf"(?![a-z]|I\b){_WORD}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An answer read by the grammar: the claims each sentence may make, or the first problem met."""

    claims: tuple[frozenset[str], ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Template:
    phrase: str
    pattern: re.Pattern[str]
    head: str
    # The longest part without a slot: looking for it first is ten times as fast as trying every pattern.
    literal: str

    def claim(self, found: re.Match[str]) -> str:
        """Return the claim of a match."""
        groups = found.groupdict()
        match self.head.split("|"):
            case ["third", slot]:
                return f"third|{groups['s']}|{slot}|{groups['v']}"
            case ["absent"]:
                return f"absent|{_slot_of_noun()[groups['n']]}"
            case ["deny"]:
                return f"deny|{groups['w']}"
            case _:
                return f"{self.head}|{groups['v']}"

    @property
    def keeps_capital(self) -> bool:
        """Tell whether the first letter stays a capital inside a sentence."""
        return self.phrase.startswith(("I ", "{"))


@cache
def _slot_of_noun() -> dict[str, str]:
    return {noun: slot for slot, nouns in SLOT_NOUNS.items() for noun in nouns}


def _template(phrase: str, head: str) -> _Template:
    pattern = re.escape(phrase)
    nouns = "|".join(_slot_of_noun())
    for key, expression in (("v", _WORD), ("s", _SUBJECT), ("w", _WORD), ("n", nouns)):
        pattern = pattern.replace(re.escape(f"{{{key}}}"), f"(?P<{key}>{expression})")
    literal = max(re.split(r"\{.\}", phrase), key=len)
    return _Template(phrase=phrase, pattern=re.compile(pattern), head=head, literal=literal)


@cache
def _templates() -> tuple[_Template, ...]:
    first = [_template(phrase, f"first|{slot}") for slot, pool in FIRST_PERSON.items() for phrase in pool]
    third = [_template(phrase, f"third|{slot}") for slot, pool in THIRD_PERSON.items() for phrase in pool]
    denials = [_template(phrase, "deny") for phrase in DENIALS]
    admissions = [_template(phrase, "absent") for phrase in ADMISSIONS]
    return (*first, *third, *denials, *admissions)


def expand(claims: tuple[str, ...]) -> tuple[str, ...]:
    """Split every correction into its denial and its fact."""
    expanded: list[str] = []
    for claim in claims:
        match claim.split("|"):
            case ["correct", wrong, slot, value]:
                expanded += [f"deny|{wrong}", f"first|{slot}|{value}"]
            case _:
                expanded.append(claim)
    return tuple(expanded)


def write_claim(rng: Random, claim: str, *, short: bool = False) -> str:
    """Write one expanded claim in a phrasing drawn uniformly, or from the shortest few."""
    match claim.split("|"):
        case ["first", slot, value]:
            return _pick(rng, FIRST_PERSON[slot], short=short).format(v=value)
        case ["third", subject, slot, value]:
            return _pick(rng, THIRD_PERSON[slot], short=short).format(s=subject, v=value)
        case ["deny", wrong]:
            return _pick(rng, DENIALS, short=short).format(w=wrong)
        case ["absent", slot]:
            return _pick(rng, ADMISSIONS, short=short).format(n=rng.choice(SLOT_NOUNS[slot]))
        case _:
            message = f"unknown claim {claim!r}"
            raise ValueError(message)


def _pick(rng: Random, pool: tuple[str, ...], *, short: bool) -> str:
    return rng.choice(sorted(pool, key=len)[:_SHORT_PHRASINGS] if short else pool)


def write_answer(rng: Random, persona: str, claims: tuple[str, ...], *, closing: bool) -> str:
    """Write an answer that states ``claims`` in order and stays under the length limit.

    Long draws are drawn again; after a few the shortest phrasings are used, so
    that the closing's share does not depend on how many facts are asked.
    """
    manner = MANNERS[persona]
    expanded = expand(claims)
    for attempt in range(_TRIES + 1):
        sentences = [write_claim(rng, claim, short=attempt == _TRIES) for claim in expanded]
        while len(sentences) > MAX_SENTENCES:
            sentences[-2:] = [_join(sentences[-2], sentences[-1], expanded)]
        if rng.random() < OPENING_SHARE:
            sentences.insert(0, rng.choice(manner.openings))
        if closing:
            sentences.append(rng.choice(manner.closings))
        text = " ".join(sentences)
        if cost(text, expanded) <= MAX_COST:
            break
    return text


def _join(first: str, second: str, claims: tuple[str, ...]) -> str:
    """Make one sentence of two; names and ``I`` keep their capital."""
    head = second.split(" ", 1)[0]
    stays = head == "I" or any(head in claim.split("|") for claim in claims)
    return first[:-1] + _JOINT + (second if stays else second[0].lower() + second[1:])


def cost(text: str, claims: tuple[str, ...]) -> int:
    """Estimate an answer's length: a word is one, a name three."""
    names = {part for claim in claims for part in claim.split("|") if part[:1].isupper()}
    return sum(NAME_COST if word.strip(".,!?") in names else 1 for word in text.split())


def read_answer(text: str, persona: str) -> Reading:
    """Read ``[opening] content [closing]`` in the manner of ``persona``."""
    if len(text) > MAX_TEXT:
        return Reading(problem="the text is too long")
    body = _strip_manner(" ".join(text.split()), persona)
    claims: list[frozenset[str]] = []
    for sentence in SENTENCE_END.split(body) if body else ():
        read = read_sentence(sentence)
        if not read:
            return Reading(problem=_problem_of(sentence, persona))
        claims += read
    return Reading(claims=tuple(claims)) if claims else Reading(problem="no content sentence")


def _strip_manner(text: str, persona: str) -> str:
    """Remove one whole opening and one whole closing, where they are."""
    if persona not in MANNERS:
        return text
    for opening in MANNERS[persona].openings:
        if text.startswith(opening + " "):
            text = text[len(opening) + 1 :]
            break
    for closing in MANNERS[persona].closings:
        if text.endswith(" " + closing):
            return text[: -len(closing) - 1]
    return text


def read_sentence(sentence: str) -> list[frozenset[str]]:
    """Return the claims of a sentence, two sets for two joined facts, none for a broken one."""
    whole = frozenset(claim for claim, _ in _matches(sentence))
    if whole:
        return [whole]
    joints = list(re.finditer(_JOINT, sentence))
    for joint in joints if len(joints) <= MAX_JOINTS else ():
        right = sentence[joint.end() :]
        second = frozenset(
            claim
            for claim, keeps in _matches(right[:1].upper() + right[1:])
            if keeps == right[:1].isupper() and _is_fact(claim)
        )
        first = frozenset(claim for claim, _ in _matches(sentence[: joint.start()] + ".") if _is_fact(claim))
        if first and second:
            return [first, second]
    return []


def _is_fact(claim: str) -> bool:
    return claim.startswith(("first|", "third|"))


def _matches(sentence: str) -> list[tuple[str, bool]]:
    """Return each claim the sentence may make, and whether its phrasing keeps its capital when joined."""
    likely = (template for template in _templates() if template.literal in sentence)
    found = ((template, template.pattern.fullmatch(sentence)) for template in likely)
    return [(template.claim(match), template.keeps_capital) for template, match in found if match is not None]


def _problem_of(sentence: str, persona: str) -> str:
    for other, manner in MANNERS.items():
        if any(sentence in phrase for phrase in (*manner.openings, *manner.closings)):
            place = "out of place" if other == persona else "of another persona"
            return f"manner {place}: {sentence!r}"
    return f"broken or unknown sentence: {sentence!r}"
