"""What `unmask tune difficulty` leaves behind: the estimator with the shifts that it is safe for, in one JSON file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unmask.control.difficulty import Estimator
from unmask.control.estimator_file import parse_estimator
from unmask.policy.policy import BucketSteps
from unmask.strategy import StrategyChoice
from unmask.tune.errors import CurveFileError, CurveRunError
from unmask.tune.propose import Calibrated, CalibratedTask
from unmask.types import Bucket

FORMAT: Literal["unmask.difficulty/1"] = "unmask.difficulty/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedDifficulty:
    """What was tuned.

    Attributes:
        calibrated: what the estimator is calibrated for.
        part: the estimator's own file, which goes into a folder of policies.
        report: all that was measured.
    """

    estimator: Estimator
    calibrated: Calibrated
    part: bytes
    report: Mapping[str, object]


class _Task(BaseModel):
    """What a proposal needs; the report's further figures are for people."""

    model_config = ConfigDict(extra="allow", strict=True)

    task: str
    strategy: StrategyChoice
    floor: Annotated[int, Field(ge=1)]
    ceiling: Annotated[int, Field(ge=1)]
    alpha: Annotated[float, Field(gt=0, lt=1)]
    shift: Annotated[float, Field(ge=-20, le=20, allow_inf_nan=False)] | None


class _File(BaseModel):
    model_config = ConfigDict(extra="allow")

    format: Literal["unmask.difficulty/1"]
    buckets: dict[Bucket, Annotated[int, Field(ge=1)]]
    tasks: list[_Task]
    content: dict[str, Any]


def write_difficulty(path: Path, report: Mapping[str, object], part: bytes) -> None:
    """Write a report and the estimator it is of.

    Raises:
        CurveRunError: it cannot be written.
    """
    value = {"format": FORMAT, **report, "content": orjson.loads(part)}
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")
        partial.replace(path)
    except OSError as error:
        raise CurveRunError(f"cannot write {str(path)!r}: {error}; name another file with --out") from error


def read_difficulty(path: Path) -> TunedDifficulty:
    """Read what was tuned.

    Raises:
        CurveFileError: the file cannot be read, is damaged, or is of another kind.
        EstimatorError: the estimator in it is not what was written.
    """
    try:
        file = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CurveFileError(f"cannot read {str(path)!r}: {error}; `unmask tune difficulty` makes it") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise CurveFileError(
            f"{str(path)!r} is no result of unmask tune difficulty: {place} {first['msg']}".strip()
        ) from error
    part = orjson.dumps(file.content)
    estimator = parse_estimator(path, part)
    calibrated = Calibrated(
        digest=estimator.digest,
        model_digest=estimator.model_digest,
        buckets=tuple(BucketSteps(bucket=bucket, max_steps=steps) for bucket, steps in file.buckets.items()),
        tasks={
            task.task: CalibratedTask(
                strategy=task.strategy,
                shift=task.shift,
                floor=task.floor,
                ceiling=task.ceiling,
                alpha=task.alpha,
            )
            for task in file.tasks
            if task.shift is not None
        },
    )
    report = file.model_dump(mode="json", exclude={"format", "content"})
    return TunedDifficulty(estimator=estimator, calibrated=calibrated, part=part, report=report)
