"""``unmask controls``."""

import argparse
import getpass
import os
import time
from dataclasses import asdict
from typing import assert_never

from rich.table import Table

from unmask.app.control import record_folder
from unmask.cli.exits import Exit, UsageError
from unmask.cli.tools import Tools
from unmask.control.estimates import RuleEstimate, estimate_rules
from unmask.control.records import ControlRecord, Label, RecordFolder
from unmask.control.sources import short_digest
from unmask.errors import ConfigError
from unmask.stats import Interval, IntervalResult, NotEnoughData


def run_controls(args: argparse.Namespace, tools: Tools) -> int:
    """Show what controls say of exit rules, or one of them, or note what a person says of one."""
    folder = RecordFolder(args.folder or record_folder(os.environ))
    try:
        match args.action:
            case "show":
                _show(_find(folder, args.id), args, tools)
            case "label":
                folder.add(_label(_find(folder, args.id), args))
                tools.say(f"noted in {folder.path}")
            case _:
                _estimates(folder, args, tools)
    except OSError as error:
        raise ConfigError(f"{folder.path} cannot be used: {error.strerror or error}") from error
    return Exit.OK


def _find(folder: RecordFolder, wanted: str) -> ControlRecord:
    found = next((record for record in folder.controls().records if record.id == wanted), None)
    if found is None:
        raise UsageError(f"{wanted!r} is no control in {folder.path}. `unmask controls --json` lists them.")
    return found


def _show(record: ControlRecord, args: argparse.Namespace, tools: Tools) -> None:
    if args.json:
        tools.write_json(asdict(record))
        return
    for message in record.messages:
        tools.write(f"--- {message.role}\n{message.content}")
    tools.write(f"--- full run, {record.steps} steps\n{record.text}")
    if record.exit_text is not None:
        tools.write(f"--- exit, {record.exit_steps} steps\n{record.exit_text}")


def _label(record: ControlRecord, args: argparse.Namespace) -> Label:
    given, of_exit = args.verdict, args.exit_verdict
    if record.diverged and of_exit is None:
        raise UsageError(f"the texts of {record.id} differ, so both need a verdict: label {record.id} {given} fail")
    if not record.diverged and of_exit not in {None, given}:
        raise UsageError(f"the texts of {record.id} are the same, so one verdict holds for both: leave the second out")
    return Label(
        control=record.id,
        time=time.time(),
        by=getpass.getuser(),
        passed=given == "pass",
        exit_passed=(of_exit or given) == "pass",
    )


def _estimates(folder: RecordFolder, args: argparse.Namespace, tools: Tools) -> None:
    controls, labels, failures = folder.controls(), folder.labels(), folder.failures()
    found = estimate_rules(controls.records, labels.records)
    unreadable = controls.unreadable + labels.unreadable + failures.unreadable
    if args.json:
        tools.write_json(
            {
                "folder": str(folder.path),
                "rules": [_record(estimate) for estimate in found],
                "controls": [_listed(record) for record in controls.records],
                "failures": len(failures.records),
                "unreadable": unreadable,
            }
        )
        return
    if not found:
        tools.say(f"no control runs in {folder.path}: they are drawn where an approved policy has exit rules")
    else:
        tools.out.print(_table(found))
    tools.say(f"early-exited answers that failed their verifier: {len(failures.records)}; they are no random sample")
    if unreadable:
        tools.say(f"lines that could not be read: {unreadable}")


def _record(estimate: RuleEstimate) -> dict[str, object]:
    group = estimate.group
    return {
        "model": group.model,
        "model_digest": group.model_digest,
        "policy": group.policy,
        "task": group.task,
        "controls": estimate.controls,
        "exits": estimate.exits,
        "judged": estimate.judged,
        "judges": estimate.judges,
        **{name: _interval(rate) for name, rate in _rates(estimate).items()},
        "steps": estimate.steps,
        "extra_steps": estimate.extra_steps,
    }


def _rates(estimate: RuleEstimate) -> dict[str, IntervalResult]:
    return {
        "exit_rate": estimate.exit_rate,
        "misjudgement": estimate.misjudgement,
        "reverse": estimate.reverse,
        "both_wrong": estimate.both_wrong,
        "divergence": estimate.divergence,
    }


def _interval(result: IntervalResult) -> dict[str, object] | None:
    return asdict(result) if isinstance(result, Interval) else None


def _listed(record: ControlRecord) -> dict[str, object]:
    return {
        "id": record.id,
        "time": record.time,
        "task": record.task,
        "steps": record.steps,
        "exit_steps": record.exit_steps,
        "passed": record.passed,
        "exit_passed": record.exit_passed,
        "diverged": record.diverged,
    }


def _table(estimates: tuple[RuleEstimate, ...]) -> Table:
    table = Table(caption="exit rate: share of all controls; the other rates: of those that would have exited. 95 %")
    for name in ("task", "model", "policy", "controls", "exits", "judged", *_rates(estimates[0]), "extra steps"):
        table.add_column(name.replace("_", " "), overflow="fold")
    for one in estimates:
        judged = f"{one.judged} by {', '.join(one.judges)}" if one.judged else "0"
        table.add_row(
            one.group.task,
            one.group.model,
            short_digest(one.group.policy),
            str(one.controls),
            str(one.exits),
            judged,
            *(_shown(rate) for rate in _rates(one).values()),
            f"{one.extra_steps} of {one.steps}",
        )
    return table


def _shown(result: IntervalResult) -> str:
    match result:
        case Interval():
            return f"{result.estimate:.1%} ({result.low:.1%} to {result.high:.1%})"
        case NotEnoughData():
            return "not enough data"
        case _:
            assert_never(result)
