"""Behaviour of `unmask.bench.ar_load`, `unmask.bench.bare_ar` and `unmask.bench.crossing`."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.bench.small import TOKENIZER, small_model
from unmask.bench.ar_load import CONCURRENCY, crossing_figure, decoded, run_ar_load
from unmask.bench.arms import main_arm
from unmask.bench.bare_ar import BareDecoder
from unmask.bench.bench import Bench
from unmask.bench.crossing import Crossing, crossing, crossing_interval
from unmask.bench.drive import drive
from unmask.bench.workload import mixed_requests, submissions
from unmask.clock import SystemClock
from unmask.local.model import EMBEDDED_ADAPTER, model_info
from unmask.stats import NotEnoughData
from unmask.types import StepBudget

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())
WORK = [
    replace(submission, max_tokens=8, canvas_length=8, budget=StepBudget(max_steps=2, max_total_steps=2))
    for submission in submissions(
        mixed_requests(3, 6, "tiny", TOKENIZER), model_info(BENCH.model, BENCH.precision), TOKENIZER
    )
]


def test_bare_loop_decodes_what_the_engine_decodes() -> None:
    """Token by token, so that only their speed differs."""
    decoder = BareDecoder(BENCH.model.network, end=EMBEDDED_ADAPTER.end, forbidden=EMBEDDED_ADAPTER.forbidden)
    run = drive(main_arm(BENCH).core, [decoded(submission) for submission in WORK], BENCH.clock)
    outputs = [decoder.decode(submission.prompt, submission.max_tokens) for submission in WORK]

    assert [tuple(output) for output in outputs] == [tuple(sequence.output) for sequence in run.sequences]


@pytest.mark.parametrize(
    ("ratios", "load"),
    [
        ([2, 2, 2, 2], math.inf),
        ([0.9, 0.5, 0.4, 0.3], 1),
        ([4, 2, 0.5, 0.25], 8),
        ([2, 1, 0.5, 0.4], 4),
        ([2, 0.5, 2, 0.5], 2),
    ],
)
def test_crossing_is_where_the_ratio_first_falls_below_one(ratios: list[float], load: float) -> None:
    """Between loads on a line over logarithms; beyond what was measured nothing is made up."""
    assert crossing(CONCURRENCY, ratios) == pytest.approx(load)


def test_crossing_has_an_interval() -> None:
    """Of ten rounds whose times vary by a tenth it holds the true one, and is some fraction of it wide."""
    rng = np.random.default_rng(3)
    slower = np.array([4.0, 2.0, 0.5, 0.25]) * rng.uniform(0.9, 1.1, (10, 4))
    found = crossing_interval(CONCURRENCY, slower, np.ones((10, 4)), 1, resamples=500)
    few = crossing_interval(CONCURRENCY, slower[:5], np.ones((5, 4)), 1)

    assert isinstance(found, Crossing)
    assert found.low < found.load < found.high
    assert found.low < 8 < found.high
    assert found.high - found.low < 2
    assert isinstance(few, NotEnoughData)


def test_crossing_that_was_not_seen_has_no_upper_end() -> None:
    """Its value is the largest concurrency measured, and its note says so."""
    never = crossing_figure(Crossing(load=math.inf, low=40.0, high=math.inf))
    some = crossing_figure(Crossing(load=8.0, low=7.0, high=9.0))

    assert (never.value, never.low, never.high, never.note) == (64, 40, None, "not within 64")
    assert (some.value, some.low, some.high) == (8, 7, 9)


def test_load_test_has_every_figure() -> None:
    """A quick one, of a model that knows nothing: speeds, percentiles and operations of both modes at each load."""
    told: list[float] = []
    found = run_ar_load(BENCH, WORK, seed=0, quick=True, progress=lambda _, share: told.append(share))
    figures = {figure.name: figure for figure in found.figures}

    assert {
        f"{mode}_{clients}.{name}"
        for mode in ("diffusion", "autoregressive")
        for clients in CONCURRENCY
        for name in ("requests_per_s", "gflop_per_answer", "latency_p50", "latency_p95")
    } < set(figures)
    assert all(f"diffusion_requests_per_s_vs_autoregressive_{clients}" in figures for clients in CONCURRENCY)
    assert math.isnan(figures["autoregressive_overtakes_at_concurrency"].value)
    assert all(figure.value > 0 for name, figure in figures.items() if "overtakes" not in name)
    assert [entry.name for entry in found.must_reach] == ["ar_speed_vs_bare_loop"]
    assert (told[0], told[-1]) == (0.0, 1.0)
