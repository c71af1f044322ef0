"""Behaviour of ``unmask controls``."""

import json
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.control.handmade import make_failure, make_record
from unmask.control.records import RecordFolder


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> RecordFolder:
    folder = RecordFolder(tmp_path)
    for number in range(10):
        folder.add(make_record(id=f"right{number}"))
    folder.add(make_record(id="wrong", exit_passed=False, diverged=True, exit_text="3, 1"))
    folder.add(make_record(id="unjudged", task="haiku", judges=(), passed=None, exit_passed=None, diverged=True))
    folder.add(make_failure())
    return folder


def controls(folder: RecordFolder, *argv: str) -> Ended:
    """Run the command over a folder."""
    return type_in("controls", "--folder", str(folder.path), *argv)


def rules(folder: RecordFolder) -> dict[str, dict[str, object]]:
    """Return what the command says of each task type."""
    return {rule["task"]: rule for rule in json.loads(controls(folder, "--json").out)["rules"]}


def test_table_says_how_often_exits_are_wrong(folder: RecordFolder) -> None:
    """Rates with their intervals; what nobody judged is not enough data."""
    ended = controls(folder)

    assert ended.code == 0
    assert "9.1%" in ended.out
    assert "not" in ended.out
    assert "failed their verifier: 1; they are no random sample" in ended.err


def test_json_says_it_for_machines(folder: RecordFolder) -> None:
    """With every control, so that the unjudged can be found."""
    found = json.loads(controls(folder, "--json").out)
    sort, haiku = found["rules"]

    assert (sort["task"], sort["controls"], sort["judged"], sort["judges"]) == ("sort", 11, 11, ["task"])
    assert sort["misjudgement"]["estimate"] == pytest.approx(1 / 11)
    assert sort["extra_steps"] == 11 * 5
    assert (haiku["misjudgement"], haiku["divergence"]["estimate"]) == (None, 1.0)
    assert [control["id"] for control in found["controls"] if control["passed"] is None] == ["unjudged"]
    assert (found["failures"], found["unreadable"], found["folder"]) == (1, 0, str(folder.path))


def test_one_control_is_shown(folder: RecordFolder) -> None:
    """What a person needs to judge it: the prompt and both texts."""
    ended = controls(folder, "show", "wrong")

    assert "sort 3 , 1 한글" in ended.out
    assert "full run, 8 steps\n1, 3" in ended.out
    assert "exit, 3 steps\n3, 1" in ended.out
    assert json.loads(type_in("controls", "--folder", str(folder.path), "--json", "show", "wrong").out)["id"] == "wrong"


def test_label_counts_over_the_verifier(folder: RecordFolder) -> None:
    """And makes a verdict where there was none."""
    assert controls(folder, "label", "wrong", "pass", "pass").code == 0
    assert controls(folder, "label", "unjudged", "pass", "fail").code == 0
    found = rules(folder)

    assert (found["sort"]["judged"], found["sort"]["judges"]) == (11, ["task", "person"])
    assert found["sort"]["misjudgement"]["estimate"] == 0  # type: ignore[index]
    assert found["haiku"]["misjudgement"]["estimate"] == 1  # type: ignore[index]
    assert [label.passed for label in folder.labels().records] == [True, True]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("label", "wrong", "pass"), "both need a verdict"),
        (("label", "right1", "pass", "fail"), "the same"),
        (("label", "nobody", "pass"), "no control"),
        (("show", "nobody"), "no control"),
    ],
)
def test_label_that_means_nothing_is_refused(folder: RecordFolder, argv: tuple[str, ...], says: str) -> None:
    """With what is missing or too much."""
    ended = controls(folder, *argv)

    assert (ended.code, says in ended.err) == (2, True)
    assert folder.labels().records == ()


def test_empty_folder_says_where_controls_come_from(tmp_path: Path) -> None:
    """No folder is no error."""
    ended = type_in("controls", "--folder", str(tmp_path / "none"))

    assert ended.code == 0
    assert "no control runs" in ended.err


def test_folder_that_is_none_is_2(tmp_path: Path) -> None:
    """It cannot be read."""
    (tmp_path / "file").write_text("")
    ended = type_in("controls", "--folder", str(tmp_path / "file"))

    assert (ended.code, "cannot be used" in ended.err) == (2, True)


def test_unreadable_lines_are_told(folder: RecordFolder) -> None:
    """They may be a torn write, or something worse."""
    with (folder.path / "controls.jsonl").open("ab") as file:
        file.write(b"tor")

    assert "could not be read: 1" in controls(folder).err
