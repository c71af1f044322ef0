"""What a curve run found: points and landmarks of every curve, as tables and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import assert_never

from rich.table import Table

from unmask.policy.convert import raw_strategy
from unmask.stats import NotEnoughData
from unmask.tasks.item import Split
from unmask.tune.curve import CurveSet
from unmask.tune.landmarks import RESAMPLES, LandmarkResult, MeasuredLandmarks, measure_landmarks
from unmask.tune.points import CurvePoint, curve_points
from unmask.tune.settings import CurveSettings
from unmask.tune.shown import interval_json, interval_text, spread_text


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveReport:
    """One curve as it is shown.

    Attributes:
        landmarks: ``None`` for items of other splits than the tuning split: budgets are not chosen on them.
    """

    task: str
    items: int
    points: tuple[CurvePoint, ...]
    landmarks: LandmarkResult | None


def report_curves(curves: CurveSet, *, resamples: int = RESAMPLES) -> tuple[CurveReport, ...]:
    """Fit every curve and, of tuning items, read its landmarks; resampling takes the run's seed."""
    return tuple(
        CurveReport(
            task=curve.task,
            items=len(curve.items),
            points=curve_points(curve),
            landmarks=measure_landmarks(curve, curves.settings.seed, resamples=resamples)
            if curves.settings.split is Split.TUNE
            else None,
        )
        for curve in curves.curves
    )


def landmark_table(reports: tuple[CurveReport, ...]) -> Table:
    """Return a line a task type: what its curve proposes as floor, default and ceiling."""
    table = Table(title="landmarks in denoise steps a canvas (middle 95 % of resamples)")
    for heading in ("task type", "collapse", "floor", "knee = default", "saturation = ceiling", "flat"):
        table.add_column(heading)
    for report in reports:
        match report.landmarks:
            case MeasuredLandmarks() as found:
                table.add_row(
                    report.task,
                    spread_text(found.at.collapse, found.collapse),
                    spread_text(found.at.floor, found.floor),
                    spread_text(found.at.knee, found.knee),
                    spread_text(found.at.saturation, found.saturation),
                    f"{'yes' if found.at.flat else 'no'} ({found.flat_share:.0%})",
                )
            case NotEnoughData() as lacking:
                table.add_row(report.task, f"not enough data: {lacking.reason}")
            case None:
                table.add_row(report.task, "budgets are chosen on tuning items")
            case _:
                assert_never(report.landmarks)
    return table


def point_tables(reports: tuple[CurveReport, ...]) -> Iterator[Table]:
    """Yield a table a task type, a line a budget."""
    for report in reports:
        table = Table(title=f"{report.task}, {report.items} item{'s' if report.items != 1 else ''}")
        for heading in ("budget", "right (95 %)", "fitted", "steps used", "p50 s (95 %)", "p95 s (95 %)"):
            table.add_column(heading, justify="right" if heading in {"budget", "steps used", "fitted"} else "left")
        for point in report.points:
            table.add_row(
                str(point.budget),
                interval_text(point.quality, percent=True),
                f"{point.fitted:.1%}",
                f"{point.steps:.1f}",
                interval_text(point.p50),
                interval_text(point.p95),
            )
        yield table


def report_json(curves: CurveSet, reports: tuple[CurveReport, ...]) -> dict[str, object]:
    """Return settings, origin and every report as one JSON object."""
    return {
        "settings": settings_record(curves.settings),
        "origin": asdict(curves.origin),
        "curves": [_curve_json(report) for report in reports],
    }


def settings_record(settings: CurveSettings) -> dict[str, object]:
    """Return the settings of a run as JSON."""
    return {
        **asdict(settings),
        "strategy": raw_strategy(settings.strategy),
        "own": {entry.task: raw_strategy(entry.strategy) for entry in settings.own},
    }


def _curve_json(report: CurveReport) -> dict[str, object]:
    landmarks: dict[str, object] | None
    match report.landmarks:
        case MeasuredLandmarks() as found:
            landmarks = asdict(found)
        case NotEnoughData() as lacking:
            landmarks = {"not_enough_data": lacking.reason, "n": lacking.n}
        case None:
            landmarks = None
        case _:
            assert_never(report.landmarks)
    return {
        "task": report.task,
        "items": report.items,
        "landmarks": landmarks,
        "points": [
            {
                "budget": point.budget,
                "quality": interval_json(point.quality),
                "fitted": point.fitted,
                "steps": point.steps,
                "p50_s": interval_json(point.p50),
                "p95_s": interval_json(point.p95),
            }
            for point in report.points
        ],
    }
