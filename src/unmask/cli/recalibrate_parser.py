"""The grammar of ``unmask recalibrate``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import budgets, whole
from unmask.cli.policy_parser import add_signature, add_store
from unmask.cli.strategy import add_strategy


def add_recalibrate_options(recalibrate: argparse.ArgumentParser) -> None:
    """Add every option but ``--json``."""
    recalibrate.add_argument("--model", default="tiny", metavar="NAME", help="which model (default tiny)")
    recalibrate.add_argument(
        "--controls", type=Path, metavar="DIR", help="records of control runs (default: where unmask serve keeps them)"
    )
    add_store(recalibrate)
    recalibrate.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of all that is drawn (default 0)")

    check = recalibrate.add_argument_group("whether it is due")
    check.add_argument("--check", action="store_true", help="only say whether it is due, by the control runs")
    check.add_argument(
        "--reference",
        type=whole(500),
        default=500,
        metavar="N",
        help="first controls of a task type after the promotion, that later ones are compared with (default 500)",
    )
    check.add_argument(
        "--recent", type=whole(500), default=2000, metavar="N", help="most of the later ones, the latest (default 2000)"
    )

    measure = recalibrate.add_argument_group("measuring")
    measure.add_argument(
        "--items", type=whole(1), default=2000, metavar="N", help="items a task type for each curve (default 2000)"
    )
    measure.add_argument("--grid", type=budgets, metavar="N,N,...", help="budgets, as for curve")
    add_strategy(measure, "default: that of each task type in the active policy")
    measure.add_argument(
        "--in-flight", type=whole(1), default=16, metavar="N", help="requests that run at the same time (default 16)"
    )
    measure.add_argument(
        "--difficulty", action="store_true", help="tune the difficulty estimator anew, on two more curves"
    )
    measure.add_argument(
        "--exits", type=Path, metavar="FILE", help="exit rules (default: the active policy's that still fit)"
    )
    measure.add_argument(
        "--compare-items",
        type=whole(1),
        default=500,
        metavar="N",
        help="test items a task type that both policies answer (default 500)",
    )
    measure.add_argument(
        "--folder", type=Path, metavar="DIR", help="where all is kept (default runs/recalibrate-NAME-DATE)"
    )
    measure.add_argument("--resume", action="store_true", help="go on where a run was cut short")
    add_signature(recalibrate)
