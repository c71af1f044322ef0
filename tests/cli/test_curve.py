"""Behaviour of ``unmask curve``."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from tests.cli.terminal import type_in
from tests.tune.test_exit_file import tuned
from unmask.app.local import local_backend
from unmask.backend import Request
from unmask.cli.entry import run
from unmask.cli.tools import Tools
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Split
from unmask.testing.fake_backend import FakeBackend
from unmask.tune.curve_file import read_curves
from unmask.tune.exit_file import write_exits
from unmask.tune.items import draw_items
from unmask.tune.run import CURVES, JOURNAL

ANSWERS = {item.messages: item.answer for item in draw_items("sort", 5, 0)}


def answer(request: Request) -> str:
    """Answer rightly from four steps on."""
    assert request.budget is not None
    return ANSWERS[request.messages] if request.budget.max_steps >= 4 else "?"


def test_it_measures_shows_and_keeps(tmp_path: Path) -> None:
    """Tables go to stdout, progress in lines to stderr where nothing can be redrawn, and all of it to the folder."""
    folder = tmp_path / "kept"
    ended = type_in(
        *("curve", "--task", "sort", "--items", "5", "--grid", "1,4,16", "--folder", str(folder)),
        backend=FakeBackend(answer),
    )

    assert ended.code == 0
    assert "sort, 5 items" in ended.out
    assert "not enough data" in ended.out
    assert "15 of 15 measured" in ended.err
    assert "\x1b" not in ended.out + ended.err
    assert sorted(path.name for path in folder.iterdir()) == [CURVES, JOURNAL, "sort.svg"]
    assert read_curves(folder / CURVES).curves[0].quality.tolist() == [0, 1, 1]


def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    """It is drawn in place, with what is left, and is gone at the end."""
    out, err = Console(file=io.StringIO(), width=100), Console(file=io.StringIO(), force_terminal=True, width=100)
    tools = Tools(out=out, err=err, make_backend=lambda _: FakeBackend(answer, step_s=0.001))
    code = run(("curve", "--task", "sort", "--items", "5", "--folder", str(tmp_path)), lambda: tools)

    assert isinstance(err.file, io.StringIO)
    assert code == 0
    assert "40/40" in err.file.getvalue()
    assert "left" in err.file.getvalue()
    assert "measured" not in err.file.getvalue()


def test_json_is_one_object(tmp_path: Path) -> None:
    """Scripts get settings, origin and curves; nothing else is on stdout."""
    ended = type_in(
        *("curve", "--task", "sort", "--items", "5", "--strategy", "klass", "--threshold", "0.01", "--seed", "0"),
        *("--folder", str(tmp_path / "kept"), "--json"),
        backend=FakeBackend(answer),
    )
    value = json.loads(ended.out)

    assert value["settings"]["strategy"] == {"name": "klass", "threshold": 0.01, "window": None}
    assert value["settings"]["grid"] == [1, 2, 3, 4, 6, 8, 12, 16]
    assert value["origin"]["machine"]
    assert [point["quality"]["value"] for point in value["curves"][0]["points"]] == [0, 0, 0, 1, 1, 1, 1, 1]


def test_each_task_type_may_have_the_strategy_of_its_exit(tmp_path: Path) -> None:
    """What exits were tuned with is what requests ask for; one that reads something learnt is refused by name."""
    plain, learned = tmp_path / "plain.json", tmp_path / "learned.json"
    found = tuned(tmp_path / "runs", with_finality=False)
    write_exits(plain, found)
    write_exits(learned, tuned(tmp_path / "learned-runs"))
    backend = FakeBackend(answer)
    argv = ("curve", "--task", "sort", "--items", "5", "--grid", "1,16", "--folder", str(tmp_path / "kept"), "--json")
    ended = type_in(*argv, "--exits", str(plain), backend=backend)
    refused = type_in(*argv, "--exits", str(learned), backend=FakeBackend(answer))

    assert ended.code == 0, ended.err
    assert found.tasks[0].strategy != StrategyChoice()
    assert {request.strategy for request in backend.requests} == {found.tasks[0].strategy}
    assert json.loads(ended.out)["settings"]["own"]["sort"]["name"] == found.tasks[0].strategy.name
    assert (refused.code, "sort" in refused.err) == (2, True)


def test_a_run_goes_on_with_resume_only(tmp_path: Path) -> None:
    """A folder that holds a run is refused, then gone on with; other arguments are refused by name."""
    argv = ("curve", "--task", "sort", "--items", "5", "--grid", "1,16", "--folder", str(tmp_path))
    type_in(*argv, backend=FakeBackend(answer))
    again, other = FakeBackend(answer), FakeBackend(answer)

    refused = type_in(*argv, backend=other)
    assert (refused.code, "--resume" in refused.err, other.requests) == (3, True, [])
    gone_on = type_in(*argv, "--resume", backend=again)
    assert (gone_on.code, again.requests) == (0, [])
    assert "going on after 10 of 10" in gone_on.err
    changed = type_in(*argv, "--resume", "--seed", "9", backend=other)
    assert (changed.code, "seed" in changed.err, other.requests) == (3, True, [])
    assert other.drained


def test_other_splits_have_curves_and_no_landmarks(tmp_path: Path) -> None:
    """Budgets are not chosen on items that judge them; the split is part of the run."""
    answers = {item.messages: item.answer for item in draw_items("sort", 3, 0, Split.TEST)}
    argv = ("curve", "--task", "sort", "--items", "3", "--grid", "1,16", "--folder", str(tmp_path))
    ended = type_in(*argv, "--split", "test", backend=FakeBackend(lambda request: answers[request.messages]))
    other = type_in(*argv, "--resume", backend=FakeBackend())

    assert ended.code == 0, ended.err
    assert "landmarks" not in ended.out
    assert read_curves(tmp_path / CURVES).settings.split is Split.TEST
    assert (other.code, "split" in other.err) == (3, True)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--grid", "1,5"), "rising budgets, the first 1 and the last 16"),
        (("--grid", "1,x"), "not a whole number"),
        (("--task", "poetry"), "allowed: arithmetic, sort"),
        (("--items", "0"), "not a whole number from 1"),
        (("--model", "huge"), "huge"),
    ],
)
def test_wrong_arguments_are_named(tmp_path: Path, argv: tuple[str, ...], message: str, capsys: object) -> None:
    """Exit code 2, and nothing is written."""
    ended = type_in("curve", "--folder", str(tmp_path / "kept"), *argv, backend=FakeBackend(answer))

    assert isinstance(capsys, pytest.CaptureFixture)
    assert ended.code == 2
    assert message in ended.err + capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


def test_a_real_model_is_measured(tmp_path: Path) -> None:
    """The smallest model in the package, three items at three budgets: no budget is overrun."""
    ended = type_in(
        *("curve", "--model", "nano", "--task", "sort", "--items", "3", "--grid", "1,8,32", "--folder", str(tmp_path)),
        make_backend=local_backend,
    )
    (curve,) = read_curves(tmp_path / CURVES).curves

    assert ended.code == 0
    assert curve.steps.shape == (3, 3)
    # An answer of up to 96 tokens takes up to three canvases of 32.
    assert all(
        (row <= 3 * budget).all() and (row >= 1).all() for row, budget in zip(curve.steps, (1, 8, 32), strict=True)
    )
    assert (curve.seconds > 0).all()
