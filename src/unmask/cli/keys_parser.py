"""The grammar of ``unmask keys`` and ``unmask tenants``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_command, add_json, whole
from unmask.tenants.role import KeyRole

LIMIT = "requests=100/1m, steps=50000/1h, cost=2.50/1d or concurrency=8"
KEY = "a key's id, the 12 characters between um- and the next -"


def add_key_commands(keys: argparse.ArgumentParser) -> None:
    """Add every act on keys; each sets ``act``."""
    acts = keys.add_subparsers(dest="act", required=True, metavar="ACT")

    create = _act(acts, "create", "Make a key, and write it once; it is kept nowhere.")
    create.add_argument("tenant", metavar="TENANT", help="whose key it is")
    create.add_argument("--name", required=True, metavar="NAME", help="who or what holds it; approvals are signed so")
    create.add_argument(
        "--role",
        action="append",
        choices=[role.value for role in KeyRole],
        help="what it may be used for; may be repeated (default inference)",
    )
    _add_classes(create, "a service class that it may use; may be repeated (default: all of its tenant's)")
    create.add_argument("--task", metavar="TYPE", help="task type of requests that name none")
    create.add_argument("--expires", metavar="WHEN", help="when it ends: 12h, 30d, or 2027-01-31 (default: never)")
    _add_limit(create)
    create.add_argument("--pepper-file", metavar="FILE", help="secret that keys are hashed with (default: the setting)")

    listed = _act(acts, "list", "Show keys: whose they are, what they may be used for, whether they are in force.")
    listed.add_argument("--tenant", metavar="TENANT", help="of this tenant only")

    disable = _act(acts, "disable", "Put a key out of force for good; servers take note within seconds.")
    disable.add_argument("key", metavar="KEY", help=KEY)

    expire = _act(acts, "expire", "Set when a key ends.")
    expire.add_argument("key", metavar="KEY", help=KEY)
    expire.add_argument("when", metavar="WHEN", help="12h, 30d, 2027-01-31, now or never")

    limit = _act(acts, "limit", "Give a key other limits, in place of all that it has.")
    limit.add_argument("key", metavar="KEY", help=KEY)
    limit.add_argument("limits", nargs="*", metavar="LIMIT", help=f"{LIMIT}; none takes all limits away")


def add_tenant_commands(tenants: argparse.ArgumentParser) -> None:
    """Add every act on tenants; each sets ``act``."""
    acts = tenants.add_subparsers(dest="act", required=True, metavar="ACT")

    create = _act(acts, "create", "Make a tenant.")
    create.add_argument("tenant", metavar="TENANT", help="its name: letters, digits, dots, dashes and underscores")
    _add_classes(create, "a service class that its keys may use; may be repeated (default: all)")
    _add_limit(create)

    _act(acts, "list", "Show tenants: their limits, classes and keys.")

    limit = _act(acts, "limit", "Give a tenant other limits, in place of all that it has.")
    limit.add_argument("tenant", metavar="TENANT", help="which one")
    limit.add_argument("limits", nargs="*", metavar="LIMIT", help=f"{LIMIT}; none takes all limits away")

    allow = _act(acts, "allow", "Say which service classes a tenant's keys may use.")
    allow.add_argument("tenant", metavar="TENANT", help="which one")
    allow.add_argument("classes", nargs="*", metavar="CLASS", help="names of classes; none allows all")

    disable = _act(acts, "disable", "Put all keys of a tenant out of force; servers take note within seconds.")
    disable.add_argument("tenant", metavar="TENANT", help="which one")
    enable = _act(acts, "enable", "Put the keys of a disabled tenant back in force.")
    enable.add_argument("tenant", metavar="TENANT", help="which one")

    report = _act(acts, "report", "Name tenants whose traffic does not look like the service class that they ask for.")
    report.add_argument("--days", type=whole(1), default=7, metavar="N", help="of so many days (default 7)")
    report.add_argument("--seed", type=whole(), default=0, metavar="N", help="of resampling (default 0)")


def _act(
    acts: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, description: str
) -> argparse.ArgumentParser:
    parser = add_command(acts, name, description, until=";")
    add_database(parser)
    add_json(parser)
    return parser


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add which database keys are in."""
    parser.add_argument("--database", metavar="FILE|URL", help="database of keys (default: the setting database)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="file of settings, as for serve")


def _add_classes(parser: argparse.ArgumentParser, meaning: str) -> None:
    parser.add_argument("--class", dest="classes", action="append", metavar="CLASS", help=meaning)


def _add_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit", dest="limits", action="append", default=[], metavar="LIMIT", help=f"{LIMIT}; may be repeated"
    )
