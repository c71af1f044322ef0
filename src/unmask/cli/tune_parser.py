"""The grammar of ``unmask tune``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_command, add_json, number, whole
from unmask.cli.policy_parser import add_policy_source


def add_tune_parts(tune: argparse.ArgumentParser) -> None:
    """Add every part; each sets ``part``."""
    parts = tune.add_subparsers(dest="part", required=True, metavar="PART")
    _add_difficulty(parts)
    _add_classifier(parts)
    _add_finality(parts)
    _add_exit(parts)
    _add_replay(parts)
    _add_routing(parts)


def _add_difficulty(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    difficulty = add_command(
        parts,
        "difficulty",
        "Train a difficulty estimator and find how far budgets may fall. Needs curves of each split; exits with 3 when "
        "no task type has enough items.",
    )
    for split, use in (("tune", "trained on"), ("calibrate", "the shifts are found on"), ("test", "reported on")):
        difficulty.add_argument(
            f"--{split}", type=Path, required=True, metavar="DIR", help=f"curves of the {split} split: {use}"
        )
    difficulty.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="where estimator, shifts and figures go"
    )
    add_policy_source(difficulty)
    difficulty.add_argument(
        "--alpha", type=number(0, 1), metavar="X", help="largest loss allowed (default: the policy's, else 0.01)"
    )
    difficulty.add_argument(
        "--buckets", type=whole(1), nargs="+", metavar="N", help="steps of each bucket (default: the policy's)"
    )
    difficulty.add_argument(
        "--limits",
        action="append",
        default=[],
        metavar="TASK=FLOOR:CEILING",
        help="fewest and most steps of a task type (default: the policy's)",
    )
    difficulty.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of fitting (default 0)")
    add_json(difficulty)


def _add_classifier(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    classifier = add_command(
        parts, "classifier", "Measure how often the task type of a prompt is told right, by kind of prompt."
    )
    classifier.add_argument(
        "--items", type=whole(10), default=1000, metavar="N", help="prompts of each kind (default 1000)"
    )
    classifier.add_argument("--out", type=Path, metavar="FILE", help="write the measured reliability")
    classifier.add_argument("--seed", type=whole(), default=0, metavar="N", help="of the prompts (default 0)")
    add_json(classifier)


def _add_finality(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    finality = add_command(
        parts,
        "finality",
        "Train a score of whether a position's draft token is final. It learns from traced runs of the tuning split, "
        "and is judged against plain confidence on items of its own.",
    )
    _add_runs(finality)
    finality.add_argument(
        "--items", type=whole(1), default=300, metavar="N", help="different items a task type (default 300)"
    )
    finality.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the model goes")


def _add_exit(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    tuned = add_command(
        parts,
        "exit",
        "Find a strategy and an exit rule per task type. They are searched on the tuning split, and the one chosen is "
        "tested once on the calibration split; a rule stops requests only if its misjudgement is shown to be within "
        "the limit.",
    )
    _add_runs(tuned)
    tuned.add_argument(
        "--items", type=whole(10), default=2000, metavar="N", help="tuning items a task type (default 2000)"
    )
    tuned.add_argument(
        "--calibrate-items", type=whole(10), default=2000, metavar="N", help="items of the one test (default 2000)"
    )
    tuned.add_argument("--finality", type=Path, metavar="FILE", help="a finality model whose strategy is tried too")
    tuned.add_argument(
        "--misjudgement-limit",
        type=number(0, 1),
        default=0.01,
        metavar="X",
        help="largest upper bound of the misjudged share of exits (default 0.01)",
    )
    tuned.add_argument(
        "--quality-limit",
        type=number(0, 1),
        default=0.02,
        metavar="X",
        help="how far the lower end of quality may be below that at the ceiling (default 0.02)",
    )
    tuned.add_argument("--folder", type=Path, metavar="DIR", help="where all is kept (default runs/exit-NAME)")


def _add_replay(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    replay = add_command(
        parts,
        "replay",
        "Replay old against new exits on the control runs of the old policy. Controls are run again with a trace; the "
        "file is what `unmask policy submit --replay` takes.",
    )
    for name, meaning in (("old", "the active policy"), ("new", "the one to submit")):
        replay.add_argument(
            f"--{name}", required=True, metavar="POLICY", help=f"{meaning}: first digits of its digest, or its file"
        )
    replay.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the evidence goes")
    replay.add_argument(
        "--controls", type=Path, metavar="DIR", help="the control records (default: where unmask serve keeps them)"
    )
    replay.add_argument("--policy-dir", metavar="DIR", help="folder of policies (default: the setting policy_dir)")
    replay.add_argument(
        "--finality", type=Path, action="append", default=[], metavar="FILE", help="a learned part not stored yet"
    )
    _add_common(replay)


def _add_routing(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    routing = add_command(
        parts,
        "routing",
        "Fit a route over two models: predict whether the smaller one is right, and find from which probability on it "
        "may be tried first without losing more right answers than allowed. It is judged on the test split.",
    )
    routing.add_argument("--small", required=True, metavar="NAME", help="the smaller model")
    routing.add_argument("--large", required=True, metavar="NAME", help="the larger one, which serves what is left")
    routing.add_argument("--remote", metavar="FILE", help="file of models that other servers run, if those do")
    routing.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the fit goes")
    routing.add_argument("--task", action="append", metavar="TYPE", help="a task type; may be repeated (default all)")
    for name, default, use in (
        ("items", 1000, "items a task type that predictions are fitted to"),
        ("calibrate-items", 1000, "items a task type that thresholds are found on"),
        ("test-items", 1000, "items of all task types that it is judged on"),
    ):
        routing.add_argument(
            f"--{name}", type=whole(10), default=default, metavar="N", help=f"{use} (default {default})"
        )
    routing.add_argument(
        "--max-loss",
        type=number(0, 1),
        default=0.01,
        metavar="X",
        help="largest upper bound of the share of right answers lost on a task type (default 0.01)",
    )
    _add_common(routing)


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="tiny", metavar="NAME", help="which model answers (default tiny)")
    parser.add_argument("--task", action="append", metavar="TYPE", help="a task type; may be repeated (default all)")
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="a policy file whose ceilings are run at (default: the most steps)"
    )
    parser.add_argument("--canvas-length", type=whole(1), metavar="N", help="tokens of a canvas")
    _add_common(parser)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--in-flight", type=whole(1), default=16, metavar="N", help="requests that run at the same time (default 16)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of items and resampling (default 0)")
    add_json(parser)
