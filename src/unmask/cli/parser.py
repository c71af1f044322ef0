"""The command line's grammar."""

import argparse
from collections.abc import Callable
from pathlib import Path

from unmask.cli.exits import EXPLAINED
from unmask.cli.settings import add_settings
from unmask.types import StrategyName

TRAINABLE = ("tiny", "nano")
BENCHES = ("engine", "model", "all")
VERDICTS = ("pass", "fail")
LEAST = -(1 << 63)
LARGEST = (1 << 63) - 1
"""Whole numbers fit into 64 bits, as JSON and the engine hold them."""
MOST_DIGITS = 100
"""Zeros in front included."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command; each sets ``command``."""
    parser = argparse.ArgumentParser(
        prog="unmask",
        description="Serve diffusion language models on a step budget.",
        epilog=EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_serve(commands)
    _add_config(commands)
    _add_generate(commands)
    _add_examples(commands)
    _add_models(commands)
    _add_controls(commands)
    _add_train(commands)
    _add_bench(commands)
    return parser


def _add_serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = _command(commands, "serve", "Answer HTTP requests in the manner of the OpenAI API.")
    add_settings(serve)


def _add_config(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    config = _command(
        commands,
        "config",
        "Show every setting of the server: its value, where that comes from and what it does. "
        "Takes the options of serve.",
    )
    config.add_argument("--example", action="store_true", help="write a commented settings file to stdout instead")
    _add_json(config)
    add_settings(config)


def _add_generate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    generate = _command(
        commands,
        "generate",
        "Answer one prompt. The text goes to stdout, all else to stderr. With --task the answer is checked, "
        "and a failed check exits with 1.",
    )
    generate.add_argument("prompt", nargs="?", metavar="PROMPT", help="what to ask; may be left out with --task")
    generate.add_argument("--model", default="tiny", metavar="NAME", help="which model answers (default tiny)")
    generate.add_argument("--system", metavar="TEXT", help="system message")
    generate.add_argument(
        "--task",
        metavar="TYPE",
        help="without PROMPT, ask a generated example of this task type; with it, verify the answer as this type",
    )
    budget = generate.add_argument_group("budget")
    budget.add_argument("--steps", type=_whole(1), metavar="N", help="most denoise steps of one canvas")
    budget.add_argument("--total-steps", type=_whole(1), metavar="N", help="most denoise steps of the answer")
    budget.add_argument("--canvas-length", type=_whole(1), metavar="N", help="tokens of a canvas")
    budget.add_argument("--max-tokens", type=_whole(1), metavar="N", help="most tokens of the answer")
    drawing = generate.add_argument_group("strategy and sampling")
    drawing.add_argument(
        "--strategy",
        choices=[name.value for name in StrategyName],
        help="which positions a step reveals (default low_confidence)",
    )
    drawing.add_argument("--threshold", type=_number(0), metavar="X", help="the strategy's threshold")
    drawing.add_argument("--temperature", type=_number(0, 2), metavar="X", help="0, the default, takes the likeliest")
    drawing.add_argument("--top-p", type=_number(0, 1), metavar="X", help="draw from the likeliest tokens only")
    drawing.add_argument("--seed", type=_whole(), default=0, metavar="N", help="of drawing and of --task (default 0)")
    drawing.add_argument("--ar", action="store_true", help="one token after the other, in place of canvases")
    generate.add_argument("--watch", action="store_true", help="show the canvas after every step")
    generate.add_argument(
        "--picture", type=Path, metavar="FILE", help="write what --watch shows as a moving picture, in SVG"
    )
    _add_json(generate)


def _add_examples(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    examples = _command(
        commands, "examples", "List prompts that the demonstration model knows, one a task type and difficulty."
    )
    examples.add_argument("--task", metavar="TYPE", help="of this task type only")
    examples.add_argument("--seed", type=_whole(), default=0, metavar="N", help="draws other examples (default 0)")
    _add_json(examples)


def _add_models(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    _add_json(_command(commands, "models", "List the models in the package."))


def _add_controls(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    controls = _command(commands, "controls", "Say how often exits were wrong, by the control runs of a server.")
    controls.add_argument(
        "--folder", type=Path, metavar="DIR", help="where the records are (default: where unmask serve keeps them)"
    )
    _add_json(controls)
    actions = controls.add_subparsers(dest="action", metavar="ACTION")
    show = actions.add_parser("show", help="show one control: its prompt and both of its texts")
    show.add_argument("id", metavar="ID", help="which control")
    label = actions.add_parser("label", help="say whether the texts of a control are right; this counts over verifiers")
    label.add_argument("id", metavar="ID", help="which control")
    label.add_argument("verdict", choices=VERDICTS, help="on the text of the full run")
    label.add_argument(
        "exit_verdict", nargs="?", choices=VERDICTS, help="on the text at the exit, where that is another"
    )


def _add_train(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    train = _command(commands, "train", "Train an embedded model.")
    train.add_argument("name", choices=TRAINABLE, help="which one")
    train.add_argument(
        "--minutes", type=_number(0), default=60.0, metavar="N", help="stop after this long (default 60)"
    )
    train.add_argument("--steps", type=_whole(1), metavar="N", help="stop after this many training steps instead")
    train.add_argument("--resume", action="store_true", help="go on from the folder's checkpoint")
    train.add_argument("--weights", type=Path, metavar="FILE", help="begin a new run from these weights")
    train.add_argument("--folder", type=Path, metavar="DIR", help="where state and log go (default runs/NAME)")
    train.add_argument("--seed", type=_whole(), default=0, metavar="N", help="of weights and data (default 0)")
    _add_json(train)


def _add_bench(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    bench = _command(commands, "bench", "Measure alternatives side by side; exits with 1 when a target is missed.")
    bench.add_argument("name", nargs="?", choices=BENCHES, default="all", help="which bench (default all)")
    bench.add_argument("--model", choices=TRAINABLE, default=TRAINABLE[0], help="whose weights (default tiny)")
    bench.add_argument("--quick", action="store_true", help="under a minute; its figures decide nothing")
    bench.add_argument("--seed", type=_whole(), default=0, metavar="N", help="of items and order (default 0)")
    bench.add_argument("--records", type=Path, metavar="FILE", help="write one line for each item and alternative")
    _add_json(bench)


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, description: str
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=description.split(". ", maxsplit=1)[0].rstrip("."),
        description=description,
        epilog=EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write one JSON object to stdout and nothing else")


def _whole(low: int = LEAST) -> Callable[[str], int]:
    """Return a parser of whole numbers from ``low`` to `LARGEST`."""

    def parse(text: str) -> int:
        is_whole = text.isascii() and text.removeprefix("-").isdecimal()
        # Python itself refuses to read numbers of thousands of digits.
        if not is_whole or len(text) > MOST_DIGITS or not low <= int(text) <= LARGEST:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {LARGEST}")
        return int(text)

    return parse


def _number(low: float, high: float = float("inf")) -> Callable[[str], float]:
    """Return a parser of finite numbers from ``low`` to ``high``."""

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not low <= number <= high or number == float("inf"):
            upto = "" if high == float("inf") else f" and at most {high:g}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number, at least {low:g}{upto}")
        return number

    return parse
