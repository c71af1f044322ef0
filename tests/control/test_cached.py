"""Behaviour of `unmask.control.cached`: what is kept, and what the same request does that comes meanwhile."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from unmask.cache.cache import AnswerCache, Found, Match
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, Cap, answered
from unmask.control.asked import CacheUse
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.cached import CachedAnswers, Looked
from unmask.control.check import AnswerCheck
from unmask.control.quality import LEVELS
from unmask.control.search_choice import SearchChoice, SearchSource
from unmask.control.searched import Searched
from unmask.control.verdict import Verdict
from unmask.metrics.cache import CacheInstruments, CacheLabels
from unmask.search.plan import SearchPlan
from unmask.search.running import Limit
from unmask.service import SearchMethod
from unmask.tasks.consistency import SelfConsistency
from unmask.tasks.numeric import Numeric
from unmask.testing.attempts import make_admitted, make_expansion
from unmask.testing.builders import make_generation, make_model
from unmask.testing.caches import make_cache, make_cache_parts, make_question
from unmask.testing.manual_clock import ManualClock
from unmask.testing.routes import LARGE, SMALL
from unmask.testing.waiting import until
from unmask.types import Bucket, Outcome

PLAN = SearchPlan(method=SearchMethod.CANDIDATES, width=8)
LABELS = CacheLabels(matches=("exact", "miss"), hits=(), kept_out=(), gone=(), results=())
CHOICE = SearchChoice(plan=PLAN, source=SearchSource.CLIENT)


def make_asked(level: int = 0, bucket: Bucket | None = None, search: SearchChoice | None = None) -> Admitted:
    """Return a request that may be kept, at a quality level."""
    plain = make_admitted(expansion=None)
    given = replace(plain.assignment, level=level, bucket=bucket)
    search = None if search is None else search.at(LEVELS[level])
    return replace(plain, assignment=given, search=search, question=make_question("고향은 어디인가요?"))


def make_answer(model: str = "", bucket: Bucket | None = None, limit: Limit | None = None) -> Answered:
    """Return an answer that nobody has failed; with a limit, of a search that this kept from going on."""
    generation = make_generation("서울", bucket=bucket)
    attempt = Attempt(reason=AttemptReason.FIRST, generation=generation, budget=None, verdict=Verdict(), model=model)
    searched = Searched(method=PLAN.method, width=PLAN.width, source=SearchSource.CLIENT, limit=limit)
    return replace(answered([attempt]), searched=None if limit is None else searched)


def desk_of(folder: Path, cache: AnswerCache) -> CachedAnswers:
    """Return what keeps answers in a cache."""
    instruments = CacheInstruments(CollectorRegistry(), (SMALL.name,), LABELS, lambda _, __: (0.0, 0.0, 1.0))
    return CachedAnswers(make_cache_parts(folder, cache=cache), instruments, ManualClock(), lambda: 0.0)


def is_kept(folder: Path, admitted: Admitted, answer: Answered) -> bool:
    """Tell whether an answer can be given again."""
    cache = make_cache()
    desk = desk_of(folder, cache)
    desk.keep(admitted, Looked(found=Found(match=Match.MISS)), answer, "request")
    return len(cache.store) == 1


@pytest.mark.parametrize(
    ("level", "search", "kept"), [(0, CHOICE, True), (1, CHOICE, False), (3, None, True), (4, None, False)]
)
def test_what_load_has_taken_from_is_not_kept(
    tmp_path: Path, level: int, search: SearchChoice | None, kept: bool
) -> None:
    """A narrower search and a smaller bucket are; a request without a search has lost nothing up to level 3."""
    assert is_kept(tmp_path, make_asked(level, search=search), make_answer()) is kept


@pytest.mark.parametrize("limit", [Limit.PRESSED, Limit.NARROWED, Limit.DEADLINE])
def test_a_search_that_load_has_cut_is_not_kept(tmp_path: Path, limit: Limit) -> None:
    """Its candidates were dropped; that of a spent total is what the request would have at any time."""
    asked = make_asked(search=CHOICE)

    assert not is_kept(tmp_path, asked, make_answer(limit=limit))
    assert is_kept(tmp_path, asked, make_answer(limit=Limit.MAX_TOTAL_STEPS))


@pytest.mark.parametrize(("had", "kept"), [(Bucket.S, False), (Bucket.M, True), (Bucket.XL, True)])
def test_a_smaller_bucket_is_not_kept_and_a_larger_one_is(tmp_path: Path, had: Bucket, kept: bool) -> None:
    """A further attempt after a failed verification has a larger one."""
    assert is_kept(tmp_path, make_asked(bucket=Bucket.M), make_answer(bucket=had)) is kept


def test_an_escalated_answer_is_held_to_what_its_own_model_was_given(tmp_path: Path) -> None:
    """The large model of a route has other buckets than the small one, and a level of its own."""
    small = replace(make_asked(bucket=Bucket.XL), model=SMALL)
    large = replace(make_asked(bucket=Bucket.S), model=LARGE)
    answer = make_answer(model=LARGE.name, bucket=Bucket.S)

    assert is_kept(tmp_path, replace(small, escalation=large), answer)
    assert not is_kept(tmp_path, replace(small, escalation=replace(large, assignment=make_asked(4).assignment)), answer)


async def test_a_hit_says_which_model_of_a_route_has_answered(tmp_path: Path) -> None:
    """The large one's stays its own, at its own price, though nobody has escalated anything this time."""
    small = replace(make_asked(), model=SMALL, escalation=replace(make_asked(), model=LARGE))
    desk = desk_of(tmp_path, make_cache())
    desk.keep(small, Looked(found=Found(match=Match.MISS)), make_answer(model=LARGE.name), "request")
    async with desk.looking(small) as looked:
        pass

    assert looked is not None
    assert looked.answered is not None
    assert (looked.answered.model, looked.answered.attempts[0].model) == (LARGE.name, LARGE.name)
    assert not small.is_escalated(looked.answered)


NUMBER = AnswerCheck(messages=(), task=None, answer_format=None, verifiers=(Numeric(minimum=100),))


def failing(**changes: Any) -> Admitted:  # noqa: ANN401 - any field
    """Return a request whose answers its verifier fails."""
    return replace(make_asked(), check=NUMBER, **changes)


def failed(*more: Attempt, cap: Cap | None = None) -> Answered:
    """Return an answer that has failed, after other attempts."""
    generation = make_generation("42")
    first = Attempt(reason=AttemptReason.FIRST, generation=generation, budget=None, verdict=NUMBER.verdict("42"))
    return answered((first, *more), cap)


ABORTED = Attempt(reason=AttemptReason.AGAIN, generation=make_generation("", outcome=Outcome.ABORTED), budget=None)


async def test_a_failed_answer_is_given_to_the_same_words_with_its_verdict(tmp_path: Path) -> None:
    """Made anew it would be the same; in other words the question may have an answer that passes."""
    cache = make_cache()
    desk, asked = desk_of(tmp_path, cache), failing()
    meaning = (await cache.find(make_question("고향은 어디인가요?"))).meaning
    assert meaning is not None
    desk.keep(asked, Looked(found=Found(match=Match.MISS, meaning=meaning)), failed(), "request")
    async with desk.looking(asked) as same:
        pass
    async with desk.looking(replace(asked, question=make_question("고향이 어디인가요?"))) as other:
        pass

    assert same is not None
    assert same.answered is not None
    assert same.answered.verdict == NUMBER.verdict("42")
    assert other is not None
    assert other.answered is None


@pytest.mark.parametrize(
    ("admitted", "answer"),
    [
        (failing(model=make_model("tiny", is_deterministic=False)), failed()),
        (failing(consistency=SelfConsistency()), failed()),
        (failing(expansion=make_expansion()), failed()),
        (failing(expansion=make_expansion()), failed(cap=Cap.DEADLINE)),
        (failing(expansion=make_expansion()), failed(ABORTED, cap=Cap.RE_EXPANSIONS)),
        (failing(model=SMALL, escalation=replace(make_asked(), model=LARGE)), failed()),
    ],
    ids=["another server", "samples", "attempts left", "late", "aborted", "not escalated"],
)
def test_a_failed_answer_that_might_be_better_anew_is_not_kept(
    tmp_path: Path, admitted: Admitted, answer: Answered
) -> None:
    """Where it is drawn anew, or lacks an attempt that a calmer machine would have made."""
    assert not is_kept(tmp_path, admitted, answer)


def test_a_failed_answer_after_all_its_attempts_is_kept(tmp_path: Path) -> None:
    """There is nothing else that would be tried."""
    assert is_kept(tmp_path, failing(expansion=make_expansion()), failed(cap=Cap.RE_EXPANSIONS))


async def test_the_same_request_waits_for_one_that_is_at_work(tmp_path: Path) -> None:
    """Then its answer is there; who does not wait, or has nothing to wait for, looks at once."""
    desk, asked = desk_of(tmp_path, make_cache()), make_asked()
    waits: list[str] = []

    @contextmanager
    def elsewhere() -> Iterator[None]:
        waits.append("begun")
        yield
        waits.append("ended")

    async def ask(admitted: Admitted, **changes: Any) -> Match | None:  # noqa: ANN401 - whether it waits
        async with desk.looking(admitted, **changes) as looked:
            return None if looked is None else looked.found.match

    async with desk.looking(asked, elsewhere) as first:
        assert first is not None
        later = asyncio.ensure_future(ask(asked, elsewhere=elsewhere))
        await until(lambda: waits == ["begun"])
        unwilling = [asked, replace(asked, cache_use=CacheUse(may_read=False))]
        assert await ask(unwilling[0]) is Match.MISS
        assert await ask(unwilling[1], elsewhere=elsewhere) is Match.MISS
        assert await ask(replace(asked, cache_use=CacheUse(max_age_s=0)), elsewhere=elsewhere) is Match.MISS
        assert await ask(replace(asked, question=make_question("누구?")), elsewhere=elsewhere) is Match.MISS
        desk.keep(asked, first, make_answer(), "request")
    assert await later is Match.EXACT
    assert waits == ["begun", "ended"]


@pytest.mark.parametrize(
    "asked", [make_asked(4), replace(make_asked(), cache_use=CacheUse(may_store=False))], ids=["less", "no-store"]
)
async def test_nobody_waits_for_what_will_not_be_kept(tmp_path: Path, asked: Admitted) -> None:
    """Load has taken from it, or its client keeps it to itself."""
    desk = desk_of(tmp_path, make_cache())
    async with desk.looking(asked, nullcontext), desk.looking(make_asked(), nullcontext) as looked:
        assert looked is not None
        assert looked.answered is None
