"""The folder of policies, and what is named in it, as commands take them from their arguments."""

import argparse
import getpass
import os
import re
from pathlib import Path

from unmask.cli.exits import UsageError
from unmask.cli.tools import Tools
from unmask.config.file import find_file
from unmask.config.load import load_settings
from unmask.policy.digest import policy_digest
from unmask.policy.file import read_policy
from unmask.policy.folders import open_store
from unmask.policy.log import Signature
from unmask.policy.policy import Policy
from unmask.policy.store import PolicyStore

_DIGEST = re.compile("[0-9a-f]{1,64}")


def store_of(args: argparse.Namespace) -> PolicyStore:
    """Open the folder that options, environment or settings name."""
    given = {} if args.policy_dir is None else {"policy_dir": args.policy_dir}
    settings = load_settings(flags=given, environ=os.environ, file=find_file(Path(), args.config)).settings
    return open_store(settings.policy_dir, os.environ)


def named_policy(store: PolicyStore, text: str) -> Policy:
    """Return the policy of a digest's first digits, or of a file."""
    return store.policy(store.find(text)) if is_digest(text) else read_policy(Path(text))


def named_digest(store: PolicyStore, text: str) -> str:
    """Return the digest that a text begins or that the policy of a file has."""
    return store.find(text) if is_digest(text) else policy_digest(read_policy(Path(text)))


def is_digest(text: str) -> bool:
    """Tell a digest's digits from the name of a file."""
    return _DIGEST.fullmatch(text) is not None


def signature_of(args: argparse.Namespace, tools: Tools) -> Signature:
    """Return who acts now."""
    actor = args.actor
    if actor is None:
        try:
            actor = getpass.getuser()
        except (OSError, KeyError) as error:
            raise UsageError("the system does not tell who you are; say it with --as NAME") from error
    return Signature(actor=actor, time=tools.now(), note=args.note)
