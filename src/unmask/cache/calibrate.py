"""How alike questions have to be: by generated pairs that ask the same and pairs that do not."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

import numpy as np

from unmask.cache.guard import difference, tokens_of
from unmask.cards import parse_facts
from unmask.knowledge.common_phrases import COMMON
from unmask.knowledge.embedding import Embedder, Vectors
from unmask.knowledge.korean import particle
from unmask.stats import IntervalResult, wilson
from unmask.tasks.dialogue_phrases import QUESTION_FRAMES, SLOT_NOUNS
from unmask.tasks.item import Split
from unmask.tasks.lookup import PHRASINGS, RELATIONS, Lookup
from unmask.tasks.names import draw_names
from unmask.tasks.phrasing import draw_phrasing

KEPT = 0.025
"""Share of pairs that ask the same, and that the guard lets through, which the threshold gives up."""
_KOREAN_FRAMES = (
    "은|는| 무엇인가요?",
    "이|가| 뭐야?",
    "을|를| 알려줘.",
    "을|를| 말해 주세요.",
    "이|가| 무엇인지 알려 주세요.",
    "은|는| 뭐예요?",
    "을|를| 가르쳐 주세요.",
    "이|가| 뭔지 말해 줘.",
)
"""Both forms of the particle of what is asked for, and what follows; the last quarter is for the test split."""
_KOREAN_NAMES = ("하은", "도윤", "서준", "지아", "민서", "가람", "아란", "유진", "은솔", "태오", "나래", "보름")


class Origin(StrEnum):
    """Where a pair is from."""

    DIALOGUE = "dialogue"
    LOOKUP = "lookup"
    KOREAN = "korean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two last messages of otherwise equal requests, and whether one answer serves both."""

    origin: Origin
    one: str
    other: str
    is_same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What one way of telling makes of pairs.

    Attributes:
        found: share of pairs that ask the same and are taken so.
        false: share of pairs that do not ask the same and are taken so.
    """

    found: IntervalResult
    false: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a threshold is worth on pairs that it was not chosen on: vectors alone, and with the guard behind them."""

    origin: Origin
    pairs: int
    vectors: Arm
    guarded: Arm


def draw_pairs(rng: Random, split: Split, origin: Origin, count: int) -> tuple[Pair, ...]:
    """Draw pairs, in equal parts of those that ask the same and of those that do not.

    Phrasings of the last quarter are seen in the test split only, and names are those of the split.
    """
    drawn = {Origin.DIALOGUE: _dialogue, Origin.LOOKUP: _lookup, Origin.KOREAN: _korean}[origin]
    return tuple(_pair(origin, drawn(rng, split), is_same=bool(number % 2)) for number in range(count))


def calibrate(pairs: Sequence[Pair], embedder: Embedder) -> float | None:
    """Return the cosine that pairs have to reach; nothing where the guard lets none through that ask the same.

    The guard decides. What the threshold is for are questions that the guard's rules were never tried on: it asks for
    as much likeness as nearly all pairs had that it has let through.
    """
    passed = [pair for pair in pairs if pair.is_same and _passes(pair)]
    if not passed:
        return None
    return math.floor(float(np.quantile(_cosines(passed, embedder), KEPT)) * 1_000) / 1_000


def measure(pairs: Sequence[Pair], embedder: Embedder, least: float) -> Figures:
    """Return what a threshold is worth on pairs of one origin."""
    cosines = _cosines(pairs, embedder)
    alike = [bool(cosine >= least) for cosine in cosines]
    guarded = [taken and _passes(pair) for taken, pair in zip(alike, pairs, strict=True)]
    return Figures(origin=pairs[0].origin, pairs=len(pairs), vectors=_arm(pairs, alike), guarded=_arm(pairs, guarded))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """A way of asking one question anew, and of asking another one that is close to it."""

    same: Callable[[], str]
    close: Callable[[], str]


def _pair(origin: Origin, drawn: _Drawn, *, is_same: bool) -> Pair:
    one = drawn.same()
    tries: Iterator[str] = iter(drawn.same if is_same else drawn.close, "")
    # The same words again are no matter of likeness.
    return Pair(origin=origin, one=one, other=next(text for text in tries if text != one), is_same=is_same)


def _dialogue(rng: Random, split: Split) -> _Drawn:
    name, stranger = draw_names(rng, split, 2)
    asked, other = (rng.choice(nouns) for nouns in rng.sample(list(SLOT_NOUNS.values()), 2))
    ways = (
        (f"your {asked}", (f"your {other}", f"the {asked} of {name}")),
        (f"the {asked} of {name}", (f"the {asked} of {stranger}", f"the {other} of {name}")),
        (f"the {asked} of your {other}", (f"the {other} of your {asked}", f"your {asked}")),
        (f"your {asked} and your {other}", (f"your {asked} or your {other}", f"your {asked}")),
    )
    wanted, close = rng.choice(ways)

    def written(wanted: str) -> str:
        return draw_phrasing(rng, split, QUESTION_FRAMES).format(x=wanted)

    return _Drawn(same=lambda: written(wanted), close=lambda: written(rng.choice(close)))


def _lookup(rng: Random, split: Split) -> _Drawn:
    facts = Lookup().generate(rng, split).messages[-1].content.rsplit("\n", 1)[0]
    known = parse_facts(facts)
    name, stranger = rng.choice(known).subject, draw_names(rng, split, 1)[0]
    first, second, third = rng.sample(RELATIONS, 3)

    def written(facts: str, name: str, *path: str) -> str:
        question = draw_phrasing(rng, split, PHRASINGS).format(name=name, path=" then ".join(path))
        return f"{facts}\n{question}"

    close = (
        lambda: written(facts, name, second, first),
        lambda: written(facts, name, first, third),
        lambda: written(facts, stranger, first, second),
        lambda: written(facts.replace(rng.choice(known).value, stranger), name, first, second),
    )
    return _Drawn(same=lambda: written(facts, name, first, second), close=rng.choice(close))


def _korean(rng: Random, split: Split) -> _Drawn:
    name, stranger = rng.sample(_KOREAN_NAMES, 2)
    nouns = [word for words in COMMON.values() for word in words if not word.isascii() and " " not in word]
    asked, other = rng.sample([noun for noun in nouns if not noun.endswith(("섬기", "봉인", "가르", "가진"))], 2)

    def written(name: str, noun: str) -> str:
        after_consonant, after_vowel, rest = draw_phrasing(rng, split, _KOREAN_FRAMES).split("|")
        return f"{name}의 {noun}{particle(noun, after_consonant, after_vowel)}{rest}"

    close = (lambda: written(stranger, asked), lambda: written(name, other))
    return _Drawn(same=lambda: written(name, asked), close=rng.choice(close))


def _cosines(pairs: Sequence[Pair], embedder: Embedder) -> Vectors:
    one = embedder.embed([pair.one for pair in pairs])
    other = embedder.embed([pair.other for pair in pairs])
    cosines: Vectors = np.einsum("pd,pd->p", one, other)
    return cosines


def _passes(pair: Pair) -> bool:
    return difference(tokens_of(pair.one), tokens_of(pair.other)) is None


def _arm(pairs: Sequence[Pair], taken: Sequence[bool]) -> Arm:
    both = list(zip(pairs, taken, strict=True))
    same = [is_taken for pair, is_taken in both if pair.is_same]
    different = [is_taken for pair, is_taken in both if not pair.is_same]
    return Arm(found=wilson(sum(same), len(same)), false=wilson(sum(different), len(different)))
