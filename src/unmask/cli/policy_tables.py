"""What ``unmask policy`` shows: tables for people, records for machines."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rich.table import Table
from rich.text import Text

from unmask.policy.changes import Change, Scalar
from unmask.policy.file import checked_document
from unmask.policy.log import Entry
from unmask.policy.policy import Policy
from unmask.policy.standing import SHORT, Life
from unmask.service import ClassTerms
from unmask.strategy import StrategyChoice
from unmask.types import ExitRule


def policy_record(digest: str, policy: Policy, life: Life | None) -> dict[str, object]:
    """Return a policy, and what became of it, for machines."""
    document = checked_document(policy).model_dump(mode="json", exclude_none=True)
    return {"digest": digest, "life": None if life is None else life_record(life), "policy": document}


def life_record(life: Life) -> dict[str, object]:
    """Return what became of a policy, for machines."""
    return {
        "digest": life.policy,
        "model": life.model,
        "model_digest": life.model_digest,
        "stage": life.stage,
        "authors": sorted(life.authors),
        "against": life.against,
        "approver": life.approver,
        "self_approved": life.self_approved,
        "promoted": None if life.promoted is None else life.promoted.isoformat(),
    }


def entry_record(folder: Path, entry: Entry) -> dict[str, object]:
    """Return an act, for machines."""
    deed, signature = entry.deed, entry.signature
    return {
        "folder": str(folder),
        "number": entry.number,
        "time": signature.time.isoformat(),
        "actor": signature.actor,
        "act": deed.act,
        "policy": deed.policy,
        "model": deed.model,
        "model_digest": deed.model_digest,
        "note": signature.note,
        "self_approval": deed.self_approval,
        "against": deed.against,
        "evidence": deed.evidence,
        "previous": entry.previous,
        "digest": entry.digest,
    }


def policy_tables(digest: str, policy: Policy, life: Life | None) -> tuple[Table, ...]:
    """Return a policy for people: what it is, its task types, its service classes."""
    of_classes = _classes(policy), _shares(policy), _searches(policy)
    tables = _head(digest, policy, life), _tasks(policy), _exits(policy), *of_classes
    return tuple(table for table in tables if table.row_count)


def diff_table(changes: Sequence[Change], exits: Sequence[str], old: str, new: str) -> Table:
    """Return what differs, and what each of it needs."""
    table = _table("field", old, new, "needs")
    for change in changes:
        needs = "approval, replay" if change.task in exits else "approval" if change.needs_approval else ""
        style = "bold" if change.needs_approval else ""
        table.add_row(Text(change.field, style), _scalar(change.old), _scalar(change.new), needs)
    return table


def history_table(entries: Sequence[tuple[bool, Entry]]) -> Table:
    """Return acts, oldest first; those of the package are marked."""
    table = _table("entry", "time", "who", "act", "policy", "model", "note")
    for is_packaged, entry in entries:
        deed, signature = entry.deed, entry.signature
        act = f"{deed.act} (of their own)" if deed.self_approval else str(deed.act)
        table.add_row(
            f"{'package ' if is_packaged else ''}{entry.number}",
            _time(signature.time),
            Text(signature.actor),
            f"{act} with replay" if deed.evidence is not None else act,
            deed.policy[:SHORT],
            f"{deed.model} {deed.model_digest}",
            Text(signature.note),
        )
    return table


def _head(digest: str, policy: Policy, life: Life | None) -> Table:
    table = _table("policy", digest)
    table.add_row("model", f"{policy.model} with weights {policy.model_digest}")
    table.add_row("stage", _stage(life))
    table.add_row("buckets", ", ".join(f"{entry.bucket} {entry.max_steps}" for entry in policy.buckets))
    table.add_row("difficulty", policy.difficulty or "not estimated")
    control = policy.control
    table.add_row(
        "control runs",
        f"{control.fraction:.1%} of requests; {control.young_fraction:.1%} until a task type has had "
        f"{control.young_until}",
    )
    return table


def _stage(life: Life | None) -> Text:
    if life is None:
        return Text("a file, never submitted")
    said = f"{life.stage}, by {', '.join(sorted(life.authors))}"
    if life.approver is not None:
        said += f", approved by {life.approver}{' (an author of it)' if life.self_approved else ''}"
    if life.promoted is not None:
        said += f", promoted {_time(life.promoted)}"
    return Text(said)


def _tasks(policy: Policy) -> Table:
    table = _table("task", "budget", "floor", "default", "ceiling", "strategy", "α", "shift")
    for task in policy.tasks:
        table.add_row(
            task.task,
            task.mode,
            *map(str, (task.floor, task.default, task.ceiling)),
            _strategy(task.strategy) + ("" if task.finality is None else " by finality"),
            f"{task.alpha:g}",
            f"{task.shift:g}",
        )
    return table


def _classes(policy: Policy) -> Table:
    table = _table("class", "prefers", "steps a canvas", "a request", "at the cap", "further attempts")
    for entry in policy.classes:
        is_default = entry.name == policy.default_class
        attempts = f"{entry.re_expansions}, each × {entry.re_expansion_factor:g}" if entry.re_expansions else "none"
        table.add_row(
            f"{entry.name}{' (default)' if is_default else ''}",
            entry.prefers,
            f"up to {entry.max_steps}",
            "" if entry.max_total_steps is None else f"up to {entry.max_total_steps}",
            entry.at_cap,
            attempts,
        )
    return table


def _shares(policy: Policy) -> Table:
    """Return what classes have of the machine; those that have nothing of their own are left out."""
    table = _table("class", "weight", "of the machine at least", "at most", "deadline", "too late", "under load")
    for entry in policy.classes:
        terms = entry.terms
        plain = replace(ClassTerms(), name=terms.name, is_interactive=terms.is_interactive)
        if terms != plain or entry.quality_floor is not None:
            table.add_row(
                entry.name,
                f"{terms.weight:g}",
                f"{terms.min_share:g}",
                f"{terms.max_share:g}",
                "whenever" if terms.deadline_s is None else f"{terms.deadline_s:g} s",
                "" if terms.deadline_s is None else "smaller bucket" if entry.smaller_bucket else "refused",
                "" if entry.quality_floor is None else f"quality level {entry.quality_floor} at the lowest",
            )
    return table


def _searches(policy: Policy) -> Table:
    """Return which requests are searched that ask for no search."""
    table = _table("class", "task", "search", "width", "from bucket")
    for entry in policy.classes:
        for search in entry.searches:
            table.add_row(entry.name, search.task, search.method, str(search.width), search.from_bucket or "all")
    return table


def _strategy(strategy: StrategyChoice | None) -> str:
    if strategy is None:
        return "the request's"
    threshold = "" if strategy.threshold is None else f" {strategy.threshold:g}"
    window = "" if strategy.window is None else f", window {strategy.window}"
    return f"{strategy.name}{threshold}{window}"


def _exits(policy: Policy) -> Table:
    table = _table("task", "exit", "where", "steps in a row", "from step", "misjudges")
    for task in policy.tasks:
        if task.exit is not None:
            table.add_row(
                task.task,
                "stops" if task.exit.enabled else "observes only",
                _rule(task.exit.rule),
                str(task.exit.rule.patience),
                str(task.exit.rule.min_steps),
                f"at most {task.exit.misjudgement_limit:.2%}",
            )
    return table


def _rule(rule: ExitRule) -> str:
    parts = [
        f"{condition.signal} {'≤' if condition.signal.is_small_when_done else '≥'} {condition.bound:g}"
        for condition in rule.conditions
    ]
    if rule.learned is not None:
        parts.append(f"learned score {rule.learned.version[:SHORT]} ≥ {rule.learned.threshold:g}")
    return "\n".join(parts)


def _scalar(value: Scalar) -> Text:
    match value:
        case None:
            return Text("(left out)", "dim")
        case bool():
            return Text(str(value).lower())
        case float():
            return Text(f"{value:.10g}")
        case _:
            return Text(str(value))


def _time(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S %Z")


def _table(*names: str) -> Table:
    table = Table()
    for name in names:
        table.add_column(Text(name), overflow="fold")
    return table
