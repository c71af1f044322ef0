"""The command line's grammar."""

import argparse
from pathlib import Path

from unmask.cli.approximate import add_approximate
from unmask.cli.arguments import Parser, add_command, add_json, budgets, number, whole
from unmask.cli.bench_parser import TRAINABLE, add_bench
from unmask.cli.cache_parser import add_cache_actions
from unmask.cli.deploy_parser import add_deploy_actions
from unmask.cli.exits import EXPLAINED
from unmask.cli.gate_parser import add_gate_actions
from unmask.cli.keys_parser import add_key_commands, add_tenant_commands
from unmask.cli.ledger_parser import add_ledger_actions
from unmask.cli.policy_parser import add_policy_commands
from unmask.cli.recalibrate_parser import add_recalibrate_options
from unmask.cli.settings import add_settings
from unmask.cli.strategy import add_strategy
from unmask.cli.tune_parser import add_tune_parts
from unmask.cli.world_parser import add_world_commands
from unmask.types import Device, Precision

ANY_MODEL = "which model answers: a name in the package, a checkpoint's folder, or OWNER/NAME on the Hub (default tiny)"
VERDICTS = ("pass", "fail")
SPLITS = ("tune", "calibrate", "test")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command; each sets ``command``."""
    parser: argparse.ArgumentParser = Parser(
        prog="unmask",
        description="Serve diffusion language models on a step budget.",
        epilog=EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_serve(commands)
    _add_config(commands)
    add_deploy_actions(add_command(commands, "deploy", "Run gateways and engines on more machines than one."))
    _add_generate(commands)
    _add_examples(commands)
    _add_models(commands)
    _add_policy(commands)
    add_key_commands(add_command(commands, "keys", "Make, show and end API keys."))
    add_tenant_commands(add_command(commands, "tenants", "Make tenants, and set their limits and service classes."))
    _add_controls(commands)
    _add_ledger(commands)
    _add_savings(commands)
    add_cache_actions(add_command(commands, "cache", "See how far answers from the cache can be trusted."))
    _add_train(commands)
    add_bench(commands)
    _add_curve(commands)
    add_tune_parts(add_command(commands, "tune", "Fit to measurements what budgets rest on."))
    _add_recalibrate(commands)
    add_gate_actions(add_command(commands, "gate", "Decide with intervals whether a model may go to production."))
    add_world_commands(add_command(commands, "world", "Check worlds of facts and bring them in from other formats."))
    return parser


def _add_serve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = add_command(commands, "serve", "Answer HTTP requests in the manner of the OpenAI API.")
    add_settings(serve)


def _add_config(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    config = add_command(
        commands,
        "config",
        "Show every setting of the server: its value, where that comes from and what it does. "
        "Takes the options of serve.",
    )
    config.add_argument("--example", action="store_true", help="write a commented settings file to stdout instead")
    add_json(config)
    add_settings(config)


def _add_generate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    generate = add_command(
        commands,
        "generate",
        "Answer one prompt. The text goes to stdout, all else to stderr. With --task the answer is checked, "
        "and a failed check exits with 1.",
    )
    generate.add_argument("prompt", nargs="?", metavar="PROMPT", help="what to ask; may be left out with --task")
    generate.add_argument(
        "--model",
        default="tiny",
        metavar="NAME",
        help=ANY_MODEL,
    )
    generate.add_argument(
        "--precision",
        choices=[precision.value for precision in Precision],
        help="of products, attention and KV pages (default float32, of a checkpoint its own)",
    )
    generate.add_argument(
        "--device",
        choices=[device.value for device in Device],
        default=Device.AUTO.value,
        help="where a checkpoint runs (default auto: a CUDA device where there is one)",
    )
    add_approximate(generate)
    generate.add_argument("--system", metavar="TEXT", help="system message")
    generate.add_argument(
        "--task",
        metavar="TYPE",
        help="without PROMPT, ask a generated example of this task type; with it, verify the answer as this type",
    )
    budget = generate.add_argument_group("budget")
    budget.add_argument("--steps", type=whole(1), metavar="N", help="most denoise steps of one canvas")
    budget.add_argument("--total-steps", type=whole(1), metavar="N", help="most denoise steps of the answer")
    budget.add_argument("--canvas-length", type=whole(1), metavar="N", help="tokens of a canvas")
    budget.add_argument("--max-tokens", type=whole(1), metavar="N", help="most tokens of the answer")
    drawing = generate.add_argument_group("strategy and sampling")
    add_strategy(drawing, "default low_confidence")
    drawing.add_argument("--temperature", type=number(0, 2), metavar="X", help="0, the default, takes the likeliest")
    drawing.add_argument("--top-p", type=number(0, 1), metavar="X", help="draw from the likeliest tokens only")
    drawing.add_argument("--seed", type=whole(), default=0, metavar="N", help="of drawing and of --task (default 0)")
    drawing.add_argument("--ar", action="store_true", help="one token after the other, in place of canvases")
    drawing.add_argument(
        "--speculative", action="store_true", help="the answer of --ar in fewer steps: a canvas drafts ahead"
    )
    generate.add_argument("--watch", action="store_true", help="show the canvas after every step")
    generate.add_argument(
        "--picture", type=Path, metavar="FILE", help="write what --watch shows as a moving picture, in SVG"
    )
    add_json(generate)


def _add_examples(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    examples = add_command(
        commands, "examples", "List prompts that the demonstration model knows, one a task type and difficulty."
    )
    examples.add_argument("--task", metavar="TYPE", help="of this task type only")
    examples.add_argument("--seed", type=whole(), default=0, metavar="N", help="draws other examples (default 0)")
    add_json(examples)


def _add_models(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add_json(add_command(commands, "models", "List the models in the package."))


def _add_policy(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    policy = add_command(commands, "policy", "Show, change and approve budget policies; every act is in a log.")
    add_policy_commands(policy)


def _add_controls(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    controls = add_command(commands, "controls", "Say how often exits were wrong, by the control runs of a server.")
    controls.add_argument(
        "--folder", type=Path, metavar="DIR", help="where the records are (default: where unmask serve keeps them)"
    )
    add_json(controls)
    actions = controls.add_subparsers(dest="action", metavar="ACTION")
    show = actions.add_parser("show", help="show one control: its prompt and both of its texts")
    show.add_argument("id", metavar="ID", help="which control")
    label = actions.add_parser("label", help="say whether the texts of a control are right; this counts over verifiers")
    label.add_argument("id", metavar="ID", help="which control")
    label.add_argument("verdict", choices=VERDICTS, help="on the text of the full run")
    label.add_argument(
        "exit_verdict", nargs="?", choices=VERDICTS, help="on the text at the exit, where that is another"
    )


def _add_ledger(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add_ledger_actions(add_command(commands, "ledger", "Say what was spent, and prove that the books are in order."))


def _add_savings(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    savings = add_command(
        commands, "savings", "Show every saving with the quality that was measured beside it, or keep new figures."
    )
    add_json(savings)
    actions = savings.add_subparsers(dest="action", metavar="ACTION")
    keep = actions.add_parser("keep", help="keep the figures of savings that a bench has measured")
    keep.add_argument("file", type=Path, metavar="FILE", help="what unmask bench --json wrote")


def _add_train(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    train = add_command(commands, "train", "Train an embedded model.")
    train.add_argument("name", choices=TRAINABLE, help="which one")
    train.add_argument("--minutes", type=number(0), default=60.0, metavar="N", help="stop after this long (default 60)")
    train.add_argument("--steps", type=whole(1), metavar="N", help="stop after this many training steps instead")
    train.add_argument("--resume", action="store_true", help="go on from the folder's checkpoint")
    train.add_argument("--weights", type=Path, metavar="FILE", help="begin a new run from these weights")
    train.add_argument("--folder", type=Path, metavar="DIR", help="where state and log go (default runs/NAME)")
    train.add_argument("--seed", type=whole(), default=0, metavar="N", help="of weights and data (default 0)")
    add_json(train)


def _add_curve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    curve = add_command(
        commands,
        "curve",
        "Measure what denoise steps buy, per task type: quality and latency at every budget of a grid, and where they "
        "collapse, bend and saturate.",
    )
    curve.add_argument(
        "--model",
        default="tiny",
        metavar="NAME",
        help=ANY_MODEL,
    )
    curve.add_argument("--remote", metavar="FILE", help="file of models that other servers run, if those do")
    curve.add_argument(
        "--tasks", type=Path, metavar="FILE", help="items of your own, a JSON object a line (default: the package's)"
    )
    curve.add_argument(
        "--criteria", type=Path, metavar="FILE", help="what counts as a failure of them (default: marked as such)"
    )
    curve.add_argument("--task", action="append", metavar="TYPE", help="a task type; may be repeated (default all)")
    curve.add_argument(
        "--items", type=whole(1), default=2000, metavar="N", help="different items a task type (default 2000)"
    )
    curve.add_argument(
        "--split",
        choices=SPLITS,
        default=SPLITS[0],
        help="which items (default tune); budgets are chosen on tuning items alone",
    )
    curve.add_argument(
        "--grid",
        type=budgets,
        metavar="N,N,...",
        help="budgets, the first 1 and the last the canvas length (default 1,2,3,4,6,8,...)",
    )
    add_strategy(curve)
    curve.add_argument(
        "--exits", type=Path, metavar="FILE", help="give each task type the strategy that its exit was tuned with"
    )
    curve.add_argument("--canvas-length", type=whole(1), metavar="N", help="tokens of a canvas")
    curve.add_argument(
        "--in-flight", type=whole(1), default=16, metavar="N", help="requests that run at the same time (default 16)"
    )
    curve.add_argument("--folder", type=Path, metavar="DIR", help="where all is kept (default runs/curve-NAME)")
    curve.add_argument("--resume", action="store_true", help="go on with the run that the folder holds")
    curve.add_argument("--seed", type=whole(), default=0, metavar="N", help="of items, order, resampling (default 0)")
    add_json(curve)


def _add_recalibrate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    recalibrate = add_command(
        commands,
        "recalibrate",
        "Measure anew, propose a policy, and keep a report of old against new. With --check, only say whether that is "
        "due: exits with 0 when not, 1 when it is, 3 when there is not enough data.",
    )
    add_recalibrate_options(recalibrate)
    add_json(recalibrate)
