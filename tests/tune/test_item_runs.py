"""Behaviour of `unmask.tune.item_runs`."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.tune.synthetic import GRID, digests, records_of
from unmask.control.features import FEATURES
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.tune.item_runs import (
    ItemRecord,
    ItemRuns,
    Run,
    RunsError,
    RunSet,
    SplitError,
    collect,
    item_features,
    read_runs,
    write_runs,
)


def gathered(records: list[ItemRecord], split: Split = Split.TUNE) -> RunSet:
    """Collect records of a model."""
    return collect(records, split, model="tiny", model_digest="m")


def item(*correct: bool) -> ItemRuns:
    """Return an item that is right at the budgets told, of 1, 2, 4 and so on."""
    (found,) = gathered(records_of(Split.TUNE, 1)).items
    runs = tuple(Run(budget=2**power, correct=right, steps=1) for power, right in enumerate(correct))
    return replace(found, runs=runs)


def test_records_are_grouped_by_item() -> None:
    """Whatever the order of the records, an item has its runs with the smallest budget first."""
    records = records_of(Split.TUNE, 5)
    Random(1).shuffle(records)
    runs = gathered(records)

    assert len(runs.items) == 5
    assert all(found.budgets == GRID for found in runs.items)
    assert runs.tasks == ("sort",)
    assert runs.of("sort") == runs.items
    assert runs.of("latin") == ()


def test_sufficient_is_right_from_there_on() -> None:
    """Right by chance at a small budget and wrong at a larger one is not enough; above the ceiling nothing counts."""
    assert item(True, True, True).sufficient(4) == 1
    assert item(True, False, True).sufficient(4) == 4
    assert item(True, False, False).sufficient(4) is None
    assert item(False, True, True, False).sufficient(4) == 2
    assert item(False, True).at(2).correct
    with pytest.raises(KeyError):
        item(True).at(8)


def test_other_splits_are_refused() -> None:
    """A single item of another split spoils the lot: it may have been tuned on."""
    mixed = records_of(Split.TUNE, 3) + records_of(Split.TEST, 1)

    with pytest.raises(SplitError, match="of the split test, allowed: tune"):
        gathered(mixed)
    with pytest.raises(SplitError, match="allowed: calibrate"):
        gathered(records_of(Split.TUNE, 3), Split.CALIBRATE)


def test_runs_cut_short_are_refused() -> None:
    """An item without its last budgets is named, and the budgets that others have."""
    with pytest.raises(RunsError, match=r"1, 2, 4, 8, 16, allowed: .* 1, 2, 4, 8, 16, 32"):
        gathered(records_of(Split.TUNE, 3)[:-1])


def test_contradicting_runs_are_refused() -> None:
    """Two runs at one budget, or two sets of features: which is meant is not guessed at."""
    records = records_of(Split.TUNE, 2)
    other = replace(records[0], features=replace(records[0].features, task="latin"))

    with pytest.raises(RunsError, match="two runs at one budget"):
        gathered([*records, records[0]])
    with pytest.raises(RunsError, match="different features"):
        gathered([other, *records[1:]])
    with pytest.raises(RunsError, match="no runs"):
        gathered([])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Records survive their file, and so does what they were run on."""
    path = tmp_path / "runs.jsonl"
    records = records_of(Split.TEST, 4)
    write_runs(path, records, model="tiny", model_digest="m")

    assert read_runs(path, Split.TEST) == gathered(records, Split.TEST)
    with pytest.raises(SplitError):
        read_runs(path, Split.TUNE)


@pytest.mark.parametrize(
    ("line", "changed", "reason"),
    [
        (0, "{", "line 1"),
        (0, '{"format":"unmask-item-runs","version":2,"model":"","model_digest":"","features":[]}', "version"),
        (0, '{"format":"unmask-item-runs","version":1,"model":"","model_digest":"","features":[]}', "other features"),
        (1, "", "line 2"),
        (1, '{"item":"x"}', "line 2: item"),
        (2, '{"item":"0123456789abcdef","task"', "line 3.*go on to its end"),
    ],
)
def test_damaged_file_is_refused(tmp_path: Path, line: int, changed: str, reason: str) -> None:
    """The error names the line."""
    path = tmp_path / "runs.jsonl"
    write_runs(path, records_of(Split.TUNE, 1), model="tiny", model_digest="m")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[line] = changed
    path.write_text("\n".join(lines), encoding="utf-8")

    with pytest.raises(RunsError, match=reason):
        read_runs(path, Split.TUNE)


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe"])
def test_no_file_of_runs_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """Missing, empty, or no text at all."""
    path = tmp_path / "runs.jsonl"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(RunsError, match=str(path)):
        read_runs(path, Split.TUNE)


def test_generated_items_have_features() -> None:
    """What is known of an item before its first step is what is known of a request."""
    drawn = all_tasks()["latin"].generate(Random(2), Split.TUNE)
    features = item_features(drawn, prompt_tokens=30, max_tokens=95)

    assert features.task == "latin"
    assert features["blanks"] == drawn.difficulty["blanks"]
    assert (features["prompt_tokens"], features["format"]) == (30, 0)
    assert len(features.values) == len(FEATURES)
    assert next(digests(Split.TUNE, 0)) != next(digests(Split.TEST, 0))
