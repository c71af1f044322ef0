"""Behaviour of `unmask.control.cached`: what load has taken from is not kept for calmer times."""

from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from unmask.cache.cache import AnswerCache, Found, Match
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, answered
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.cached import CachedAnswers, Looked
from unmask.control.quality import LEVELS
from unmask.control.search_choice import SearchChoice, SearchSource
from unmask.control.searched import Searched
from unmask.control.verdict import Verdict
from unmask.metrics.cache import CacheInstruments, CacheLabels
from unmask.search.plan import SearchPlan
from unmask.search.running import Limit
from unmask.service import SearchMethod
from unmask.testing.attempts import make_admitted
from unmask.testing.builders import make_generation
from unmask.testing.caches import make_cache, make_cache_parts, make_question
from unmask.testing.manual_clock import ManualClock
from unmask.testing.routes import LARGE, SMALL
from unmask.types import Bucket

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
    looked = await desk.look(small)

    assert looked is not None
    assert looked.answered is not None
    assert (looked.answered.model, looked.answered.attempts[0].model) == (LARGE.name, LARGE.name)
    assert not small.is_escalated(looked.answered)
