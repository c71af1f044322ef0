"""``unmask gate decide``."""

import argparse
from pathlib import Path

import orjson

from unmask.cli.exits import UsageError
from unmask.cli.gate_exits import GateExit
from unmask.cli.gate_looks import look_log
from unmask.cli.gate_tables import print_report
from unmask.cli.tools import Tools
from unmask.gate.answers import answers_of
from unmask.gate.artefacts import RunFolder
from unmask.gate.gate_file import read_gate
from unmask.gate.report_html import report_html
from unmask.gate.report_json import report_record
from unmask.gate.report_junit import report_junit
from unmask.gate.report_markdown import report_markdown
from unmask.gate.scored_run import read_scored_run
from unmask.gate.verdict import GateReport, Verdict

DECISION = "decision.json"


def run_decide(args: argparse.Namespace, tools: Tools) -> int:
    """Decide on a scored run."""
    return decide_folder(RunFolder(args.run), args, tools)


def decide_folder(folder: RunFolder, args: argparse.Namespace, tools: Tools) -> int:
    """Decide on a folder's run, write what options ask for, and return the exit code."""
    gate = read_gate(args.gate)
    run = read_scored_run(folder)
    report = look_log(args).record(run, gate, tools.now(), exploratory=args.exploratory)
    record = report_record(report)
    if not report.look.exploratory:
        folder.write_text(DECISION, orjson.dumps(record, option=orjson.OPT_INDENT_2).decode() + "\n")
    if args.html is not None:
        _write(args.html, report_html(report, answers_of(gate, folder.responses(), run.scored)), tools)
    if args.junit is not None:
        _write(args.junit, report_junit(report, skip_inconclusive=args.skip_inconclusive), tools)
    if args.markdown is not None:
        _write(args.markdown, report_markdown(report), tools)
    if args.json:
        tools.write_json(record)
    else:
        print_report(report, tools)
    return exit_of_report(report)


def exit_of_report(report: GateReport) -> GateExit:
    """Return the exit code of a verdict; an exploratory one decides nothing."""
    if report.look.exploratory:
        return GateExit.INCONCLUSIVE
    match report.verdict:
        case Verdict.PASS:
            return GateExit.PASS
        case Verdict.FAIL:
            return GateExit.FAIL
        case Verdict.INCONCLUSIVE:
            return GateExit.INCONCLUSIVE


def _write(path: Path, text: str, tools: Tools) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; name another file") from error
    tools.say(f"written: {path}")
