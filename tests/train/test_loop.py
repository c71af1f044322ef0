"""The training loop: schedule, end, stop, exact resume."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.train.small import CPU, fresh, small_recipe
from unmask.engine.network import Network
from unmask.engine.weights import save_weights
from unmask.errors import CheckpointError, ConfigError
from unmask.tasks.registry import all_tasks
from unmask.testing.manual_clock import ManualClock
from unmask.train.checkpoint import Progress, load_checkpoint
from unmask.train.log import read_log
from unmask.train.loop import (
    CHECKPOINT_SECONDS,
    LAST_FACTOR,
    LOG_STEPS,
    Report,
    Run,
    can_compile,
    choose_device,
    make_network,
    rate_factor,
    train,
)
from unmask.train.step import make_optimisers

RECIPE = small_recipe()


def make_run(folder: Path, **changes: object) -> Run:
    """Return a run of six steps."""
    return replace(Run(folder=folder, minutes=1.0, steps=6, compiled=False), **changes)  # type: ignore[arg-type]


def weights(network: Network) -> list[torch.Tensor]:
    """Return every weight."""
    return list(network.state_dict().values())


def test_rates_warm_up_hold_and_decay() -> None:
    """The factor rises over the first steps, is one until half of the run, and falls linearly to its floor."""
    warm_up = 10
    assert [rate_factor(0.0, step, warm_up) for step in (0, 4, 9, 20)] == [0.1, 0.5, 1.0, 1.0]
    assert rate_factor(0.5, 100, warm_up) == 1.0
    assert rate_factor(0.75, 100, warm_up) == pytest.approx(0.5)
    assert rate_factor(0.995, 100, warm_up) == rate_factor(1.0, 100, warm_up) == LAST_FACTOR
    falling = [rate_factor(percent / 100, 100, warm_up) for percent in range(50, 101)]
    assert falling == sorted(falling, reverse=True)


def test_a_network_starts_as_the_identity() -> None:
    """Output projections and head are zero, so that depth costs nothing at first; a seed gives one network."""
    network = fresh()
    by_name = network.state_dict()
    assert not by_name["head.weight"].any()
    assert not by_name["blocks.0.out.weight"].any()
    assert not by_name["blocks.1.down.weight"].any()
    assert by_name["blocks.0.qkv.weight"].abs().max() <= (3 / 16) ** 0.5
    assert all(map(torch.equal, weights(network), weights(fresh())))
    assert not torch.equal(network.tokens.weight, fresh(seed=2).tokens.weight)


def test_making_a_network_leaves_the_global_generator_alone() -> None:
    """The seed decides the network, and the network decides nothing else."""
    before = torch.random.get_rng_state()
    make_network(RECIPE, CPU)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_resumed_run_is_the_run_it_would_have_been(tmp_path: Path) -> None:
    """Six steps are three steps, a stop, a resume and three steps: same weights, same log length, to the bit."""
    whole = train(RECIPE, make_run(tmp_path / "whole"), lambda _report: None, clock=ManualClock())
    reports: list[Report] = []
    parts = make_run(tmp_path / "parts")
    first = train(RECIPE, parts, reports.append, clock=ManualClock(), stopped=lambda: len(reports) == 3)
    assert (first.progress.step, first.finished) == (3, False)
    second = train(RECIPE, replace(parts, resume=True), reports.append, clock=ManualClock())
    assert whole.finished
    assert second.finished
    assert second.progress.step == whole.progress.step == 6
    assert [report.progress.step for report in reports] == [1, 2, 3, 4, 5, 6]
    assert [report.fraction for report in reports] == pytest.approx([step / 6 for step in range(1, 7)])
    assert all(map(torch.equal, weights(whole.network), weights(second.network)))
    assert any(map(torch.any, weights(whole.network)[-1:]))
    assert [entry.step for entry in read_log(parts.log)] == [3, 6]


def test_a_run_ends_after_its_minutes(tmp_path: Path) -> None:
    """Trained time is counted by the clock, and a resumed run counts what it had trained before."""
    clock = ManualClock()
    reports: list[Report] = []

    def report(made: Report) -> None:
        reports.append(made)
        clock.advance(20.0)

    # The clock stands still within a step, so that each report's time shows in the next one.
    run = make_run(tmp_path, steps=None, minutes=1.0)
    trained = train(RECIPE, run, report, clock=clock)
    assert trained.finished
    assert [made.progress.seconds for made in reports] == [0.0, 20.0, 40.0, 60.0]
    longer = train(RECIPE, replace(run, resume=True, minutes=1.5), report, clock=clock)
    assert longer.progress == Progress(step=7, seconds=100.0)


def test_state_is_saved_every_few_minutes(tmp_path: Path) -> None:
    """A run that is killed loses no more than the time between checkpoints."""
    clock = ManualClock()
    run = make_run(tmp_path)
    saved = []

    def report(made: Report) -> None:
        saved.append(run.checkpoint.exists())
        clock.advance(CHECKPOINT_SECONDS * 0.6)

    train(RECIPE, run, report, clock=clock)
    assert saved == [False, False, False, True, True, True]


def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    """Resuming a run that is over trains nothing and changes nothing."""
    run = make_run(tmp_path, steps=2)
    trained = train(RECIPE, run, lambda _report: None, clock=ManualClock())
    before = run.checkpoint.read_bytes(), run.log.read_bytes()
    reports: list[Report] = []
    again = train(RECIPE, replace(run, resume=True), reports.append, clock=ManualClock())
    assert again.finished
    assert reports == []
    assert (run.checkpoint.read_bytes(), run.log.read_bytes()) == before
    assert all(map(torch.equal, weights(again.network), weights(trained.network)))


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    """Starting anew where a run is asks for a resume or another folder; starting where none is drops a stray log."""
    run = make_run(tmp_path, steps=1)
    run.log.write_text("stray\n")
    train(RECIPE, run, lambda _report: None, clock=ManualClock())
    assert len(run.log.read_text().splitlines()) == 1
    before = run.checkpoint.read_bytes()
    with pytest.raises(ConfigError, match="--resume, or name another --folder"):
        train(RECIPE, run, lambda _report: None, clock=ManualClock())
    assert run.checkpoint.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_a_checkpoint_error(tmp_path: Path) -> None:
    """A file where the folder should be is named."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot use the folder"):
        train(RECIPE, make_run(tmp_path / "file" / "run"), lambda _report: None, clock=ManualClock())


def test_a_long_run_reports_figures_every_few_steps(tmp_path: Path) -> None:
    """Figures come with every `LOG_STEPS`-th report, and the log has one line for each and one for the end."""
    reports: list[Report] = []
    recipe = replace(RECIPE, feed=replace(RECIPE.feed, documents=4, warm_up_steps=0, recall_share=0.0))
    run = make_run(tmp_path, steps=LOG_STEPS + 1)
    train(recipe, run, reports.append, clock=ManualClock())
    assert [report.progress.step for report in reports if report.figures] == [LOG_STEPS]
    assert [entry.step for entry in read_log(run.log)] == [LOG_STEPS, LOG_STEPS + 1]
    (figures,) = (report.figures for report in reports if report.figures)
    assert read_log(run.log)[0].tasks == figures
    assert all(0 <= row.canvas_accuracy <= 1 and 0 < row.canvas_loss < 8 for row in figures)
    # Lessons that the steps did not hold have no figures.
    assert [row.task for row in figures] == list(all_tasks())


def test_the_network_in_the_checkpoint_is_the_one_returned(tmp_path: Path) -> None:
    """What is shipped is what can be resumed."""
    trained = train(RECIPE, make_run(tmp_path, steps=2), lambda _report: None, clock=ManualClock())
    network = fresh()
    load_checkpoint(tmp_path / "checkpoint.pt", RECIPE, network, make_optimisers(network, RECIPE))
    assert all(map(torch.equal, weights(trained.network), weights(network)))


def test_compiling_needs_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a C++ compiler training runs uncompiled, not into an error."""
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert not can_compile(CPU)


def test_the_device_is_one_there_is() -> None:
    """Training goes to a GPU where there is one."""
    assert choose_device().type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_a_run_may_start_from_weights(tmp_path: Path) -> None:
    """With weights to start from, a new run trains those; of another shape they are refused."""
    save_weights(tmp_path / "old.safetensors", fresh(seed=3), name="nano")
    begun = train(
        RECIPE,
        make_run(tmp_path / "run", weights=tmp_path / "old.safetensors"),
        lambda _: None,
        clock=ManualClock(),
        stopped=lambda: True,
    )

    expected = [value.half().float() for value in weights(fresh(seed=3))]
    assert all(torch.equal(found, wanted) for found, wanted in zip(weights(begun.network), expected, strict=True))

    other = replace(RECIPE, shape=replace(RECIPE.shape, hidden=64))
    with pytest.raises(ConfigError, match="another shape"):
        train(
            other,
            make_run(tmp_path / "other", weights=tmp_path / "old.safetensors"),
            lambda _: None,
            clock=ManualClock(),
        )
