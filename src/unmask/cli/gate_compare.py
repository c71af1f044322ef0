"""``unmask gate compare``."""

import argparse

from unmask.cli.gate_exits import GateExit
from unmask.cli.gate_tables import changes_table
from unmask.cli.tools import Tools
from unmask.gate.artefacts import RunFolder
from unmask.gate.compare import RowChange, compare_runs
from unmask.gate.gate_file import read_gate
from unmask.gate.report_json import interval_json
from unmask.gate.scored_run import read_scored_run


def run_compare(args: argparse.Namespace, tools: Tools) -> int:
    """Split what changed into measurement and quality."""
    gate = read_gate(args.gate)
    old_gate = gate if args.old_gate is None else read_gate(args.old_gate)
    old, new = (read_scored_run(RunFolder(url)) for url in (args.old, args.new))
    rescored = old if args.rescored is None else read_scored_run(RunFolder(args.rescored))
    changes = compare_runs(old, rescored, new, gate, old_gate)
    if args.json:
        tools.write_json(
            {"old": old.binding.run, "new": new.binding.run, "rows": [_record(change) for change in changes]}
        )
    else:
        tools.out.print(changes_table(changes))
        tools.say("measurement: the same answers, scored anew; quality: new answers less old, scored alike")
    return GateExit.PASS


def _record(change: RowChange) -> dict[str, object]:
    return {
        "name": change.row.name,
        "old": interval_json(change.old),
        "rescored": interval_json(change.rescored),
        "new": interval_json(change.new),
        "measurement": interval_json(change.measurement),
        "quality": interval_json(change.quality),
        "verdicts": [None if verdict is None else verdict.value for verdict in change.verdicts],
    }
