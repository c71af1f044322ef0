"""The grammar of ``unmask policy``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_command, add_json
from unmask.cli.gate_decide_parser import add_looks

POLICY = "first digits of its digest, or its file"


def add_policy_commands(policy: argparse.ArgumentParser) -> None:
    """Add every act; each sets ``act``."""
    acts = policy.add_subparsers(dest="act", required=True, metavar="ACT")

    show = _act(acts, "show", "Show a policy, or the active ones.")
    show.add_argument("policy", nargs="?", metavar="POLICY", help=f"{POLICY} (default: the active ones)")

    diff = _act(acts, "diff", "Show what differs, field by field; caps and thresholds are marked.")
    diff.add_argument("policy", metavar="POLICY", help=f"the new one: {POLICY}")
    diff.add_argument("old", nargs="?", metavar="OLD", help="the old one (default: the active one of the same model)")

    export = _act(acts, "export", "Write a policy as YAML, to be changed and submitted again.", has_json=False)
    export.add_argument("policy", metavar="POLICY", help=POLICY)

    _act(acts, "example", "Write a commented example of a policy file.", has_json=False)

    propose = _act(acts, "propose", "Make a policy of measured curves, and put it into the folder.")
    _add_curves(propose)
    propose.add_argument(
        "--difficulty",
        type=Path,
        metavar="FILE",
        help="result of unmask tune difficulty (default: nothing is adaptive)",
    )
    propose.add_argument(
        "--exits", type=Path, metavar="FILE", help="result of unmask tune exit (default: nothing exits early)"
    )
    propose.add_argument(
        "--part",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a learned part that the policy is to name, such as a finality model; may be repeated",
    )
    add_signature(propose)
    advise = _act(acts, "advise", "Say which task types should be adaptive, and whether classes are borne out.")
    _add_curves(advise)
    advise.add_argument("--traffic", type=Path, metavar="FILE", help="requests that were served, to judge classes by")

    submit = _signed(_act(acts, "submit", "Hand a policy in for approval; a file is proposed first."), POLICY)
    submit.add_argument(
        "--replay", type=Path, metavar="FILE", help="old against new on the same control runs, for a changed exit"
    )
    approve = _signed(_act(acts, "approve", "Approve a submitted policy."), POLICY)
    approve.add_argument("--solo", action="store_true", help="approve a policy of your own; the log will show it")
    _signed(_act(acts, "reject", "Turn down a submitted or approved policy."), POLICY)
    promote = _signed(_act(acts, "promote", "Make an approved policy the active one."), POLICY)
    promote.add_argument(
        "--gate", metavar="RUN", help="folder or URL of a gate run that has to have passed under this policy"
    )
    add_looks(promote)
    _signed(
        _act(acts, "rollback", "Make an earlier policy active again."),
        "the one to go back to (default: the one that was active before)",
        needed=False,
    )

    history = _act(acts, "history", "List what was done, and by whom.")
    history.add_argument("policy", nargs="?", metavar="POLICY", help="with this policy only")

    audit = _act(acts, "audit", "Verify the log and every policy; exits with 1 when something was changed.")
    audit.add_argument("--head", metavar="DIGEST", help="an entry's digest noted earlier, which has to be there still")
    audit.add_argument("--repair", action="store_true", help="remove a last line that was never finished")


def _act(
    acts: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, description: str, *, has_json: bool = True
) -> argparse.ArgumentParser:
    parser = add_command(acts, name, description, until=";")
    add_store(parser)
    if has_json:
        add_json(parser)
    return parser


def _signed(parser: argparse.ArgumentParser, meaning: str, *, needed: bool = True) -> argparse.ArgumentParser:
    parser.add_argument("policy", nargs=None if needed else "?", metavar="POLICY", help=meaning)
    add_signature(parser)
    return parser


def add_signature(parser: argparse.ArgumentParser) -> None:
    """Add who acts, and what they have to say."""
    parser.add_argument("--as", dest="actor", metavar="NAME", help="who acts (default: the user of the system)")
    parser.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="file of the key that signs, - for stdin; needed where the setting keys is required",
    )
    parser.add_argument("--note", default="", metavar="TEXT", help="what the log should say of it")


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add which folder policies are in."""
    parser.add_argument("--policy-dir", metavar="DIR", help="folder of policies (default: the setting policy_dir)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="file of settings, as for serve")


def add_policy_source(parser: argparse.ArgumentParser) -> None:
    """Add which policy numbers are taken from."""
    parser.add_argument(
        "--policy", metavar="POLICY", help=f"whose budgets count: {POLICY} (default: what the curves propose)"
    )
    add_store(parser)


def _add_curves(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--curves", type=Path, metavar="DIR", help="curves of tuning items (default runs/curve-NAME)")
    parser.add_argument("--model", metavar="NAME", help="which model is served (default: the curves' own, else tiny)")
    parser.add_argument("--remote", metavar="FILE", help="file of models that other servers run, if those do")
