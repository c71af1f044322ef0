"""The grammar of ``unmask gate``: each action adds its own."""

import argparse

from unmask.cli.gate_decide_parser import add_compare, add_decide, add_plan
from unmask.cli.gate_exits import GATE_EXPLAINED
from unmask.cli.gate_generate_parser import add_generate
from unmask.cli.gate_job_parser import add_job
from unmask.cli.gate_review_parser import add_calibration, add_finding, add_review
from unmask.cli.gate_run_parser import add_run
from unmask.cli.gate_score_parser import add_score
from unmask.cli.gate_suite_parser import add_suite

ACTION_GRAMMARS = (
    add_suite,
    add_run,
    add_generate,
    add_score,
    add_decide,
    add_plan,
    add_compare,
    add_review,
    add_calibration,
    add_finding,
    add_job,
)  # fmt: skip


def add_gate_actions(gate: argparse.ArgumentParser) -> None:
    """Add every action; each sets ``action``."""
    gate.epilog = GATE_EXPLAINED
    actions = gate.add_subparsers(dest="action", required=True, metavar="ACTION")
    for add in ACTION_GRAMMARS:
        add(actions)
