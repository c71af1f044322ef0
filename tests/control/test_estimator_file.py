"""Behaviour of `unmask.control.estimator_file`."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.control.values import make_features, make_model, stump
from unmask.control.difficulty import Estimator
from unmask.control.estimator_file import (
    LARGEST_FILE,
    EstimatorDamagedError,
    EstimatorError,
    EstimatorMismatchError,
    EstimatorMissingError,
    EstimatorVersionError,
    read_estimator,
    write_estimator,
)

MODEL = make_model(stump("digits", 10.5, 1.0, 3.0), base=0.1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of an estimator that knows sorting."""
    written(tmp_path / "difficulty.json")
    return tmp_path / "difficulty.json"


def written(path: Path) -> Estimator:
    """Write an estimator."""
    return write_estimator(path, model="tiny", model_digest="0123456789abcdef", tasks={"sort": MODEL})


def outcome(path: Path) -> str:
    """Return the digest of what a file holds, or that it was refused by name."""
    try:
        return read_estimator(path).digest
    except EstimatorError as error:
        return "refused" if str(path) in error.message else error.message


def resigned(path: Path, change: Callable[[Any], object]) -> None:
    """Change what a file says, and give it the digest of what it then says."""
    content = orjson.loads(path.read_bytes())
    del content["digest"]
    change(content)
    digest = hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
    path.write_bytes(orjson.dumps({**content, "digest": digest}))


def test_what_is_written_is_read(path: Path) -> None:
    """Model, digest and predictions survive, to the last bit."""
    estimator = read_estimator(path, model_digest="0123456789abcdef")
    features = make_features(digits=20)

    assert (estimator.model, estimator.model_digest) == ("tiny", "0123456789abcdef")
    assert estimator.difficulty(features) == MODEL.difficulty(features)
    assert read_estimator(path, digest=estimator.digest).digest == estimator.digest


def test_digest_names_the_content(tmp_path: Path) -> None:
    """The same estimator has the same digest wherever it lies, another one another."""
    first, again = (written(tmp_path / name) for name in ("a", "deeper/b"))
    other = write_estimator(tmp_path / "c", model="tiny", model_digest="other", tasks={"sort": MODEL})

    assert first.digest == again.digest != other.digest


def test_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    """No file is an error of its own, with the command in it."""
    with pytest.raises(EstimatorMissingError, match="unmask tune difficulty"):
        read_estimator(tmp_path / "none.json")
    with pytest.raises(EstimatorMissingError, match="Name another"):
        written(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"{}", b'{"format": "other"}', b"\xff", b"[" * 10_000])
def test_no_estimator_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is something else is refused as damaged."""
    path = tmp_path / "difficulty.json"
    path.write_bytes(content)

    with pytest.raises(EstimatorDamagedError, match=str(path)):
        read_estimator(path)


def test_too_long_a_file_is_refused(tmp_path: Path) -> None:
    """Nobody reads gigabytes to find that they are none of ours."""
    path = tmp_path / "difficulty.json"
    path.write_bytes(b" " * (LARGEST_FILE + 1))

    with pytest.raises(EstimatorDamagedError, match="longer than"):
        read_estimator(path)


@given(st.data())
def test_any_changed_byte_is_noticed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A file with a byte changed or its end cut off is refused, or says exactly the same."""
    path = tmp_path_factory.mktemp("estimator") / "difficulty.json"
    digest = written(path).digest
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[place] = data.draw(st.integers(0, 255))
    else:
        del content[place:]
    path.write_bytes(content)

    assert outcome(path) in {digest, "refused"}


def test_other_version_is_refused(path: Path) -> None:
    """A file of another version says so, whatever else is in it."""
    resigned(path, lambda content: content.update(version=2))

    with pytest.raises(EstimatorVersionError, match="version 2"):
        read_estimator(path)


def test_other_features_are_refused(path: Path) -> None:
    """Numbers that meant something else in training are never read."""
    resigned(path, lambda content: content["features"].reverse())

    with pytest.raises(EstimatorVersionError, match="other features"):
        read_estimator(path)


def test_too_deep_a_file_is_refused(path: Path) -> None:
    """Nesting beyond what JSON is written with is damage, not a crash."""
    nested = b"[" * 600 + b"]" * 600
    path.write_bytes(b'{"format":"unmask-difficulty","version":1,"digest":"x","tasks":' + nested + b"}")

    with pytest.raises(EstimatorDamagedError, match="digest"):
        read_estimator(path)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda task: task.update(base="1"), "base"),
        (lambda task: task.update(base=None), "base"),
        (lambda task: task.update(extra=1), "extra"),
        (lambda task: task["ranges"].pop(), "ranges"),
        (lambda task: task.update(ranges=[[1.0, 0.0]] * len(task["ranges"])), "range"),
        (lambda task: task.update(bins=[2.0, 1.0]), "bins"),
        (lambda task: task["trees"][0]["value"].pop(), "lengths"),
        (lambda task: task["trees"][0].update(feature=[99, -1, -1]), "reads feature 99"),
        (lambda task: task["trees"][0].update(feature=[-2, -1, -1]), "reads feature -2"),
        (lambda task: task["trees"][0].update(below=[0, 0, 0]), "behind it"),
        (lambda task: task["trees"][0].update(above=[7, 0, 0]), "behind it"),
        (lambda task: task["trees"][0].update(above=[1, 0, 0]), "one parent"),
    ],
)
def test_contents_that_cannot_be_are_refused(path: Path, change: Callable[[Any], object], place: str) -> None:
    """Rightly signed, and wrong all the same: every tree ends, and every number is one."""
    resigned(path, lambda content: change(content["tasks"]["sort"]))

    with pytest.raises(EstimatorDamagedError, match=place):
        read_estimator(path)


def test_another_estimator_or_model_is_refused(path: Path) -> None:
    """A policy names the estimator it was calibrated with, and an estimator the model it was trained on."""
    with pytest.raises(EstimatorMismatchError, match="allowed: beef"):
        read_estimator(path, digest="beef")
    with pytest.raises(EstimatorMismatchError, match="allowed: feed"):
        read_estimator(path, model_digest="feed")
