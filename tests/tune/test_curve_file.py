"""Curves on disk are what was measured, or are refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from unmask.testing.curves import make_curve, make_curves
from unmask.tune.curve_file import read_curves, write_curves
from unmask.tune.errors import CurveFileError, CurveRunError, ForeignCurvesError

CURVES = make_curves(make_curve("001", "011", "111"), make_curve("111", "111", "111", task="latin"))


def damaged(path: Path, change: Callable[[Any], object]) -> Path:
    """Write curves, change them, and write them again."""
    write_curves(path, CURVES)
    value = orjson.loads(path.read_bytes())
    change(value)
    path.write_bytes(orjson.dumps(value))
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Settings, origin and every cell."""
    write_curves(tmp_path / "curves.json", CURVES)
    read = read_curves(tmp_path / "curves.json")

    assert (read.settings, read.origin) == (CURVES.settings, CURVES.origin)
    for one, other in zip(read.curves, CURVES.curves, strict=True):
        assert (one.task, one.grid, one.items, one.difficulty) == (
            other.task,
            other.grid,
            other.items,
            other.difficulty,
        )
        for name in ("correct", "steps", "seconds"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert [path.name for path in tmp_path.iterdir()] == ["curves.json"]


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.update(format="unmask.policy/1"),
        lambda value: value.update(comment="mine"),
        lambda value: value.pop("origin"),
        lambda value: value["settings"].update(sprout=1),
        lambda value: value["settings"].pop("model_digest"),
        lambda value: value["settings"].update(grid=[1, 8, 4]),
        lambda value: value["settings"].update(items=4),
        lambda value: value["settings"].update(tasks=["sort"]),
        lambda value: value["curves"].pop(),
        lambda value: value["curves"][0]["correct"].pop(),
        lambda value: value["curves"][0]["correct"].__setitem__(0, "0x1"),
        lambda value: value["curves"][0]["steps"][1].pop(),
        lambda value: value["curves"][0]["steps"][1].__setitem__(0, -1),
        lambda value: value["curves"][0]["seconds"][1].__setitem__(0, -0.5),
        lambda value: value["curves"][0]["items"].__setitem__(0, value["curves"][0]["items"][1]),
        lambda value: value["curves"][0]["difficulty"].pop(),
    ],
)
def test_damaged_and_foreign_files_are_refused(tmp_path: Path, change: Callable[[Any], object]) -> None:
    """Whatever is missing, too much, or does not fit together is an error with the file's name."""
    with pytest.raises(CurveFileError, match=r"curves\.json"):
        read_curves(damaged(tmp_path / "curves.json", change))


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"{}"])
def test_files_that_are_something_else_are_refused(tmp_path: Path, data: bytes) -> None:
    """Neither half a file nor another kind of one is read."""
    path = tmp_path / "curves.json"
    path.write_bytes(data)
    with pytest.raises(CurveFileError):
        read_curves(path)


def test_a_missing_file_says_what_makes_one(tmp_path: Path) -> None:
    """The message names the command."""
    with pytest.raises(CurveFileError, match="unmask curve"):
        read_curves(tmp_path / "none.json")


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    """Writing fails with a message of ours."""
    with pytest.raises(CurveRunError):
        write_curves(tmp_path / "none" / "curves.json", CURVES)


def test_curves_of_other_weights_are_refused() -> None:
    """The name may be the same: the digest decides."""
    CURVES.check_model("renamed", CURVES.settings.model_digest)
    with pytest.raises(ForeignCurvesError, match="fedcba"):
        CURVES.check_model("tiny", "fedcba9876543210")
