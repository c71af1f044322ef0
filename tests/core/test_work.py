"""What a core's load says of its forwards, and of what came of them."""

import logging

import pytest
from hypothesis import given, settings

from tests.core.test_laws import NETWORK
from tests.core.workload import Case, cases, run
from unmask.core.core import Core
from unmask.sched.settings import SchedSettings
from unmask.testing.cores import make_core, run_all
from unmask.testing.fake_engine import FakeEngine
from unmask.testing.listeners import RecordingListener
from unmask.testing.manual_clock import ManualClock
from unmask.testing.submissions import make_submission
from unmask.types import Mode, Outcome
from unmask.work import GROWTH_BOUNDS, EngineWork, GrowthBand

SETTINGS = SchedSettings(pages=32, page_size=8, max_rows=4)


def growth_of(core: Core) -> list[tuple[int, GrowthBand]]:
    """Return the bands that hold something, with their bounds."""
    return [(bound, band) for bound, band in zip(GROWTH_BOUNDS, core.load.growth, strict=False) if band.generations]


def test_forwards_are_counted_with_rows_and_tokens() -> None:
    """Two requests of three prompt tokens and a canvas of eight: appended once, denoised at every step."""
    core = make_core(FakeEngine(), SETTINGS)
    run_all(core, [make_submission(max_steps=2), make_submission(max_steps=2)])

    assert core.load.work == EngineWork(forwards=2, rows=4, tokens=2 * (3 + 8 + 8), times=(2, *[0] * 11))


def test_all_but_padding_is_of_use() -> None:
    """Output of a whole canvas makes every token of it useful; of one that ends early only what is output."""
    whole = make_core(FakeEngine(), SETTINGS)
    run_all(whole, [make_submission(max_tokens=8, max_steps=2)])
    part = make_core(FakeEngine(), SETTINGS)
    run_all(part, [make_submission(max_tokens=3, max_steps=2)])

    assert whole.load.useful_tokens == whole.load.work.tokens == 3 + 2 * 8
    assert (part.load.useful_tokens, part.load.work.tokens) == (3 + 2 * 3, 3 + 2 * 8)


def test_steps_of_each_canvas_count_for_its_own_output() -> None:
    """A second canvas of which little is output does not make less of the first, and its commit is of use."""
    core = make_core(FakeEngine(), SETTINGS)
    run_all(core, [make_submission(max_tokens=10, max_steps=2)])

    assert core.load.work.tokens == 3 + 2 * 8 + 8 + 2 * 8
    assert core.load.useful_tokens == 3 + 2 * 8 + 8 + 2 * 2


def test_autoregressive_tokens_are_of_use() -> None:
    """What is appended for each of them is, as its prompt is."""
    core = make_core(FakeEngine(), SETTINGS)
    run_all(core, [make_submission(max_tokens=4, max_steps=4, mode=Mode.AUTOREGRESSIVE)])

    assert core.load.useful_tokens == core.load.work.tokens == 3 + 3


def test_abandoned_requests_were_waste() -> None:
    """Nothing of them is useful, and their length tells nothing."""
    core = make_core(FakeEngine(), SETTINGS)
    number = core.submit(make_submission(max_steps=9), RecordingListener())
    core.tick()
    core.abort(number)
    core.tick()

    assert core.load.work.tokens == 3 + 8
    assert (core.load.useful_tokens, growth_of(core)) == (0, [])


def test_longer_conversations_hold_more() -> None:
    """By the length of prompt and output: pages that were held, and tokens in them; the last canvas is not kept."""
    core = make_core(FakeEngine(), SETTINGS)
    run_all(core, [make_submission((5,) * 16, max_tokens=16), make_submission((5,) * 80, max_tokens=8)])

    assert growth_of(core) == [
        (64, GrowthBand(generations=1, tokens=32, kv_tokens=24, pages=4)),
        (128, GrowthBand(generations=1, tokens=88, kv_tokens=80, pages=11)),
    ]


def test_time_of_a_forward_is_its_own() -> None:
    """What a tick does beside it is not in it; a failed one is not counted."""
    clock = ManualClock()

    class Slow(FakeEngine):
        def run(self, plan):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - as in the fake
            clock.advance(0.2)
            return super().run(plan)

    engine = Slow()
    core = make_core(engine, SETTINGS, clock=clock)
    run_all(core, [make_submission(max_steps=3)])
    logging.disable(logging.CRITICAL)
    engine.error = RuntimeError("broken")
    run_all(core, [make_submission(max_steps=3)])
    logging.disable(logging.NOTSET)

    assert core.load.work.seconds == pytest.approx(0.6)
    assert core.load.work.times[7] == core.load.work.forwards == 3


@settings(max_examples=25)
@given(cases())
def test_no_more_is_useful_than_was_forwarded(case: Case) -> None:
    """Whatever arrives, is aborted, shared or paused; and every completed request is in one band of lengths."""
    arrived, way = case
    done = run(NETWORK, arrived, way)
    load = done.core.load
    completed = [one for one in done.sequences if one.outcome is Outcome.COMPLETED]

    assert 0 <= load.useful_tokens <= load.work.tokens
    assert sum(band.generations for band in load.growth) == len(completed)
    assert sum(band.tokens for band in load.growth) == sum(
        len(one.submission.prompt) + len(one.output) for one in completed
    )
