"""``unmask gate review``."""

import argparse
import getpass
import sys

from unmask.cli.exits import UsageError
from unmask.cli.gate_exits import GateExit
from unmask.cli.gate_review_session import Session
from unmask.cli.gate_review_show import (
    answer_text,
    correction_record,
    disagreement_lines,
    list_line,
    mark_text,
    progress_text,
    run_record,
    word_text,
)
from unmask.cli.tools import Tools
from unmask.gate.correction import Correction, Decision, Ruling
from unmask.gate.review_errors import ReviewError
from unmask.gate.review_queue import ReviewItem
from unmask.gate.reviewed import ReviewedRun, Stratum, draw_audit, judged_of, open_reviewed


def run_review(args: argparse.Namespace, tools: Tools) -> int:
    """Draw, decide, list, show what is next, or ask at a terminal."""
    who = args.who or getpass.getuser()
    if args.audit_seed is not None and args.audit is None:
        raise UsageError("--audit-seed goes with --audit: say how many answers to draw")
    if args.audit is not None:
        draw_audit(args.run, args.audit, seed=args.audit_seed, who=who, when=tools.now())
    run = open_reviewed(args.run)
    _warn(run, tools)
    if args.decide:
        _decide(run, args, who, tools)
    elif args.next:
        _show_next(run, args, who, tools)
    elif args.list or args.json:
        _list(run, args, tools)
    elif sys.stdin.isatty():
        Session(
            who=who,
            tools=tools,
            run=run,
            wanted=lambda now: _wanted(now, args, who),
            read=lambda question: tools.err.input(question, markup=False),
        ).go()
    elif args.audit is not None:
        tools.say(progress_text(run))
    else:
        raise UsageError("there is no terminal to ask at: use --list, --next or --decide MARK=DECISION")
    return GateExit.PASS


def _wanted(run: ReviewedRun, args: argparse.Namespace, who: str) -> tuple[ReviewItem, ...]:
    return run.pending(_stratum(args), second=who if args.second else None)


def _stratum(args: argparse.Namespace) -> Stratum | None:
    return None if args.stratum is None else Stratum(args.stratum)


def _decide(run: ReviewedRun, args: argparse.Namespace, who: str, tools: Tools) -> None:
    """Add decisions; where one of them is none, nothing is added."""
    corrections = [_correction(run, text, args, who, tools) for text in args.decide]
    for correction in corrections:
        run.store.add(correction)
    now = run.refreshed()
    if args.json:
        tools.write_json(run_record(now, ()) | {"corrections": [correction_record(one) for one in corrections]})
        return
    for correction in corrections:
        tools.write(word_text(correction))
    tools.say(progress_text(now))


def _correction(run: ReviewedRun, text: str, args: argparse.Namespace, who: str, tools: Tools) -> Correction:
    name, _, decision = text.rpartition("=")
    allowed = [one.value for one in Decision]
    if decision not in allowed:
        raise ReviewError(f"{text[:80]!r} has no decision, allowed: MARK={', MARK='.join(allowed)}", param="decide")
    ruling = Ruling(decision=Decision(decision), value=args.value, note=args.note)
    return run.correction_of(judged_of(name), ruling, who=who, when=tools.now())


def _show_next(run: ReviewedRun, args: argparse.Namespace, who: str, tools: Tools) -> None:
    found = _wanted(run, args, who)[:1]
    if args.json:
        tools.write_json(run_record(run, found))
        return
    for item in found:
        tools.write(answer_text(item))
        tools.write(mark_text(item, run.standing.of_each.get(item.name, ())))
    tools.say(progress_text(run) if found else f"nothing more to judge; {progress_text(run)}")


def _list(run: ReviewedRun, args: argparse.Namespace, tools: Tools) -> None:
    items = run.items(_stratum(args))
    if args.json:
        tools.write_json(run_record(run, items))
        return
    for item in items:
        tools.write(list_line(run, item))
    for line in disagreement_lines(run):
        tools.write(line)
    tools.say(progress_text(run))


def _warn(run: ReviewedRun, tools: Tools) -> None:
    foreign = len(run.standing.foreign)
    if foreign:
        tools.say(
            f"{foreign} decisions are on answers that this run does not have, or has otherwise: they do not count"
        )
