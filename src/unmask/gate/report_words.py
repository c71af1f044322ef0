"""What reports say of a row and a run, in the same words everywhere."""

from unmask.gate.counted import counted
from unmask.gate.picture import figure_text
from unmask.gate.response import System
from unmask.gate.score import Metric
from unmask.gate.verdict import GateReport, Paired, RowResult, Verdict
from unmask.stats import Interval

EXPLORATORY = "exploratory: these verdicts decide nothing"


def headline(report: GateReport) -> str:
    """The verdict in one line."""
    counts = [sum(result.verdict is verdict for result in report.rows) for verdict in Verdict]
    rows = len(report.rows)
    told = ", ".join(
        f"{n} of {counted(rows, 'row')} {verdict}" for n, verdict in zip(counts, Verdict, strict=True) if n
    )
    look = f"look {report.look.number}, intervals of {percent(report.look.confidence)}"
    note = f" ({EXPLORATORY})" if report.look.exploratory else ""
    return f"{report.verdict}{note}: {told}; {look}"


def interval_text(interval: Interval | None, metric: Metric) -> str:
    """An estimate with its interval."""
    if interval is None:
        return "none"
    seconds = metric is Metric.SECONDS
    low, high = (figure_text(end, seconds=seconds) for end in (interval.low, interval.high))
    return f"{figure_text(interval.estimate, seconds=seconds)} [{low}, {high}]"


def percent(share: float) -> str:
    """Write a confidence with as many digits as tell it from others: 95 %, 97.5 %, 99.9951 %."""
    return f"{100 * share:.4f}".rstrip("0").rstrip(".") + " %"


def basis_text(result: RowResult) -> str:
    """What a row's figure rests on."""
    counts = result.counts
    if not counts.answers:
        return "nothing"
    return f"{counted(counts.units, result.row.unit)}, {counted(counts.answers, 'answer')}, {counts.unscored} unscored"


def verdict_text(result: RowResult) -> str:
    """Why a row has its verdict, and what would decide it."""
    text = result.why
    if result.verdict is Verdict.INCONCLUSIVE and result.needed is not None:
        text += f"; a fresh run would be decided with about {counted(result.needed, result.row.unit)}"
    if not result.can_pass:
        text += "; with so few it can never pass"
    return text


def paired_text(paired: Paired | None) -> str:
    """How a row's model differs from what it is held against."""
    if paired is None:
        return ""
    difference = paired.difference
    ends = (
        "no interval"
        if difference is None
        else f"{difference.estimate:+.4f} [{difference.low:+.4f}, {difference.high:+.4f}]"
    )
    margin = "" if paired.verdict is None else f"; non-inferior: {paired.verdict}"
    return (
        f"{ends}{margin}; McNemar on clusters {paired.clusters[0]}:{paired.clusters[1]} p={paired.clusters_p:.3g}, "
        f"on scenarios {paired.scenarios[0]}:{paired.scenarios[1]} p={paired.scenarios_p:.3g}"
    )


def system_text(system: System) -> str:
    """What a system is."""
    policy = f", policy {system.policy}" if system.policy else ""
    # How a server decodes is its own affair: nobody asked it.
    where = f" at {system.url}" if system.url else f" ({system.mode})"
    return f"{system.model}{where}, weights {system.digest}{policy}"


def bound_to(report: GateReport) -> tuple[tuple[str, str], ...]:
    """What a decision is bound to, by name."""
    binding = report.binding
    return (
        ("run", binding.run),
        *((f"{system.label}", system_text(system)) for system in binding.systems),
        *((f"settings of {system.label}", " ".join(system.settings)) for system in binding.systems if system.settings),
        ("suite", f"{binding.family} {binding.suite}"),
        ("worlds", ", ".join(f"{world} {digest}" for world, digest in binding.worlds)),
        ("retrieval", binding.retrieval),
        ("revision", binding.revision or "outside of a repository"),
        ("seeds", ", ".join(map(str, binding.seeds))),
        ("gate", report.gate.digest),
        ("scoring", report.scorer),
        ("started", binding.started),
        ("decided", report.decided),
    )


def signed_text(difference: Interval | None) -> str:
    """Write a difference with its interval."""
    if difference is None:
        return "no interval"
    return f"{difference.estimate:+.4f} [{difference.low:+.4f}, {difference.high:+.4f}]"
