"""Behaviour of `unmask.cache.cache`: what is found, and under which scope."""

from dataclasses import replace

import pytest

from tests.cache.test_guard import HARD, SAME
from unmask.cache.cache import AnswerCache, Match
from unmask.cache.embedding import LONGEST_COMPARED, OfflineEmbeddings
from unmask.cache.entry import Question
from unmask.testing.builders import make_generation
from unmask.testing.caches import NgramEmbeddings, make_cache, make_question
from unmask.testing.manual_clock import ManualClock
from unmask.types import Verification


async def put(cache: AnswerCache, question: Question, text: str = "42") -> None:
    """Keep an answer as a server does: after a look that missed."""
    found = await cache.find(question)
    cache.put(question, make_generation(text), Verification.PASS, found.meaning)


async def test_the_same_question_is_found() -> None:
    """With its age, and a similarity of 1."""
    clock = ManualClock()
    cache = make_cache(clock)
    await put(cache, make_question())
    clock.advance(3.0)
    found = await cache.find(make_question())

    assert (found.match, found.similarity, found.age_s) == (Match.EXACT, 1.0, 3.0)


@pytest.mark.parametrize(("one", "other"), [pair for pair in SAME if pair[0] != pair[1]])
async def test_a_question_that_asks_the_same_is_found(one: str, other: str) -> None:
    """By other words, in English and Korean."""
    cache = make_cache(embeddings=NgramEmbeddings(0.0))
    await put(cache, make_question(one))
    found = await cache.find(make_question(other))

    assert found.match is Match.SEMANTIC
    assert found.similarity is not None
    assert 0.0 <= found.similarity <= 1.0


async def test_no_hard_pair_shares_an_answer() -> None:
    """Not even where every vector counts as alike."""
    for one, other, _ in HARD:
        cache = make_cache(embeddings=NgramEmbeddings(-1.0))
        await put(cache, make_question(one))
        found = await cache.find(make_question(other))
        assert found.match is Match.MISS, (one, other)
        assert found.kept_out is not None


@pytest.mark.parametrize(
    "scope",
    [{"tenant": "zeta"}, {"digest": "other system prompt, turns, format or steps"}],
    ids=lambda one: next(iter(one)),
)
@pytest.mark.parametrize("asked", ["What is your home?", "Tell me your home."])
async def test_nothing_is_shared_with_another_scope(scope: dict[str, str], asked: str) -> None:
    """Neither the same words nor others; within the scope both are found."""
    cache = make_cache()
    await put(cache, make_question(tenant="acme"))

    assert (await cache.find(make_question(asked, **({"tenant": "acme"} | scope)))).match is Match.MISS
    assert (await cache.find(make_question(asked, tenant="acme"))).match is not Match.MISS


async def test_a_higher_threshold_finds_no_more() -> None:
    """What is found at a cosine is found at every lower one, and its similarity says up to which."""
    answers = []
    for least in (0.0, 0.2, 0.4, 0.6, 0.8, 0.999):
        cache = make_cache(embeddings=NgramEmbeddings(least))
        await put(cache, make_question("What is the home of Kaloren?"))
        found = await cache.find(make_question("Please tell me the home of Kaloren."))
        assert (found.match is Match.SEMANTIC) == (found.similarity is not None)
        assert found.similarity is None or found.similarity >= least
        answers.append(found.match is Match.SEMANTIC)

    assert answers == sorted(answers, reverse=True)
    assert answers[0]
    assert not answers[-1]


async def test_distinct_questions_never_share_an_answer() -> None:
    """A hundred of one form, each in turn looked up and kept."""
    cache = make_cache(embeddings=NgramEmbeddings(0.0))
    for number in range(100):
        question = make_question(f"What is the home of Kal{number}oren and of number {number}?")
        assert (await cache.find(question)).match is Match.MISS
        await put(cache, question)


async def test_a_client_may_ask_for_a_young_answer() -> None:
    """An older one is as good as none, for either kind of match."""
    clock = ManualClock()
    cache = make_cache(clock)
    await put(cache, make_question())
    clock.advance(5.0)

    for text in ("What is your home?", "Tell me your home."):
        assert (await cache.find(make_question(text), max_age_s=4.0)).match is Match.MISS
        assert (await cache.find(make_question(text), max_age_s=5.0)).match is not Match.MISS


async def test_a_long_question_is_found_by_its_very_words_only() -> None:
    """It is compared with no other one, which would take time on the event loop."""
    cache = make_cache(embeddings=OfflineEmbeddings())
    long = make_question("하" * (LONGEST_COMPARED + 1))
    await put(cache, long)

    assert (await cache.find(long)).match is Match.EXACT
    assert (await cache.find(replace(long, text=f"좀 {long.text}"))).match is Match.MISS
