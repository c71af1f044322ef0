"""``unmask gate run``."""

import argparse

from unmask.cli.exits import UsageError
from unmask.cli.gate_decide import decide_folder
from unmask.cli.gate_generate import generate
from unmask.cli.gate_looks import look_log
from unmask.cli.gate_score import panel_of, score_folder
from unmask.cli.tools import Tools
from unmask.clock import Clock
from unmask.gate.gate_file import read_gate
from unmask.gate.reading.phrases import load_phrases
from unmask.gate.scorer import identity_of
from unmask.gate.suite_counts import hopeless
from unmask.gate.suite_named import suite_named
from unmask.gate.verdict import confidence_at


def run_run(args: argparse.Namespace, tools: Tools, clock: Clock | None = None) -> int:
    """Ask, score and decide; what cannot be read, or may not be decided on, is told before anything is asked."""
    gate, suite = read_gate(args.gate), suite_named(args.suite)
    if not suite.scenarios:
        raise UsageError(f"{args.suite} has no scenario, so there is nothing to decide on; add some")
    looks, scorer = look_log(args).read(), identity_of(load_phrases(), panel_of(args))
    if not args.exploratory:
        looks.refuse_changes(suite.family, {one.id for one in suite.scenarios[: args.limit]}, gate, scorer.digest)
    for warning in hopeless(suite, gate, confidence_at(0)):
        tools.say(f"warning: {warning}")
    generated = generate(args, tools, clock)
    score_folder(generated.folder, generated.suite, args, tools)
    return decide_folder(generated.folder, generated.suite, args, tools)
