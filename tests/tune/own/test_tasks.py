"""What a tasks file's items are split into and drawn from."""

from pathlib import Path

import pytest

from tests.tune.own.lines import line, write
from unmask.tasks.item import Split
from unmask.tune.own.file import read_tasks
from unmask.tune.own.tasks import NoItemsError, OwnTasks

SPLITS = (Split.TUNE, Split.CALIBRATE, Split.TEST)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> OwnTasks:
    """A thousand items."""
    return read_tasks(write(tmp_path_factory.mktemp("own") / "my.jsonl", (line(number) for number in range(1000))))


def test_splits_share_no_item_and_lose_none(tasks: OwnTasks) -> None:
    """Whatever the seeds, nothing that is measured was tuned on; six tenths tune."""
    drawn = [{item.digest for item in tasks.draw("faq", 1000, seed, split)} for seed, split in enumerate(SPLITS)]

    assert set.union(*drawn) == set(tasks.items["faq"])
    assert sum(map(len, drawn)) == 1000
    assert [len(part) for part in drawn] == [tasks.counts(split)["faq"] for split in SPLITS]
    assert len(drawn[0]) == pytest.approx(600, abs=60)
    assert len(drawn[1]) == pytest.approx(200, abs=50)


def test_an_item_keeps_its_split_when_others_come(tasks: OwnTasks, tmp_path: Path) -> None:
    """It goes by what it asks alone: neither order, id nor the rest of the file matter."""
    other = read_tasks(write(tmp_path / "my.jsonl", (line(number, id=f"x{number}") for number in (7, 3))))

    for digest, entry in other.items["faq"].items():
        assert tasks.items["faq"][digest].split is entry.split


def test_a_few_are_drawn_by_the_seed(tasks: OwnTasks) -> None:
    """The same for the same seed, others for another; never more than there are."""
    few = [tasks.draw("faq", 20, seed, Split.TEST) for seed in (0, 0, 1)]

    assert few[0] == few[1] != few[2]
    assert len({item.digest for item in few[0]}) == 20


def test_a_split_without_items_is_told(tmp_path: Path) -> None:
    """A file of one item has two of those."""
    one = read_tasks(write(tmp_path / "my.jsonl", [line(0)]))
    (split,) = one.counts(Split.TUNE).keys() or (None,)
    empty = next(each for each in SPLITS if not one.counts(each))
    assert split in {"faq", None}
    with pytest.raises(NoItemsError, match=f"not enough data: no item of faq belongs to the split {empty}"):
        one.draw("faq", 1, 0, empty)
