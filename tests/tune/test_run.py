"""A curve run measures each item once at each budget, whatever happens to it."""

import asyncio
from collections import Counter
from pathlib import Path

import numpy as np
import orjson
import pytest

from unmask.backend import Request
from unmask.testing.builders import make_generation
from unmask.testing.curves import make_curve_settings, make_origin
from unmask.testing.fake_backend import FakeBackend
from unmask.tune.curve import CurveSet
from unmask.tune.curve_file import read_curves
from unmask.tune.errors import CurveFileError, CurveRunError, ResumeError
from unmask.tune.items import draw_items
from unmask.tune.run import CURVES, JOURNAL, open_run
from unmask.tune.settings import CurveSettings
from unmask.types import Outcome

SETTINGS = make_curve_settings(tasks=("arithmetic", "sort"), items=3, grid=(1, 4, 16))
TOTAL = 18
ANSWERS = {
    item.messages: item.answer for task in SETTINGS.tasks for item in draw_items(task, SETTINGS.items, SETTINGS.seed)
}


def right_from_four(request: Request) -> str:
    """Answer wrongly with one step, rightly with more."""
    assert request.budget is not None
    return ANSWERS[request.messages] if request.budget.max_steps >= 4 else "?"


def measure(
    folder: Path, settings: CurveSettings = SETTINGS, *, resume: bool = False, backend: FakeBackend | None = None
) -> tuple[CurveSet, FakeBackend, list[str]]:
    """Run to the end; return the curves, what was asked of the backend, and what was said."""
    said: list[str] = []
    backend = backend or FakeBackend(right_from_four)
    run = open_run(settings, make_origin(), folder, resume=resume, say=said.append)
    return asyncio.run(run.measure(backend, lambda _done, _total: None)), backend, said


def assert_same(left: CurveSet, right: CurveSet) -> None:
    """Fail where two sets differ in anything but seconds, which no two runs share."""
    assert left.settings == right.settings
    for one, other in zip(left.curves, right.curves, strict=True):
        assert (one.task, one.items, one.difficulty) == (other.task, other.items, other.difficulty)
        np.testing.assert_array_equal(one.correct, other.correct)
        np.testing.assert_array_equal(one.steps, other.steps)


def test_every_item_is_measured_at_every_budget(tmp_path: Path) -> None:
    """The same items at each, each a run of its own, judged by the checker; kept as they are returned."""
    curves, backend, _ = measure(tmp_path)

    asked = Counter((request.messages, request.budget.max_steps) for request in backend.requests if request.budget)
    assert set(asked.values()) == {1}
    assert len(asked) == TOTAL
    assert [curve.task for curve in curves.curves] == ["arithmetic", "sort"]
    for curve in curves.curves:
        assert curve.quality.tolist() == [0, 1, 1]
        assert curve.steps.tolist() == [[1] * 3, [4] * 3, [4] * 3]
    assert_same(read_curves(tmp_path / CURVES), curves)


def test_prompts_of_one_budget_stay_out_of_anothers_cache(tmp_path: Path) -> None:
    """Else the first budget of an item would pay for the prefill of all."""
    _, backend, _ = measure(tmp_path)

    tenants = {(request.tenant, request.budget.max_steps) for request in backend.requests if request.budget}
    assert len(tenants) == 3


def test_budgets_take_turns(tmp_path: Path) -> None:
    """No budget is measured in one piece: what disturbs the machine disturbs all."""
    _, backend, _ = measure(tmp_path)

    budgets = [request.budget.max_steps for request in backend.requests if request.budget]
    assert all(set(budgets[start : start + 6]) == {1, 4, 16} for start in range(0, TOTAL, 6))


def test_requests_in_flight_are_bounded(tmp_path: Path) -> None:
    """Never more at a time than the settings say, and as many while there is work."""
    most = 0
    backend = FakeBackend(right_from_four, step_s=0.0005)

    async def run() -> None:
        nonlocal most
        opened = open_run(make_curve_settings(in_flight=2), make_origin(), tmp_path, resume=False, say=lambda _: None)
        running = asyncio.create_task(opened.measure(backend, lambda _done, _total: None))
        while not running.done():
            most = max(most, backend.load()[0].running)
            await asyncio.sleep(0)
        await running

    asyncio.run(run())
    assert most == 2


def test_a_run_killed_at_any_line_goes_on_to_the_same_curves(tmp_path: Path) -> None:
    """Whatever is left of the journal, whole lines or half a one: nothing is measured twice, nothing is missing."""
    whole, _, _ = measure(tmp_path / "whole")
    data = (tmp_path / "whole" / JOURNAL).read_bytes()
    ends = [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]
    for kept, end in enumerate(ends):
        for torn in (0, 7):
            folder = tmp_path / f"{end}-{torn}"
            folder.mkdir()
            (folder / JOURNAL).write_bytes(data[: end + torn])
            is_torn = torn > 0 and end < len(data)
            curves, backend, said = measure(folder, resume=True)

            assert_same(curves, whole)
            assert len(backend.requests) == TOTAL - kept
            assert any("half a line" in text for text in said) == is_torn
            assert f"going on after {kept} of {TOTAL} measurements" in said
            lines = (folder / JOURNAL).read_bytes().splitlines()
            assert len({line for line in lines if orjson.loads(line)}) == TOTAL + 1


@pytest.mark.parametrize("left", [b"", b'{"format":"unma'])
def test_a_run_killed_before_its_first_line_begins_anew(tmp_path: Path, left: bytes) -> None:
    """Nothing was measured, so there is nothing to go on with, with or without ``--resume``."""
    for resume in (False, True):
        folder = tmp_path / str(resume)
        folder.mkdir()
        (folder / JOURNAL).write_bytes(left)
        _, backend, _ = measure(folder, resume=resume)
        assert len(backend.requests) == TOTAL


def test_resuming_a_finished_run_measures_nothing(tmp_path: Path) -> None:
    """It reads the journal and keeps the curves again."""
    whole, _, _ = measure(tmp_path)
    again, backend, _ = measure(tmp_path, resume=True)

    assert backend.requests == []
    assert_same(whole, again)


def test_a_folder_that_holds_a_run_is_left_alone(tmp_path: Path) -> None:
    """Without ``--resume`` nothing is overwritten."""
    measure(tmp_path)
    with pytest.raises(ResumeError, match="--resume"):
        measure(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"model_digest": "fedcba9876543210"},
        {"seed": 1},
        {"items": 4},
        {"grid": (1, 16)},
        {"tasks": ("sort",)},
        {"in_flight": 3},
    ],
)
def test_another_run_is_not_gone_on_with(tmp_path: Path, change: dict[str, object]) -> None:
    """Other arguments, seeds or weights are refused by name, and the journal stays as it was."""
    measure(tmp_path)
    before = (tmp_path / JOURNAL).read_bytes()
    fields = {name: getattr(SETTINGS, name) for name in ("tasks", "items", "grid")}
    with pytest.raises(ResumeError, match=next(iter(change))):
        measure(tmp_path, make_curve_settings(**(fields | change)), resume=True)
    assert (tmp_path / JOURNAL).read_bytes() == before


def test_another_machine_is_refused(tmp_path: Path) -> None:
    """Latencies of two machines make no curve."""
    measure(tmp_path)
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes().replace(b"a machine", b"another one"))
    with pytest.raises(ResumeError, match="machine"):
        measure(tmp_path, resume=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"correct":true', b'"correct":"yes"'),
        (b'"budget":4,', b""),
        (b'"budget":4', b'"budget":5'),
        (b'{"task"', b'{"more":1,"task"'),
        (b'"unmask.curve.journal/1"', b'"unmask.log/1"'),
        (b'"seed":0', b'"seed":0,"sprout":1'),
    ],
)
def test_a_damaged_journal_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    """Whole lines that are wrong are no torn end: the file is not what a run has written."""
    measure(tmp_path)
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(CurveFileError):
        measure(tmp_path, resume=True)


def test_a_measurement_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Two runs into one folder make no curve."""
    measure(tmp_path)
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[1])
    with pytest.raises(CurveFileError, match="second time"):
        measure(tmp_path, resume=True)


def test_a_failed_request_ends_the_run_and_keeps_what_there_is(tmp_path: Path) -> None:
    """No item is left out in silence; once the backend is well the run goes on."""
    broken = FakeBackend(generation=make_generation("", outcome=Outcome.FAILED, error="out of paper"))
    with pytest.raises(CurveRunError, match="out of paper"):
        measure(tmp_path, backend=broken)
    curves, _, _ = measure(tmp_path, resume=True)
    assert curves.curves[0].quality.tolist() == [0, 1, 1]


def test_an_error_of_the_backend_is_itself(tmp_path: Path) -> None:
    """Its type and message reach whoever asked, not a group of errors."""
    with pytest.raises(CurveRunError, match="gone"):
        measure(tmp_path, backend=FakeBackend(error=CurveRunError("gone")))


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A file in its place, for one."""
    (tmp_path / "file").write_text("")
    with pytest.raises((CurveRunError, CurveFileError), match="file"):
        measure(tmp_path / "file")


def test_one_item_is_a_run_too(tmp_path: Path) -> None:
    """It is measured; that it says little is for the report to tell."""
    curves, _, _ = measure(tmp_path, make_curve_settings(items=1))
    assert curves.curves[0].correct.shape == (3, 1)
