"""Exit codes of ``unmask gate``: a pipeline acts on them, so what could not be decided is never a verdict."""

import argparse
from collections.abc import Sequence
from enum import IntEnum


class GateExit(IntEnum):
    """How a gate command ended."""

    PASS = 0
    FAIL = 1
    INCONCLUSIVE = 2
    CANNOT_RUN = 3


GATE_EXPLAINED = """\
exit codes of unmask gate:
  0    PASS, or done
  1    FAIL
  2    INCONCLUSIVE
  3    wrong usage, unreadable files, or an infrastructure error: nothing was decided
  130  interrupted"""

_INTERRUPTED = 130


def add_gate_action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, description: str
) -> argparse.ArgumentParser:
    """Add an action of ``unmask gate`` whose help is the first sentence of its description."""
    return actions.add_parser(
        name,
        help=description.split(". ", maxsplit=1)[0].rstrip("."),
        description=description,
        epilog=GATE_EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_suite_of_run(parser: argparse.ArgumentParser) -> None:
    """Add what a run has asked, which its binding tells of suites in the package alone."""
    parser.add_argument(
        "--suite", metavar="SUITE", help="what was asked (default: whichever suite of the package the run is of)"
    )


def refused(code: int, argv: Sequence[str]) -> int:
    """Return the exit code of a command that ended by an error or by its arguments, for whatever command it is."""
    is_gate = bool(argv) and argv[0] == "gate"
    return GateExit.CANNOT_RUN if is_gate and code not in {0, _INTERRUPTED} else code


def unheard(command: str) -> int:
    """Return the exit code of a command whose reader left before all results were told: of a gate no verdict."""
    return GateExit.CANNOT_RUN if command == "gate" else 0
