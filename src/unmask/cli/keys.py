"""``unmask keys``."""

import argparse
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unmask.app.keys import opened_store, pepper_of
from unmask.cli.exits import Exit
from unmask.cli.key_names import check_names
from unmask.cli.tenant_tables import iso, key_record, key_table
from unmask.cli.tools import Tools
from unmask.cli.when import parse_when
from unmask.config import Settings
from unmask.config.file import find_file
from unmask.config.load import load_settings
from unmask.tenants.key import Key
from unmask.tenants.quota import parse_quota
from unmask.tenants.role import KeyRole
from unmask.tenants.store import TenantStore
from unmask.tenants.token import NOBODY, mint, parse

ONCE = "this key is shown once and kept nowhere; only its hash is. Whoever has it may use the server"


def run_keys(args: argparse.Namespace, tools: Tools) -> int:
    """Do one act."""
    acts = {
        "create": _create,
        "list": _list,
        "disable": _disable,
        "expire": _expire,
        "limit": _limit,
    }
    with store_of(args) as store:
        return acts[args.act](store, args, tools)


def settings_of(args: argparse.Namespace) -> Settings:
    """Return the settings, with the database and the pepper that the arguments name."""
    named = {"database": args.database, "pepper_file": getattr(args, "pepper_file", None)}
    flags = {name: text for name, text in named.items() if text is not None}
    return load_settings(flags=flags, environ=os.environ, file=find_file(Path(), args.config)).settings


@contextmanager
def store_of(args: argparse.Namespace) -> Iterator[TenantStore]:
    """Open the database that options, environment or settings name."""
    with opened_store(settings_of(args), os.environ) as store:
        yield store


def _create(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    check_names(args.classes or (), args.task, settings_of(args))
    now = tools.now()
    token = mint(secrets.choice)
    key = Key(
        public_id=token.public_id,
        tenant=args.tenant,
        name=args.name,
        roles=tuple(KeyRole(role) for role in dict.fromkeys(args.role or [KeyRole.INFERENCE])),
        classes=None if args.classes is None else tuple(dict.fromkeys(args.classes)),
        default_task=args.task,
        quotas=tuple(parse_quota(text) for text in args.limits),
        created=now.timestamp(),
        expires=None if args.expires is None else parse_when(args.expires, now).timestamp(),
    )
    store.create_key(key, token, pepper_of(settings_of(args), os.environ))
    tools.say(ONCE)
    if args.json:
        tools.write_json({"secret": token.text} | key_record(key, now.timestamp()))
    else:
        tools.write(token.text)
    return Exit.OK


def _list(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    tenant = None if args.tenant is None else store.tenant(args.tenant).name
    keys, now = store.keys(tenant), tools.now().timestamp()
    if args.json:
        tools.write_json({"keys": [key_record(key, now) for key in keys]})
    elif keys:
        tools.out.print(key_table(keys, now))
    else:
        tools.say("there are no keys yet; make one with: unmask keys create TENANT --name NAME")
    return Exit.OK


def _disable(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    store.disable_key(_id(args.key), tools.now().timestamp())
    return _report(store, "disabled for good", args, tools)


def _expire(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    now = tools.now()
    match args.when:
        case "never":
            when = None
        case "now":
            when = now.timestamp()
        case _:
            when = parse_when(args.when, now).timestamp()
    store.expire_key(_id(args.key), when)
    return _report(store, f"ends {iso(when) or 'never'}", args, tools)


def _limit(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    quotas = tuple(parse_quota(text) for text in args.limits)
    store.limit_key(_id(args.key), quotas)
    said = ", ".join(quota.text for quota in quotas) or "no limits of its own"
    return _report(store, f"has {said}", args, tools)


def _report(store: TenantStore, done: str, args: argparse.Namespace, tools: Tools) -> int:
    key = store.key(_id(args.key))
    if args.json:
        tools.write_json(key_record(key, tools.now().timestamp()))
    else:
        tools.write(f"key {key.public_id} of {key.tenant} ({key.name}) {done}")
    return Exit.OK


def _id(text: str) -> str:
    """Return the id of a key; of one that has leaked, whole, so that it can be disabled at once."""
    token = parse(text)
    return text if token is NOBODY else token.public_id
