"""The grammar of ``unmask gate generate``."""

import argparse

from unmask.cli.arguments import add_json, number, whole
from unmask.cli.embeddings import add_embeddings
from unmask.cli.gate_exits import add_gate_action
from unmask.cli.policy_parser import POLICY, add_store
from unmask.types import Mode

SUITES = "a YAML or JSONL file, `example`, `example-ko`, or `generated` or `generated:SEED`"
MODES = {"diffusion": Mode.DIFFUSION, "ar": Mode.AUTOREGRESSIVE}
KINDS = ("openai", "unmask")
RETRIEVALS = ("typed", "naive")
FORMS = ("cards", "triples", "prose")


def add_generate(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    generate = add_gate_action(
        actions,
        "generate",
        "Ask every scenario of a suite and keep the answers, to be scored later. A run that was stopped goes on with "
        "--resume, which asks only what has no answer. What the infrastructure failed is kept apart and exits with 3.",
    )
    add_asking(generate)
    add_json(generate)


def add_asking(parser: argparse.ArgumentParser) -> None:
    """Add what says which systems are asked what, and how; also for whatever asks and goes on to score."""
    parser.add_argument("suite", metavar="SUITE", help=SUITES)
    parser.add_argument(
        "--model",
        required=True,
        metavar="MODEL",
        help="what is judged: an embedded model's name, or MODEL@URL of an OpenAI-compatible server",
    )
    parser.add_argument(
        "--weights",
        metavar="FOLDER|URL",
        help="weights of --model: a file or folder here, or one of object storage with its SHA256SUMS, such as "
        "s3://bucket/weights (default: those in the package)",
    )
    parser.add_argument("--against", metavar="MODEL", help="what it is judged against, written alike")
    for option, whose in (("--mode", "the model"), ("--against-mode", "what it is judged against")):
        parser.add_argument(option, choices=MODES, default="diffusion", help=f"how {whose} decodes (default diffusion)")
    parser.add_argument("--seeds", type=whole(1), default=3, metavar="N", help="how often all is asked (default 3)")
    parser.add_argument(
        "--concurrency", type=whole(1), default=8, metavar="N", help="requests that run at the same time (default 8)"
    )
    for option, whose in (("--key-env", "--model"), ("--against-key-env", "--against")):
        parser.add_argument(option, metavar="NAME", help=f"environment variable with the key for the server of {whose}")
    parser.add_argument(
        "--kind", choices=KINDS, default=KINDS[0], help="what servers are; `unmask` ones take --steps (default openai)"
    )
    parser.add_argument(
        "--temperature", type=number(0, 2), default=0.0, metavar="X", help="0, the default, takes the likeliest"
    )
    parser.add_argument("--steps", type=whole(1), metavar="N", help="most denoise steps of one canvas")
    parser.add_argument("--max-tokens", type=whole(1), metavar="N", help="most tokens of an answer")
    parser.add_argument(
        "--retrieval", choices=RETRIEVALS, default="typed", help="where facts come from (default typed)"
    )
    parser.add_argument(
        "--form", choices=FORMS, help="how facts are written (default cards, or prose where a server is asked)"
    )
    add_embeddings(parser)
    parser.add_argument("--limit", type=whole(1), metavar="N", help="ask the first N scenarios only")
    parser.add_argument("--out", metavar="FOLDER|URL", help="where answers go (default runs/gate-SUITE-MODEL-MODE)")
    parser.add_argument("--resume", action="store_true", help="go on with the run that the folder holds")
    parser.add_argument("--policy", metavar="POLICY", help=f"budget policy that the model is under: {POLICY}")
    add_store(parser)
