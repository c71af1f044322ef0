"""The grammar of ``unmask gate job``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_json, number, whole
from unmask.cli.gate_exits import GATE_EXPLAINED, add_gate_action

LONGEST_H = 24.0 * 28


def add_job(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    job = add_gate_action(
        actions,
        "job",
        "Run gate generate in a container that is started, works and is taken down: a training job of Amazon "
        "SageMaker. Answers go to object storage and are scored from there.",
    )
    acts = job.add_subparsers(dest="act", required=True, metavar="ACT")
    _add_write(acts)
    _add_check(acts)


def _add_write(acts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    write = _act(acts, "write", "Write the request of a job as JSON, to be read, changed and submitted.")
    write.add_argument("--name", required=True, metavar="NAME", help="of the job; each in an account has its own")
    write.add_argument("--image", required=True, metavar="IMAGE", help="container image in ECR that has unmask in it")
    write.add_argument("--role", required=True, metavar="ARN", help="role of the container: what it may read and write")
    write.add_argument("--instance", required=True, metavar="TYPE", help="machine, such as ml.g5.xlarge")
    write.add_argument(
        "--volume", type=whole(1), default=50, metavar="GB", help="disk, where weights are fetched to (default 50)"
    )
    write.add_argument(
        "--hours", type=number(0.1, LONGEST_H), default=4.0, metavar="X", help="stopped after so long (default 4)"
    )
    write.add_argument(
        "--spot", type=number(0, LONGEST_H), metavar="HOURS", help="take spot capacity, and wait up to so long for it"
    )
    write.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="variable of the container, which anyone sees who may see the job; may be repeated",
    )
    write.add_argument("--to", type=Path, metavar="FILE", help="where it goes (default stdout)")
    write.add_argument(
        "asking",
        nargs="+",
        metavar="ARGUMENT",
        help="after --, what unmask gate generate is given: SUITE, --model, --out s3://... and whatever else; --resume "
        "is added, so that an interrupted job goes on",
    )


def _add_check(acts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = _act(
        acts, "check", "Compare a job file with the service's own model of it. Nothing is sent without --submit."
    )
    check.add_argument("file", type=Path, metavar="FILE", help="a request as unmask gate job write makes it")
    check.add_argument("--submit", action="store_true", help="begin the job, which costs money")
    check.add_argument("--region", metavar="NAME", help="of AWS (default: as for any AWS tool)")
    add_json(check)


def _act(
    acts: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, description: str
) -> argparse.ArgumentParser:
    return acts.add_parser(
        name,
        help=description.split(". ", maxsplit=1)[0].rstrip("."),
        description=description,
        epilog=GATE_EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
