"""The grammar of ``unmask gate run``."""

from typing import TYPE_CHECKING

from unmask.cli.arguments import add_json
from unmask.cli.gate_decide_parser import add_deciding
from unmask.cli.gate_exits import add_gate_action
from unmask.cli.gate_generate_parser import add_asking
from unmask.cli.gate_score_parser import add_scoring

if TYPE_CHECKING:
    import argparse


def add_run(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    run = add_gate_action(
        actions,
        "run",
        "Ask a suite, score the answers and decide, in one go. Its three parts are unmask gate generate, score and "
        "decide; a run that was stopped goes on with --resume.",
    )
    add_asking(run)
    add_scoring(run)
    add_deciding(run)
    add_json(run)
