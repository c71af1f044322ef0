"""``unmask gate plan``."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from unmask.cli.exits import UsageError
from unmask.cli.gate_exits import GateExit
from unmask.cli.gate_tables import plan_table
from unmask.cli.tools import Tools
from unmask.config.placed_yaml import read_placed
from unmask.gate.gate_file import Gate, read_gate
from unmask.gate.planning import Available, RowPlan, plan_gate
from unmask.gate.verdict import confidence_at


def run_plan(args: argparse.Namespace, tools: Tools) -> int:
    """Say what each row of a gate needs."""
    gate = read_gate(args.gate)
    confidence = confidence_at(args.look)
    plans = plan_gate(
        gate, rates_of(args.rates), confidence=confidence, power=args.power, available=_available(args, gate)
    )
    if args.json:
        tools.write_json({"confidence": confidence, "power": args.power, "rows": [_record(plan) for plan in plans]})
        return GateExit.PASS
    tools.out.print(plan_table(plans, args.power))
    all_pass = 1.0
    for plan in plans:
        all_pass *= 1.0 if plan.chance is None else plan.chance
    if any(plan.chance is not None for plan in plans):
        tools.say(f"all rows pass with a chance of {all_pass:.1%} if they are independent of one another")
    return GateExit.PASS


def rates_of(given: Sequence[str]) -> Mapping[str, float]:
    """Return rates by row, from ``ROW=RATE`` or from a file.

    Raises:
        UsageError: one is no number, or a file cannot be read.
    """
    found: dict[str, float] = {}
    for text in given:
        name, mark, rate = text.partition("=")
        for row, value in [(name, rate)] if mark else _rates_in(Path(text)):
            try:
                found[row] = float(str(value))
            except ValueError:
                raise UsageError(f"the rate of {row} is {value!r}, allowed: a number from 0 to 1") from None
    return found


def _rates_in(path: Path) -> list[tuple[str, object]]:
    try:
        document = read_placed(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"rates cannot be read from {path}: {error}; give ROW=RATE or a YAML file of such") from error
    if document.faults:
        raise UsageError(f"{path}:{document.faults[0].line}: {document.faults[0].message}")
    if document.root is None or not isinstance(document.root.plain, dict):
        raise UsageError(f"{path}:1: it holds no rates, allowed: a line such as `factual_precision: 0.98` a row")
    return list(document.root.plain.items())


def _available(args: argparse.Namespace, gate: Gate) -> Mapping[str, Available] | None:
    if args.suite is not None:
        # Here, so that a plan without a suite needs nothing of worlds.
        from unmask.gate.suite_counts import available_for
        from unmask.gate.suite_named import suite_named

        return available_for(suite_named(args.suite), gate)
    if args.clusters is None and args.scenarios is None:
        return None
    clusters = args.clusters or args.scenarios
    available = Available(clusters=clusters, scenarios=args.scenarios or clusters)
    return {row.name: available for row in gate.rows}


def _record(plan: RowPlan) -> dict[str, object]:
    return {
        "name": plan.row.name,
        "condition": plan.row.words,
        "expected": plan.rate,
        "needed": plan.needed,
        "unit": f"{plan.row.unit}s",
        "units": plan.units,
        "chance": plan.chance,
        "can_pass": plan.can_pass,
    }
