"""The grammar of ``unmask gate review``, ``calibration`` and ``finding``."""

from typing import TYPE_CHECKING

from unmask.cli.arguments import add_json, whole
from unmask.cli.gate_exits import add_gate_action

if TYPE_CHECKING:
    import argparse

RUN = "folder or URL of a scored run"
STRATA = ("targeted", "audit")
KINDS = ("scenario", "rubric", "threshold")
MIN_LABELS = 30


def add_review(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    review = add_gate_action(
        actions,
        "review",
        "Read answers and say whether their marks are right. Failed, borderline and unscored marks come first, then "
        "answers that chance picked (--audit). Decisions are added beside the run's scores and change none of them; "
        "of several on one mark the last counts. On a terminal it asks, mark by mark; elsewhere use --list, --next "
        "and --decide.",
    )
    review.add_argument("run", metavar="RUN", help=RUN)
    review.add_argument("--as", dest="who", metavar="NAME", help="who reviews (default: the user's login)")
    review.add_argument("--audit", type=whole(1), metavar="N", help="draw N answers in all by chance")
    review.add_argument("--audit-seed", type=whole(), metavar="N", help="of the first draw (default 0)")
    review.add_argument("--stratum", choices=STRATA, help="only what is in this stratum")
    review.add_argument(
        "--second", action="store_true", help="judge what others have judged, to see whether people agree"
    )
    review.add_argument(
        "--decide",
        action="append",
        default=[],
        metavar="MARK=DECISION",
        help="SCENARIO:SEED:SYSTEM:METRIC=correct, =wrong, =judge_error or =scenario_error; may be repeated",
    )
    review.add_argument("--value", type=float, metavar="X", help="with --decide: what the mark should be, 0 to 1")
    review.add_argument("--note", default="", metavar="TEXT", help="with --decide: why")
    review.add_argument("--next", action="store_true", help="show what is to be judged next, and ask nothing")
    review.add_argument("--list", action="store_true", help="list all there is to judge and what was decided")
    add_json(review)


def add_calibration(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    calibration = add_gate_action(
        actions,
        "calibration",
        "Say how often marks are right, and what rates would be without their mistakes. Rests on the random stratum "
        "of the review alone; it stands beside a gate's verdict and never replaces it.",
    )
    calibration.add_argument("run", metavar="RUN", help=RUN)
    calibration.add_argument(
        "--min-labels",
        type=whole(1),
        default=MIN_LABELS,
        metavar="N",
        help=f"labels of a kind below which nothing is told (default {MIN_LABELS})",
    )
    calibration.add_argument(
        "--known-wrong",
        action="append",
        default=[],
        metavar="METRIC=CAUGHT/ALL",
        help="answers made wrong on purpose: how many of them were marked so (default: those of the scoring)",
    )
    add_json(calibration)


def add_finding(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    finding = add_gate_action(
        actions,
        "finding",
        "Note what a review changes: a new scenario, a rubric or a threshold. A scenario is written to the suite file "
        "with a note on where it comes from; of the others the change is yours to make, and is noted beside the run.",
    )
    finding.add_argument("run", metavar="RUN", help=RUN)
    finding.add_argument(
        "--from",
        dest="corrections",
        nargs="+",
        required=True,
        metavar="CORRECTION",
        help="ids of the decisions it comes from, or their first digits",
    )
    finding.add_argument("--kind", required=True, choices=KINDS, help="what is changed")
    finding.add_argument("--to", required=True, metavar="FILE", help="the file that is changed")
    finding.add_argument("--suite", metavar="SUITE", help="of a scenario: the suite that the run asked")
    finding.add_argument("--id", metavar="NAME", help="of a scenario (default SCENARIO-review-DIGITS)")
    finding.add_argument("--question", metavar="TEXT", help="of a scenario: what its last turn asks instead")
    finding.add_argument("--as", dest="who", metavar="NAME", help="who found it (default: the user's login)")
    finding.add_argument("--note", default="", metavar="TEXT", help="what is changed and why")
    add_json(finding)
