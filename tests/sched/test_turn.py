"""How classes and tenants share ticks."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sched.test_batcher import SETTINGS, Ticking, denoising, prompt_of
from unmask.plan import Plan
from unmask.sched.settings import PageReserve, SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.service import ClassTerms
from unmask.testing.submissions import make_submission
from unmask.types import Outcome

INTERACTIVE = ClassTerms(name="interactive", weight=8.0, is_interactive=True)
BATCH = ClassTerms(name="batch", weight=1.0)
ROOMY = replace(SETTINGS, pages=4_000, max_rows=4)
CANVAS = 8
KEPT = PageReserve(service_class="interactive", share=0.25)


def long_request(terms: ClassTerms, tenant: str = "", steps: int = 1_000) -> Submission:
    """Return a request that takes a step of one canvas for long."""
    return make_submission(terms=terms, tenant=tenant, max_steps=steps)


def taken(ticking: Ticking, ticks: int) -> dict[tuple[str, str], int]:
    """Tick; return the row tokens that each class and tenant got."""
    tokens: dict[tuple[str, str], int] = {}
    for _ in range(ticks):
        by_id = dict(ticking.batcher.running)
        plan = ticking.tick()
        by_id |= ticking.batcher.running
        for row in plan.rows:
            submission = by_id[row.sequence].submission
            key = submission.terms.name, submission.tenant
            tokens[key] = tokens.get(key, 0) + row.tokens
    return tokens


def flooded(settings: SchedSettings = ROOMY, *, terms: ClassTerms = BATCH) -> Ticking:
    """Return a batcher whose every row is taken by a batch flood."""
    ticking = Ticking(settings)
    for _ in range(40):
        ticking.add(long_request(terms))
    ticking.tick()
    return ticking


def test_interactive_work_has_a_row_in_the_next_tick_whatever_runs() -> None:
    """A flood's row pauses for it; nothing that runs is dropped, and all of it goes on afterwards."""
    ticking = flooded()
    running = dict(ticking.batcher.running)
    urgent = ticking.add(long_request(INTERACTIVE, steps=3))
    plans = [denoising(ticking.tick()) for _ in range(3)]

    assert all(urgent.id in plan and len(plan) == ROOMY.max_rows for plan in plans)
    assert urgent.outcome is Outcome.COMPLETED
    assert running.items() <= ticking.batcher.running.items()
    assert sorted(denoising(ticking.tick())) == sorted(running)


def test_ticks_are_smaller_for_others_while_interactive_work_is_there() -> None:
    """Batch rows join up to the smaller limit, interactive ones up to the larger; without any it holds for nobody."""
    ticking = flooded(replace(ROOMY, tick_tokens=4 * CANVAS, fast_tick_tokens=2 * CANVAS))
    for _ in range(3):
        # Prompts take room as well; here all of the flood's are done.
        ticking.tick()
    ticking.add(long_request(INTERACTIVE, steps=5))
    beside = [len(ticking.tick().rows) for _ in range(5)]
    ticking.tick()
    alone = len(ticking.tick().rows)
    for _ in range(3):
        ticking.add(long_request(INTERACTIVE))
    ticking.tick()

    assert set(beside[1:]) == {2}
    assert alone == 4
    assert len(ticking.tick().rows) == 3


def test_a_minimum_share_is_kept_under_a_flood_and_lent_when_idle() -> None:
    """With the weights all against it a class gets its share of tokens; when it has nothing to do others get all."""
    small = ClassTerms(name="small", weight=0.01, min_share=0.25)
    ticking = Ticking(ROOMY)
    for _ in range(20):
        ticking.add(long_request(ClassTerms(name="large", weight=100.0)))
    alone = taken(ticking, 20)
    for _ in range(20):
        ticking.add(long_request(small))
    shared = taken(ticking, 200)

    assert alone.keys() == {("large", "")}
    assert shared["small", ""] / sum(shared.values()) == pytest.approx(0.25, abs=0.02)


def test_a_share_that_was_lent_returns_at_the_next_tick() -> None:
    """The first tick after its request has arrived holds a row of the class."""
    ticking = flooded(terms=ClassTerms(name="large", weight=100.0))
    back = ticking.add(long_request(ClassTerms(name="small", weight=0.01, min_share=0.25)))

    assert back.id in denoising(ticking.tick()) + denoising(ticking.tick()) + denoising(ticking.tick())


def test_a_cap_is_a_ceiling_whether_or_not_anybody_else_wants_the_rest() -> None:
    """A class of half the machine runs half the rows, with the others free."""
    ticking = flooded(terms=ClassTerms(name="batch", max_share=0.5))

    assert [len(ticking.tick().rows) for _ in range(5)] == [2] * 5


def test_classes_share_by_weight() -> None:
    """Three to one, where both have more to do than there is room for."""
    ticking = Ticking(replace(ROOMY, tick_tokens=4 * CANVAS))
    for _ in range(20):
        ticking.add(long_request(ClassTerms(name="three", weight=3.0)))
        ticking.add(long_request(ClassTerms(name="one", weight=1.0)))
    ticking.tick()
    tokens = taken(ticking, 200)

    assert tokens["three", ""] / tokens["one", ""] == pytest.approx(3.0, rel=0.05)


def test_two_tenants_of_one_class_share_alike_though_one_floods() -> None:
    """What counts is what each has had, not how much it asks for."""
    ticking = Ticking(ROOMY)
    for number in range(400):
        ticking.add(long_request(BATCH, "flood", steps=4))
        if number % 5 == 0:
            ticking.add(long_request(BATCH, "other", steps=4))
    tokens = taken(ticking, 120)

    assert tokens["batch", "flood"] / tokens["batch", "other"] == pytest.approx(1.0, abs=0.1)


def test_a_prompt_too_long_for_the_tick_goes_first_in_a_later_one() -> None:
    """A row larger than the whole limit runs alone rather than never."""
    ticking = Ticking(replace(ROOMY, tick_tokens=2 * CANVAS, prefill_tokens=64))
    for _ in range(2):
        ticking.add(long_request(BATCH))
    ticking.tick()
    long = ticking.add(make_submission(prompt_of(60), terms=BATCH, tenant="new", max_steps=1))
    while long.outcome is None:
        ticking.tick()

    assert long.finished is not None
    assert long.finished < 20


def test_pages_are_kept_for_a_class() -> None:
    """A flood leaves a reserve alone; whoever it is kept for starts at once, and a request behind it does not."""
    settings = replace(SETTINGS, pages=16, max_rows=16, page_reserves=(KEPT,))
    ticking = Ticking(settings)
    for _ in range(20):
        ticking.add(make_submission(prompt_of(8), terms=BATCH, max_steps=50))
    ticking.tick()
    before = ticking.batcher.pool.used
    urgent = ticking.add(make_submission(prompt_of(8), terms=INTERACTIVE))
    ticking.tick()

    assert before == 12
    assert urgent.started is not None


def test_who_waits_for_pages_is_not_overtaken_for_ever() -> None:
    """A large request gets its pages though small ones of another class keep arriving."""
    ticking = Ticking(replace(SETTINGS, pages=8, max_rows=8))
    for _ in range(4):
        ticking.add(make_submission(prompt_of(8), terms=INTERACTIVE, max_steps=3))
    ticking.tick()
    large = ticking.add(make_submission(prompt_of(48), terms=BATCH, max_steps=1))
    for _ in range(400):
        ticking.add(make_submission(prompt_of(8), terms=INTERACTIVE, max_steps=3))
        ticking.tick()
        if large.started is not None:
            break

    assert large.started is not None


CLASSES = (
    ClassTerms(),
    ClassTerms(name="interactive", weight=8.0, is_interactive=True),
    ClassTerms(name="batch", weight=0.1, min_share=0.2),
    ClassTerms(name="capped", weight=5.0, max_share=0.3),
)


@st.composite
def floods(draw: st.DrawFn) -> tuple[list[tuple[int, Submission]], Ticking]:
    """Draw requests of all classes, tenants and sizes, the ticks at which they arrive, and a scheduler."""
    settings = replace(
        SETTINGS,
        pages=draw(st.sampled_from((12, 40, 400))),
        max_rows=draw(st.integers(1, 5)),
        prefill_tokens=draw(st.sampled_from((8, 16, 64))),
        tick_tokens=draw(st.none() | st.integers(1, 60)),
        fast_tick_tokens=draw(st.none() | st.integers(1, 30)),
        page_reserves=draw(st.sampled_from(((), (KEPT,)))),
    )
    arrivals = draw(
        st.lists(
            st.tuples(
                st.integers(0, 12),
                st.builds(
                    lambda terms, tenant, length, steps: make_submission(
                        prompt_of(length), terms=terms, tenant=tenant, max_steps=steps
                    ),
                    st.sampled_from(CLASSES),
                    st.sampled_from("ab"),
                    st.integers(1, 50),
                    st.integers(1, 6),
                ),
            ),
            min_size=1,
            max_size=14,
        )
    )
    return arrivals, Ticking(settings)


@given(floods())
def test_nothing_is_dropped_and_everything_ends(case: tuple[list[tuple[int, Submission]], Ticking]) -> None:
    """Whatever the classes and limits: a tick with work has a row, none has too many, and all complete."""
    arrivals, ticking = case
    settings = ticking.batcher.settings
    last = max(tick for tick, _ in arrivals)
    sequences: list[Sequence] = []
    for tick in range(3_000):
        for when, submission in arrivals:
            if when == tick:
                sequences.append(ticking.add(submission))
        if ticking.batcher.is_idle and tick > last:
            break
        before = set(ticking.batcher.running)
        plan = ticking.tick()
        _check(plan, ticking)
        kept = before - set(ticking.batcher.running)
        assert kept <= {one.id for one in ticking.ended}
        assert plan.rows or not sequences or ticking.batcher.is_idle or tick <= last
    assert [one.outcome for one in sequences] == [Outcome.COMPLETED] * len(arrivals)
    assert ticking.batcher.pool.used == 0
    assert settings.pages == ticking.batcher.pool.available


def _check(plan: Plan, ticking: Ticking) -> None:
    settings = ticking.batcher.settings
    assert len(plan.rows) <= settings.max_rows
    assert sum(len(row.append) for row in plan.rows if row.start < 50) <= settings.prefill_tokens + 8 * len(plan.rows)
    if settings.tick_tokens is not None and len(plan.rows) > 1:
        assert sum(row.tokens for row in plan.rows) <= settings.tick_tokens


def test_spare_work_yields_to_its_own_class() -> None:
    """What no answer waits for has what is left; what runs of it pauses and goes on where it was."""
    ticking = flooded(terms=BATCH.spare)
    for _ in range(ROOMY.max_rows):
        ticking.add(long_request(BATCH, steps=50))
    shared, alone = taken(ticking, 50), taken(ticking, 10)

    assert shared["batch", ""] >= 0.98 * sum(shared.values())
    assert alone["batch:spare", ""] > 0
    assert BATCH.spare.origin == BATCH.name
