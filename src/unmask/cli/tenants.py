"""``unmask tenants``."""

import argparse

from unmask.cli.exits import Exit
from unmask.cli.key_names import check_names
from unmask.cli.keys import settings_of, store_of
from unmask.cli.tenant_tables import tenant_record, tenant_table
from unmask.cli.tools import Tools
from unmask.tenants.quota import parse_quota
from unmask.tenants.store import TenantStore
from unmask.tenants.tenant import Tenant


def run_tenants(args: argparse.Namespace, tools: Tools) -> int:
    """Do one act."""
    if args.act == "report":
        # It needs numpy; the other acts start at once.
        from unmask.cli.likeness import run_report

        return run_report(args, tools)
    acts = {
        "create": _create,
        "list": _list,
        "limit": _limit,
        "allow": _allow,
        "disable": _disable,
        "enable": _enable,
    }
    with store_of(args) as store:
        return acts[args.act](store, args, tools)


def _create(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    check_names(args.classes or (), None, settings_of(args))
    store.create_tenant(
        Tenant(
            name=args.tenant,
            classes=None if args.classes is None else tuple(dict.fromkeys(args.classes)),
            quotas=tuple(parse_quota(text) for text in args.limits),
            created=tools.now().timestamp(),
        )
    )
    return _report(store, f"made; give it a key with: unmask keys create {args.tenant} --name NAME", args, tools)


def _list(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    tenants, keys, now = store.tenants(), store.keys(), tools.now().timestamp()
    if args.json:
        records = [tenant_record(tenant, [key for key in keys if key.tenant == tenant.name], now) for tenant in tenants]
        tools.write_json({"tenants": records})
    elif tenants:
        tools.out.print(tenant_table(tenants, keys, now))
    else:
        tools.say("there are no tenants yet; make one with: unmask tenants create TENANT")
    return Exit.OK


def _limit(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    quotas = tuple(parse_quota(text) for text in args.limits)
    store.limit_tenant(args.tenant, quotas)
    return _report(store, f"has {', '.join(quota.text for quota in quotas) or 'no limits'}", args, tools)


def _allow(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    classes = tuple(dict.fromkeys(args.classes))
    check_names(classes, None, settings_of(args))
    store.allow_tenant(args.tenant, classes or None)
    return _report(store, f"may use {', '.join(classes) or 'all service classes'}", args, tools)


def _disable(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    store.disable_tenant(args.tenant, tools.now().timestamp())
    return _report(store, "is disabled with all its keys", args, tools)


def _enable(store: TenantStore, args: argparse.Namespace, tools: Tools) -> int:
    store.disable_tenant(args.tenant, None)
    return _report(store, "is enabled", args, tools)


def _report(store: TenantStore, done: str, args: argparse.Namespace, tools: Tools) -> int:
    tenant = store.tenant(args.tenant)
    if args.json:
        tools.write_json(tenant_record(tenant, store.keys(tenant.name), tools.now().timestamp()))
    else:
        tools.write(f"tenant {tenant.name} {done}")
    return Exit.OK
