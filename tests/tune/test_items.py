"""Items to tune on are the tuning split's, each once, the same every time."""

import pytest

from unmask.errors import InvalidRequestError
from unmask.tasks.item import Split, split_of
from unmask.tune import items as items_module
from unmask.tune.items import draw_items


def test_items_are_distinct_and_of_the_split() -> None:
    """No canonical form twice, each of the split that was asked for."""
    for split in (Split.TUNE, Split.CALIBRATE):
        items = draw_items("sort", 50, 0, split)
        assert len({item.canonical for item in items}) == 50
        assert {split_of(item.canonical) for item in items} == {split}


def test_the_seed_decides() -> None:
    """Equal seeds draw equal items, and fewer are the first of more."""
    assert draw_items("latin", 10, 3) == draw_items("latin", 20, 3)[:10]
    assert draw_items("latin", 10, 3) != draw_items("latin", 10, 4)


def test_a_split_that_is_used_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing ends when nothing new comes up."""
    monkeypatch.setattr(items_module, "_DRAWS_AN_ITEM", 0)
    with pytest.raises(InvalidRequestError, match="--items is 5"):
        draw_items("sort", 5, 0)
