"""The fixed budgets that a policy is compared with, read off curves of plain low-confidence steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask.backend import ModelInfo
from unmask.strategy import StrategyChoice
from unmask.tune.curve import Curve
from unmask.tune.curve_file import read_curves
from unmask.tune.errors import ForeignCurvesError
from unmask.tune.isotonic import isotonic
from unmask.tune.landmarks import find_landmarks


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedBudgets:
    """Landmarks in denoise steps a canvas.

    Attributes:
        saturation: of the pooled curve, every task type counting alike: one budget for all.
        knee: of the pooled curve.
        type_saturation: of each task type, as ``type_knee``.
        source: where the curves are from.
    """

    saturation: int
    knee: int
    type_saturation: Mapping[str, int]
    type_knee: Mapping[str, int]
    source: str


def fixed_budgets(curves: Sequence[Curve], source: str) -> FixedBudgets:
    """Read the landmarks off curves over one grid."""
    found = {curve.task: find_landmarks(curve.grid, isotonic(curve.quality)) for curve in curves}
    pooled = find_landmarks(curves[0].grid, isotonic(np.mean([curve.quality for curve in curves], axis=0)))
    return FixedBudgets(
        saturation=pooled.saturation,
        knee=pooled.knee,
        type_saturation={task: at.saturation for task, at in found.items()},
        type_knee={task: at.knee for task, at in found.items()},
        source=source,
    )


def read_fixed_budgets(named: Path | None, usual: Path, model: ModelInfo) -> FixedBudgets | None:
    """Read the landmarks of measured curves: of a file that was named, or of the usual one if it is there and fits.

    Raises:
        CurveFileError: the file is damaged, or was named and is not there.
        ForeignCurvesError: it was named, and is of other weights or not of plain low-confidence steps.
    """
    path = named or usual
    if named is None and not path.exists():
        return None
    curves = read_curves(path)
    settings = curves.settings
    fits = (
        settings.model_digest == model.digest
        and settings.tasks == model.tasks
        and all(settings.strategy_of(task) == StrategyChoice() for task in settings.tasks)
        and settings.canvas_length == model.default_canvas_length
    )
    if fits:
        return fixed_budgets(curves.curves, f"curves of {curves.origin.date}, {settings.items} items a task type")
    if named is None:
        return None
    raise ForeignCurvesError(
        f"the curves {str(path)!r} are of {settings.model_digest} with {settings.strategy.name}, allowed: all task "
        f"types of {model.digest} with plain {StrategyChoice().name}. Leave them out, and the bench measures its own"
    )
