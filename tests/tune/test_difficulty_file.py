"""Behaviour of `unmask.tune.difficulty_file`."""

from pathlib import Path

import orjson
import pytest

from tests.control.values import make_features, make_model, stump
from unmask.control.estimator_file import EstimatorDamagedError, estimator_content
from unmask.policy.policy import BucketSteps
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tune.difficulty_file import read_difficulty, write_difficulty
from unmask.tune.errors import CurveFileError, CurveRunError
from unmask.tune.propose import CalibratedTask
from unmask.types import Bucket

PART = estimator_content(model="tiny", model_digest="m", tasks={"sort": make_model(stump("digits", 10, 1.0, 3.0))})
REPORT: dict[str, object] = {
    "buckets": {"XS": 2, "L": 16},
    "tasks": [
        {
            "task": "sort",
            "strategy": {"name": "klass", "threshold": 0.5},
            "floor": 2,
            "ceiling": 16,
            "alpha": 0.01,
            "shift": 0.5,
            "test": {"n": 3},
        },
        {
            "task": "latin",
            "strategy": {"name": "klass"},
            "floor": 2,
            "ceiling": 16,
            "alpha": 0.01,
            "shift": None,
        },
    ],
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """The estimator with what it is calibrated for; a task type without a shift is not."""
    path = tmp_path / "new" / "difficulty.json"
    write_difficulty(path, REPORT, PART)
    found = read_difficulty(path)

    assert found.estimator.tasks["sort"].difficulty(make_features(digits=20)).score == 3.0
    assert orjson.loads(found.part) == orjson.loads(PART)
    assert found.calibrated.digest == found.estimator.digest
    klass = StrategyChoice(name=StrategyName.KLASS, threshold=0.5)
    assert found.calibrated.buckets == (
        BucketSteps(bucket=Bucket.XS, max_steps=2),
        BucketSteps(bucket=Bucket.L, max_steps=16),
    )
    assert found.calibrated.tasks == {
        "sort": CalibratedTask(strategy=klass, shift=0.5, floor=2, ceiling=16, alpha=0.01)
    }
    assert found.report["buckets"] == REPORT["buckets"]


def test_what_was_changed_is_refused(tmp_path: Path) -> None:
    """Estimator, shifts out of range, something else, nothing at all."""
    path = tmp_path / "difficulty.json"
    write_difficulty(path, REPORT, PART)
    value = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps({**value, "content": {**value["content"], "model": "other"}}))
    with pytest.raises(EstimatorDamagedError):
        read_difficulty(path)
    for changes in ({"tasks": [{**value["tasks"][0], "shift": 99}]}, {"format": "else"}, {"buckets": {"XS": 0}}):
        path.write_bytes(orjson.dumps({**value, **changes}))
        with pytest.raises(CurveFileError, match="no result of unmask tune difficulty"):
            read_difficulty(path)
    with pytest.raises(CurveFileError, match="unmask tune difficulty"):
        read_difficulty(tmp_path / "none")
    with pytest.raises(CurveRunError):
        write_difficulty(path / "below", REPORT, PART)
