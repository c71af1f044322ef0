"""The folder of policies, and what is named in it, as commands take them from their arguments."""

import argparse
import getpass
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from unmask.cli.exits import UsageError
from unmask.cli.tools import Tools
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.config.file import find_file
from unmask.config.load import load_settings
from unmask.policy.digest import policy_digest
from unmask.policy.file import read_policy
from unmask.policy.folders import open_store
from unmask.policy.log import Signature
from unmask.policy.policy import Policy
from unmask.policy.store import PolicyStore
from unmask.tenants.role import KeyRole

ACTORS = (KeyRole.OPERATOR, KeyRole.APPROVER)
"""Roles of whoever may propose, submit and promote."""
APPROVERS = (KeyRole.APPROVER,)
"""Roles of whoever may approve and reject."""
_DIGEST = re.compile("[0-9a-f]{1,64}")


def store_of(args: argparse.Namespace) -> PolicyStore:
    """Open the folder that options, environment or settings name."""
    return open_store(settings_of(args).policy_dir, os.environ)


def named_policy(store: PolicyStore, text: str) -> Policy:
    """Return the policy of a digest's first digits, or of a file."""
    return store.policy(store.find(text)) if is_digest(text) else read_policy(Path(text))


def named_digest(store: PolicyStore, text: str) -> str:
    """Return the digest that a text begins or that the policy of a file has."""
    return store.find(text) if is_digest(text) else policy_digest(read_policy(Path(text)))


def is_digest(text: str) -> bool:
    """Tell a digest's digits from the name of a file."""
    return _DIGEST.fullmatch(text) is not None


def signature_of(args: argparse.Namespace, tools: Tools, roles: Sequence[KeyRole] = ACTORS) -> Signature:
    """Return who acts now: where the server asks for keys the holder of one, else whoever the system or they say.

    Raises:
        UsageError: nobody says who acts, or a key is needed, or another name than the key's is given.
        KeyRefusedError: the key opens nothing.
        RoleError: it has none of the roles.
    """
    signature = Signature(actor=args.actor or "", time=tools.now(), note=args.note)
    settings = settings_of(args)
    if settings.keys is KeyMode.REQUIRED or args.key_file is not None:
        return _signed_with_key(signature, args, tools, settings, roles)
    if args.actor is not None:
        return signature
    try:
        return replace(signature, actor=getpass.getuser())
    except (OSError, KeyError) as error:
        raise UsageError("the system does not tell who you are; say it with --as NAME") from error


def _signed_with_key(
    signature: Signature, args: argparse.Namespace, tools: Tools, settings: Settings, roles: Sequence[KeyRole]
) -> Signature:
    # Here, so that acts of those who have no keys need no database.
    from unmask.cli.key_holder import holder_of

    if args.key_file is None:
        raise UsageError("keys are required, so acts are signed with one; name its file with --key-file FILE")
    holder = holder_of(args.key_file, settings, tools)
    holder.require(roles)
    if args.actor not in {None, holder.name}:
        raise UsageError(f"--as is {args.actor[:80]!r}, and the key is that of {holder.name}; leave --as out")
    return replace(signature, actor=holder.name, note=f"{signature.note} (key {holder.key})".strip())


def settings_of(args: argparse.Namespace) -> Settings:
    """Load the settings that options, environment and file name."""
    given = {} if args.policy_dir is None else {"policy_dir": args.policy_dir}
    return load_settings(flags=given, environ=os.environ, file=find_file(Path(), args.config)).settings
