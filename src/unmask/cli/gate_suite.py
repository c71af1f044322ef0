"""``unmask gate suite``."""

import argparse
from collections import Counter
from pathlib import Path

from rich.table import Table

from unmask.cli.exits import UsageError
from unmask.cli.gate_exits import GateExit
from unmask.cli.tools import Tools
from unmask.gate.generated import generated_suite
from unmask.gate.scenario import Suite
from unmask.gate.suite_files import warnings_of
from unmask.gate.suite_named import suite_named, write_suite


def run_suite(args: argparse.Namespace, tools: Tools) -> int:
    """Check a suite or make one, and say what is in it."""
    suite = _suite(args)
    for warning in warnings_of(suite):
        tools.say(f"warning: {warning}")
    if args.to is not None:
        write_suite(suite, args.to)
    if args.json:
        tools.write_json(_record(suite, args.to))
    else:
        tools.out.print(_table(suite))
        clusters = len(_clusters(suite))
        tools.say(
            f"{suite.id} of family {suite.family}: {len(suite.scenarios)} scenarios in {clusters} clusters over "
            f"{len(suite.worlds)} worlds, digest {suite.digest}"
        )
    if args.to is not None:
        tools.say(f"kept: {args.to}")
    return GateExit.PASS


def _suite(args: argparse.Namespace) -> Suite:
    if args.generate:
        if args.suite is not None:
            raise UsageError("--generate makes a suite; leave out SUITE, and say by --to where it goes")
        return generated_suite(args.seed, args.worlds)
    if args.suite is None:
        raise UsageError("name a suite to check, or make one with --generate")
    return suite_named(args.suite)


def _clusters(suite: Suite) -> set[str]:
    return {scenario.cluster for scenario in suite.scenarios}


def _table(suite: Suite) -> Table:
    table = Table(caption="clusters, not scenarios, are what intervals count")
    for name, justify in (("kind", "left"), ("scenarios", "right"), ("share", "right"), ("clusters", "right")):
        table.add_column(name, justify="right" if justify == "right" else "left")
    for kind, count in _kinds(suite).items():
        clusters = {scenario.cluster for scenario in suite.scenarios if scenario.kind.value == kind}
        table.add_row(kind, str(count), f"{count / len(suite.scenarios):.1%}", str(len(clusters)))
    return table


def _kinds(suite: Suite) -> dict[str, int]:
    return dict(sorted(Counter(scenario.kind.value for scenario in suite.scenarios).items()))


def _record(suite: Suite, to: Path | None) -> dict[str, object]:
    return {
        "id": suite.id,
        "family": suite.family,
        "digest": suite.digest,
        "scenarios": len(suite.scenarios),
        "clusters": len(_clusters(suite)),
        "worlds": {world_id: world.digest for world_id, world in suite.worlds.items()},
        "kinds": _kinds(suite),
        "warnings": list(warnings_of(suite)),
        "written": None if to is None else str(to),
    }
