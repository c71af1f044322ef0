"""Behaviour of `unmask.tune.exit_measure` and of the runs it rests on."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tune.traced import ASKING, TASK, Behaviour, TracedBackend, make_runner
from unmask.app.local import local_backend
from unmask.config import Settings
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.exits import make_rule
from unmask.tune.asking import make_asking
from unmask.tune.errors import ExitRunError
from unmask.tune.exit_figures import exits_needed, figures_of, misjudgement_bound
from unmask.tune.exit_log import ExitLog
from unmask.tune.exit_measure import is_exact, measure_setting
from unmask.tune.exit_rules import REFERENCE, Setting
from unmask.tune.exit_runs import ExitRun, ExitRunner, RunKey
from unmask.tune.items import draw_items
from unmask.types import ExitRule

HASTY = StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD, threshold=0.9)
ITEMS = draw_items(TASK, 12, 0)


def measure(folder: Path, backend: TracedBackend, rule: ExitRule | None) -> tuple[object, ...]:
    """Measure one setting on a dozen items."""
    setting = Setting(strategy=HASTY, rule=rule, label="tried")
    return asyncio.run(measure_setting(make_runner(folder, backend), ITEMS, 8, setting))


def test_one_run_answers_for_every_rule(tmp_path: Path) -> None:
    """Where a draft ends the answer a rule is replayed: the reference and the strategy are run, nothing else."""
    backend = TracedBackend()
    for rule in (None, make_rule(), make_rule(patience=2), make_rule(min_steps=3)):
        measure(tmp_path, backend, rule)

    assert {request.exit for request in backend.requests} == {None}
    assert len(backend.requests) == 2 * len(ITEMS)


def test_an_exit_before_the_last_canvas_is_run(tmp_path: Path) -> None:
    """What follows it stands behind another context, which no trace of the full run knows."""
    backend = TracedBackend(Behaviour(canvases=2))
    outcomes = measure(tmp_path, backend, make_rule())
    stopped = [request for request in backend.requests if request.exit is not None]

    assert len(stopped) == len(outcomes) == len(ITEMS)


@given(
    st.integers(1, 5),
    st.integers(1, 8),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(0, 3),
)
def test_replayed_is_served(settles: int, steps: int, canvases: int, patience: int, least: int, early: int) -> None:
    """A rule that is replayed gives the steps and the verdict that stopping gives."""
    behaviour = Behaviour(settles=settles, hasty_steps=steps, canvases=canvases, early_wrong=early)
    backend = TracedBackend(behaviour)
    rule = make_rule(patience=patience, min_steps=least)
    log = _Kept()
    runner = ExitRunner(backend, ASKING, log, in_flight=2)
    items = ITEMS[:4]
    replayed = asyncio.run(measure_setting(runner, items, 8, Setting(strategy=HASTY, rule=rule, label="r")))
    served = asyncio.run(runner.run(items, 8, HASTY, rule))

    assert [(found.steps, found.correct) for found in replayed] == [(run.steps, run.correct) for run in served]


class _Kept:
    """Keeps runs in memory."""

    def __init__(self) -> None:
        self._runs: dict[RunKey, ExitRun] = {}

    def find(self, key: RunKey) -> ExitRun | None:
        return self._runs.get(key)

    def note(self, run: ExitRun) -> None:
        self._runs[run.key] = run


def test_replayed_is_served_by_a_real_model(tmp_path: Path) -> None:
    """The smallest model in the package, exits of one canvas and of several."""

    async def both() -> tuple[list[tuple[int, bool]], list[tuple[int, bool]]]:
        backend = local_backend(Settings(models=("nano",)))
        try:
            (model,) = backend.models()
            asking = make_asking(model)
            runner = ExitRunner(backend, asking, ExitLog(tmp_path / "runs", asking, model.digest), in_flight=4)
            items = draw_items("lookup", 4, 0)
            rule = make_rule(flips=1.0, confidence=0.1)
            found = await measure_setting(runner, items, 8, Setting(strategy=HASTY, rule=rule, label="r"))
            runs = await runner.run(items, 8, HASTY, rule)
        finally:
            await backend.drain()
        return [(one.steps, one.correct) for one in found], [(run.steps, run.correct) for run in runs]

    replayed, served = asyncio.run(both())
    assert replayed == served


def test_figures_count_what_words_say(tmp_path: Path) -> None:
    """Misjudged: wrong though the same request's own full run is right."""
    outcomes = asyncio.run(
        measure_setting(
            make_runner(tmp_path, TracedBackend(Behaviour(early_wrong=3))),
            ITEMS,
            8,
            Setting(strategy=HASTY, rule=make_rule(), label="r"),
        )
    )
    figures = figures_of(outcomes, 0)

    assert (figures.items, figures.exits, figures.misjudged, figures.lost) == (12, 12, 4, 4)
    assert (figures.reverse, figures.both_wrong) == (0, 0)
    assert figures.reference_steps == 8


def test_how_many_exits_are_needed_is_computed() -> None:
    """381 without an error and 878 with three for 1 %; no exits bound nothing."""
    assert [exits_needed(errors, 0.01) for errors in (0, 3)] == [381, 878]
    assert misjudgement_bound(0, 0) == 1.0


@given(st.integers(0, 20), st.floats(0.002, 0.5))
def test_so_many_exits_are_just_enough(misjudged: int, limit: float) -> None:
    """One fewer is not."""
    needed = exits_needed(misjudged, limit)

    assert misjudgement_bound(misjudged, needed) <= limit
    assert needed == misjudged or misjudgement_bound(misjudged, needed - 1) > limit


def test_a_trace_without_an_exit_is_exact() -> None:
    """There is nothing to be inexact about."""
    assert is_exact(make_rule(), ())


def test_a_run_that_fails_is_said(tmp_path: Path) -> None:
    """A backend that leaves out the trace, or fails, ends the search with the item's name."""
    backend = TracedBackend(Behaviour(hasty_steps=0))

    with pytest.raises(ExitRunError, match="without its trace"):
        measure(tmp_path, backend, None)


def test_reference_is_a_whole_run() -> None:
    """It spends its budget: no threshold lets it end early."""
    assert REFERENCE.threshold is None
