"""The grammar of ``unmask bench``; its help shows what the bench takes that was named."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from unmask.cli.approximate import add_approximate
from unmask.cli.arguments import add_command, add_json, whole
from unmask.types import Precision

TRAINABLE = ("tiny", "nano")
MEASURES = (
    "engine",
    "model",
    "isolation",
    "batching",
    "policy",
    "ledger",
    "gateway",
    "gate",
    "search",
    "business",
    "speculation",
    "precision",
    "conversation",
    "layers",
    "scale",
)
ALL = "all"
BENCHES = (*MEASURES, "agreement", ALL)
OPTIONS_OF: Mapping[str, tuple[str, ...]] = {
    "policy": ("policy",),
    "policy_dir": ("policy",),
    "curves": ("policy",),
    "look_seed": ("policy",),
    "folder": ("policy", "gate", "search", "layers"),
    "report": ("gate",),
    "row": ("layers",),
    "checkpoint": ("agreement",),
    "approximate_cache": ("agreement",),
    "approximate_cache_refresh": ("agreement",),
    "items": ("agreement",),
    "steps": ("agreement",),
}
"""Which benches read an option."""


def takes(name: str, option: str) -> bool:
    """Tell whether a bench, or all of them together, reads an option of `OPTIONS_OF`."""
    return name == ALL or name in OPTIONS_OF[option]


def add_bench(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command with the options of all benches; `OPTIONS_OF` says which of them the named one takes."""
    bench = add_command(
        commands,
        "bench",
        "Measure alternatives side by side; exits with 1 when a target is missed.",
        add_help=False,
    )
    bench.add_argument("-h", "--help", nargs=0, action=_Help, default=argparse.SUPPRESS)
    _add_name(bench)
    _add_options(bench, ALL)


class _Help(argparse.Action):
    """Writes the help without what the bench does not take that was named before."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: object) -> NoReturn:
        shown = argparse.ArgumentParser(
            prog=f"{parser.prog} {namespace.name}" if namespace.name != ALL else parser.prog,
            description=parser.description,
            epilog=parser.epilog,
            formatter_class=parser.formatter_class,
        )
        if namespace.name == ALL:
            _add_name(shown)
        _add_options(shown, namespace.name)
        shown.print_help()
        parser.exit()


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", choices=BENCHES, default=ALL, help="which bench (default all)")


def _add_options(parser: argparse.ArgumentParser, name: str) -> None:
    _add_common(parser)
    if takes(name, "policy"):
        _add_policy(parser.add_argument_group("bench policy"))
    if takes(name, "folder"):
        parser.add_argument(
            "--folder",
            type=Path,
            metavar="DIR",
            help="journal of bench policy, gate, search or layers (default runs/bench-NAME-MODEL)",
        )
    if takes(name, "report"):
        gate = parser.add_argument_group("bench gate")
        gate.add_argument(
            "--report", type=Path, metavar="DIR", help="write the tables and pictures, as HTML and Markdown"
        )
    if takes(name, "checkpoint"):
        _add_agreement(parser.add_argument_group("bench agreement"))
    if takes(name, "row"):
        layers = parser.add_argument_group("bench layers")
        layers.add_argument("--row", metavar="NAME", help="measure one row alone; its figures are not kept")
    add_json(parser)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", choices=TRAINABLE, default=TRAINABLE[0], help="whose weights (default tiny)")
    parser.add_argument(
        "--precision",
        choices=[precision.value for precision in Precision],
        default=Precision.FLOAT32.value,
        help="of the engine's products, attention and KV pages (default float32)",
    )
    parser.add_argument("--quick", action="store_true", help="under a minute; its figures decide nothing")
    parser.add_argument("--seed", type=whole(), default=0, metavar="N", help="of items and order (default 0)")
    parser.add_argument("--records", type=Path, metavar="FILE", help="write one line for each item and alternative")


def _add_policy(policy: "argparse._ArgumentGroup") -> None:
    policy.add_argument("--policy", metavar="FILE|DIGEST", help="which policy (default: the active one of the model)")
    policy.add_argument("--policy-dir", metavar="DIR", help="folder of policies (default: the setting policy_dir)")
    policy.add_argument(
        "--curves",
        type=Path,
        metavar="FILE",
        help="measured curves (default runs/curve-MODEL/curves.json, if there)",
    )
    policy.add_argument(
        "--look-seed", type=whole(), metavar="N", help="of the test items (default --seed); see docs/bench-policy.md"
    )


def _add_agreement(agreement: "argparse._ArgumentGroup") -> None:
    agreement.add_argument("--checkpoint", type=Path, metavar="DIR", help="whose answers are compared")
    add_approximate(agreement)
    agreement.add_argument("--items", type=whole(1), metavar="N", help="different items (default 320)")
    agreement.add_argument("--steps", type=whole(1), metavar="N", help="of a canvas (default the checkpoint's)")
