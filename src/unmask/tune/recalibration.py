"""The kept report of a recalibration: why, what was proposed, and old against new. It is written once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import orjson

from unmask.tune.before_after import ALL, Comparison, comparison_json, comparison_rows
from unmask.tune.errors import CurveRunError, ResumeError
from unmask.tune.origin import Origin
from unmask.tune.propose import Source
from unmask.tune.report import settings_record
from unmask.tune.settings import CurveSettings

FORMAT: Literal["unmask.recalibration/1"] = "unmask.recalibration/1"
REPORT = "report.json"
TEXT = "report.md"
FIXED = "the built-in fixed budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """A recalibration as it is kept.

    Attributes:
        before: digest of the policy that was in force; ``None`` for the built-in fixed budget.
        after: digest of the one that was proposed.
        reasons: why it was made.
        sources: where each number of the new policy is from.
        service_class: that the compared requests were of.
        difficulty: the report of the estimator's tuning, if it was tuned.
    """

    model: str
    model_digest: str
    before: str | None
    after: str
    reasons: tuple[str, ...]
    origin: Origin
    curves: CurveSettings
    sources: tuple[Source, ...]
    service_class: str
    comparisons: tuple[Comparison, ...]
    difficulty: Mapping[str, object] | None


def refuse_finished(folder: Path) -> None:
    """Leave a folder alone that has a report.

    Raises:
        ResumeError: it has one.
    """
    if (folder / REPORT).exists():
        raise ResumeError(f"{str(folder)!r} holds a finished recalibration, which is kept; name another --folder")


def keep_report(folder: Path, found: Recalibration) -> None:
    """Write the report for people and the one for machines; the latter, which comes last, marks the end.

    Raises:
        ResumeError: there is one already.
        CurveRunError: it cannot be written.
    """
    refuse_finished(folder)
    partial = folder / f"{REPORT}.partial"
    try:
        (folder / TEXT).write_text("\n".join(report_lines(found)) + "\n", encoding="utf-8")
        partial.write_bytes(orjson.dumps(recalibration_json(found), option=orjson.OPT_INDENT_2) + b"\n")
        partial.rename(folder / REPORT)
    except OSError as error:
        raise CurveRunError(f"cannot write the report in {str(folder)!r}: {error}; free some space") from error


def recalibration_json(found: Recalibration) -> dict[str, object]:
    """Return the report for machines."""
    return {
        "format": FORMAT,
        "model": found.model,
        "model_digest": found.model_digest,
        "before": found.before,
        "after": found.after,
        "reasons": list(found.reasons),
        "origin": asdict(found.origin),
        "curves": settings_record(found.curves),
        "sources": [asdict(source) for source in found.sources],
        "service_class": found.service_class,
        "comparisons": [comparison_json(comparison) for comparison in found.comparisons],
        "difficulty": found.difficulty,
    }


def report_lines(found: Recalibration) -> Iterator[str]:
    """Yield the lines of the report for people, in Markdown."""
    yield f"# Recalibration of {found.model}"
    yield ""
    commit = "" if found.origin.commit is None else f"; commit {found.origin.commit}"
    yield f"Weights {found.model_digest}; {found.origin.date}; {found.origin.machine}{commit}."
    yield ""
    yield f"Before: {FIXED if found.before is None else f'policy `{found.before}`'}. After: policy `{found.after}`."
    yield ""
    yield "Why:"
    yield ""
    yield from (f"* {reason}" for reason in found.reasons)
    yield ""
    yield "## Old against new"
    yield ""
    yield (
        f"The same items of the test split under both, {found.comparisons[-1].items} in all, of the service class "
        f"{found.service_class}. Intervals are of 95 %; differences are item by item, new minus old. Misjudgement is "
        "the share of exits that are wrong where the same request's full run is right."
    )
    for comparison in found.comparisons:
        yield ""
        yield f"### {'All task types' if comparison.task == ALL else comparison.task}, {comparison.items} items"
        yield ""
        yield from _table(("", "before", "after", "difference"), comparison_rows(comparison))
    yield ""
    yield "## Where the new numbers are from"
    yield ""
    yield from _table(
        ("what", "value", "where from"), [(entry.place, entry.value, entry.source) for entry in found.sources]
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)
