"""``unmask gate finding``."""

import argparse
import getpass
from pathlib import Path

from unmask.cli.exits import UsageError
from unmask.cli.gate_exits import GateExit
from unmask.cli.tools import Tools
from unmask.gate.correction import Correction
from unmask.gate.review_errors import ReviewError
from unmask.gate.review_finding import Finding, FindingKind, scenario_from
from unmask.gate.reviewed import ReviewedRun, open_reviewed
from unmask.gate.suite_append import append_scenario, scenario_of


def run_finding(args: argparse.Namespace, tools: Tools) -> int:
    """Write a scenario, or note a change of a rubric or threshold."""
    kind, to = FindingKind(args.kind), Path(args.to)
    run = open_reviewed(args.run)
    corrections = [_correction(run, digits) for digits in args.corrections]
    written = None
    if kind is FindingKind.SCENARIO:
        written = _write_scenario(run, corrections, args, to)
    else:
        _check_change(args, to)
    finding = Finding(
        kind=kind,
        run=run.binding.run,
        corrections=tuple(correction.id for correction in corrections),
        to=args.to,
        scenario=written,
        note=args.note.strip(),
        who=args.who or getpass.getuser(),
        when=tools.now().isoformat(),
    )
    run.store.add(finding)
    if args.json:
        tools.write_json({"finding": finding})
    else:
        tools.write(f"{written} added to {to}" if written else f"a change of the {kind} in {to} is noted")
    if kind is not FindingKind.SCENARIO:
        tools.say("answers that were seen before the change cannot pass by it: ask fresh scenarios")
    return GateExit.PASS


def _write_scenario(run: ReviewedRun, corrections: list[Correction], args: argparse.Namespace, to: Path) -> str:
    if len({correction.key.scenario for correction in corrections}) > 1:
        raise UsageError("a new scenario comes from one that was asked: name decisions on one scenario")
    first = corrections[0]
    source = scenario_of(to if args.suite is None else Path(args.suite), first.key.scenario)
    scenario = scenario_from(source, first, run=run.binding.run, name=args.id, question=args.question)
    append_scenario(to, scenario)
    return scenario.id


def _check_change(args: argparse.Namespace, to: Path) -> None:
    given = [option for option in ("suite", "id", "question") if getattr(args, option) is not None]
    if given:
        raise UsageError(f"--{given[0]} is of a scenario, and --kind is {args.kind}: leave one of them out")
    if not args.note.strip():
        raise UsageError(f"a change of a {args.kind} needs --note: say what is changed and why")
    if not to.is_file():
        raise UsageError(f"there is no file {str(to)!r}: --to names the file that has the {args.kind}")


def _correction(run: ReviewedRun, digits: str) -> Correction:
    found = [correction for correction in run.corrections if digits and correction.id.startswith(digits)]
    if len(found) != 1:
        which = "no decision" if not found else f"{len(found)} decisions"
        raise ReviewError(
            f"{digits[:40]!r} names {which}, allowed: the id of one, or its first digits. `unmask gate review RUN "
            "--list --json` has them",
            param="from",
        )
    return found[0]
