"""``unmask gate calibration``."""

import argparse
import re
from typing import assert_never

from rich.table import Table

from unmask.cli.exits import UsageError
from unmask.cli.gate_exits import GateExit
from unmask.cli.gate_review_show import progress_text
from unmask.cli.intervals import interval_record
from unmask.cli.tools import Tools
from unmask.gate.bar import REVIEWED
from unmask.gate.judge_quality import Calibration, KnownWrong, SpecificitySource, SystemRate, calibrations
from unmask.gate.known_wrong_counts import known_wrong_of
from unmask.gate.reviewed import open_reviewed
from unmask.gate.rogan_gladen import CorrectedRate, NoBetterThanChance, RateResult
from unmask.gate.score import Metric
from unmask.stats import Interval, IntervalResult, NotEnoughData

_KNOWN_WRONG = re.compile(r"([a-z_]+)=([0-9]{1,9})/([0-9]{1,9})")
_METRICS = ", ".join(REVIEWED)


def run_calibration(args: argparse.Namespace, tools: Tools) -> int:
    """Say how good the marks of a run are."""
    given = dict(_known_wrong(text) for text in args.known_wrong)
    run = open_reviewed(args.run)
    known_wrong = {**known_wrong_of(run.folder, run.scores), **given}
    found = calibrations(run.queue, run.scores, run.standing, known_wrong, min_labels=args.min_labels)
    if args.json:
        tools.write_json(
            {
                "run": run.binding.run,
                "confidence": 0.95,
                "min_labels": args.min_labels,
                "metrics": [calibration_record(one) for one in found],
            }
        )
        return GateExit.PASS
    tools.out.print(label_table(found))
    tools.out.print(figure_table(found))
    tools.say(progress_text(run))
    for line in _remarks(found):
        tools.say(line)
    return GateExit.PASS


def label_table(found: tuple[Calibration, ...]) -> Table:
    """Return what people judged, a row a metric."""
    table = Table(title="judged by people")
    for name in ("metric", "failed, borderline, unscored", "random audit", "labels used"):
        table.add_column(name, overflow="fold")
    for one in found:
        audit = one.audit
        judged = f"{audit.judged} of {audit.of}"
        table.add_row(one.metric, f"{one.targeted} of {one.targeted_of}", judged, str(len(audit.labels)))
    return table


def figure_table(found: tuple[Calibration, ...]) -> Table:
    """Return how good marks are, and what rates of passes would be without their mistakes, a row a figure."""
    table = Table(
        title="marks against people",
        caption="95 %; in brackets after not enough data: how many there are. Of hallucination, right is what says "
        "nothing false. Corrected rates decide nothing.",
    )
    for name in ("metric", "figure", "value"):
        table.add_column(name, overflow="fold")
    for one in found:
        table.add_row(one.metric, "right ones that pass (sensitivity)", _shown(one.sensitivity))
        table.add_row("", "wrong ones that fail (specificity)", _shown(one.specificity))
        table.add_row("", "known wrong ones that fail", _shown(one.caught))
        table.add_row("", "reviewers agree", _shown(one.agreement))
        for rate in one.systems:
            table.add_row("", f"{rate.system} passes, by marks", _shown(rate.raw))
            table.add_row("", f"{rate.system} passes, by people", _shown(rate.people))
            table.add_row("", f"{rate.system} passes, {_corrected_by(one)}", _rate(rate.corrected), end_section=True)
    return table


def _corrected_by(one: Calibration) -> str:
    match one.source:
        case SpecificitySource.KNOWN_WRONG:
            return "corrected by known wrong ones"
        case SpecificitySource.AUDIT | None:
            return "corrected"
        case _:
            assert_never(one.source)


def calibration_record(one: Calibration) -> dict[str, object]:
    """Return all of a metric's figures, for machines."""
    audit = one.audit
    return {
        "metric": one.metric,
        "targeted": {"judged": one.targeted, "of": one.targeted_of},
        "audit": {"judged": audit.judged, "of": audit.of, "used": len(audit.labels), "left_out": audit.left_out},
        "sensitivity": interval_record(one.sensitivity),
        "specificity": interval_record(one.specificity),
        "known_wrong_caught": interval_record(one.caught),
        "specificity_source": one.source,
        "agreement": interval_record(one.agreement),
        "systems": [_system_record(rate) for rate in one.systems],
    }


def _system_record(rate: SystemRate) -> dict[str, object]:
    return {
        "system": rate.system,
        "raw": interval_record(rate.raw),
        "people": interval_record(rate.people),
        "corrected": _corrected_record(rate.corrected),
    }


def _corrected_record(result: RateResult) -> dict[str, object]:
    match result:
        case CorrectedRate():
            return {
                "estimate": result.estimate,
                "low": result.low,
                "high": result.high,
                "untruncated": result.untruncated,
                "truncated": result.is_truncated,
            }
        case NoBetterThanChance():
            return {
                "no_better_than_chance": True,
                "sensitivity": result.sensitivity,
                "specificity": result.specificity,
            }
        case NotEnoughData():
            return interval_record(result)
        case _:
            assert_never(result)


def _rate(result: RateResult) -> str:
    match result:
        case CorrectedRate():
            cut = f", cut from {result.untruncated:.1%}" if result.is_truncated else ""
            return f"{result.estimate:.1%} ({result.low:.1%} to {result.high:.1%}{cut})"
        case NoBetterThanChance():
            return "judge no better than chance"
        case NotEnoughData():
            return _shown(result)
        case _:
            assert_never(result)


def _shown(result: IntervalResult) -> str:
    match result:
        case Interval():
            return f"{result.estimate:.1%} ({result.low:.1%} to {result.high:.1%})"
        case NotEnoughData():
            return f"not enough data ({result.n})"
        case _:
            assert_never(result)


def _remarks(found: tuple[Calibration, ...]) -> list[str]:
    remarks = [
        f"{one.metric}: {one.audit.left_out} judged marks of the random stratum wait behind one that nobody judged: "
        "only the beginning of the draw is a random sample. `unmask gate review RUN --stratum audit` closes the gap"
        for one in found
        if one.audit.left_out
    ]
    if any(isinstance(rate.corrected, NoBetterThanChance) for one in found for rate in one.systems):
        remarks.append(
            "a judge no better than chance passes wrong answers as often as right ones: its rates say nothing"
        )
    return remarks


def _known_wrong(text: str) -> tuple[Metric, KnownWrong]:
    parts = _KNOWN_WRONG.fullmatch(text)
    if parts is None or parts[1] not in REVIEWED or int(parts[2]) > int(parts[3]):
        raise UsageError(f"--known-wrong is {text[:80]!r}, allowed: METRIC=CAUGHT/ALL, with one of {_METRICS}")
    return Metric(parts[1]), KnownWrong(caught=int(parts[2]), of=int(parts[3]))
