"""``unmask policy``."""

import argparse
from dataclasses import replace
from pathlib import Path

from unmask.cli.exits import Exit, UsageError
from unmask.cli.policy_store import ACTORS, APPROVERS, is_digest, named_digest, named_policy, signature_of, store_of
from unmask.cli.policy_tables import (
    diff_table,
    entry_record,
    history_table,
    life_record,
    policy_record,
    policy_tables,
)
from unmask.cli.tools import Tools
from unmask.policy.audit import audit
from unmask.policy.changes import changed_exits, changes_between
from unmask.policy.digest import policy_digest
from unmask.policy.example import example_policy
from unmask.policy.file import policy_text, read_policy
from unmask.policy.log import Act
from unmask.policy.policy import Policy
from unmask.policy.replay import read_replay
from unmask.policy.standing import SHORT, Stage
from unmask.policy.store import PolicyStore

NONE_ACTIVE = (
    "no policy is active: requests get the built-in fixed budget, which is their own or the model's default, "
    "without early exit"
)


def run_policy(args: argparse.Namespace, tools: Tools) -> int:
    """Do one act."""
    if args.act == "example":
        tools.write(example_policy().rstrip("\n"))
        return Exit.OK
    store = store_of(args)
    if args.act in {"propose", "advise"}:
        # They need what tuning does; the other acts start at once.
        from unmask.cli.proposing import run_advise, run_propose

        return run_propose(store, args, tools) if args.act == "propose" else run_advise(args, tools)
    commands = {
        "show": _show,
        "diff": _diff,
        "export": _export,
        "submit": _submit,
        "approve": _approve,
        "rollback": _rollback,
        "history": _history,
        "audit": _audit,
    }
    return commands.get(args.act, _simple_act)(store, args, tools)


def _show(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    if args.policy is not None:
        policies = [named_policy(store, args.policy)]
    else:
        policies = [store.policy(digest) for digest in _active_digests(store)]
    shown = [(policy_digest(policy), policy) for policy in policies]
    known = {digest: life for layer in reversed(store.chain()) for digest, life in layer.standing().lives.items()}
    if args.json:
        tools.write_json(
            {
                "policies": [policy_record(digest, policy, known.get(digest)) for digest, policy in shown],
                "otherwise": "fixed",
            }
        )
        return Exit.OK
    for digest, policy in shown:
        for table in policy_tables(digest, policy, known.get(digest)):
            tools.out.print(table)
    if not shown:
        tools.say(NONE_ACTIVE)
    return Exit.OK


def _active_digests(store: PolicyStore) -> list[str]:
    """Return the active policies, those of the package left out for weights that the user has one for."""
    found: dict[tuple[str, str], str] = {}
    for layer in store.chain():
        for life in layer.standing().lives.values():
            if life.stage is Stage.ACTIVE:
                found.setdefault((life.model, life.model_digest), life.policy)
    return list(found.values())


def _diff(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    new = named_policy(store, args.policy)
    old = named_policy(store, args.old) if args.old is not None else _active_for(store, new)
    changes = changes_between(old, new)
    exits = changed_exits(old, new)
    digests = (None if old is None else policy_digest(old), policy_digest(new))
    if args.json:
        tools.write_json(
            {
                "old": digests[0],
                "new": digests[1],
                "changes": [
                    {
                        "field": change.field,
                        "old": change.old,
                        "new": change.new,
                        "kind": change.kind,
                        "needs_approval": change.needs_approval,
                        "needs_replay": change.task in exits,
                    }
                    for change in changes
                ],
            }
        )
        return Exit.OK
    before = "no policy" if digests[0] is None else digests[0][:SHORT]
    if changes:
        tools.out.print(diff_table(changes, exits, before, digests[1][:SHORT]))
    tools.say(f"{before} to {digests[1][:SHORT]}: {len(changes)} fields differ")
    return Exit.OK


def _active_for(store: PolicyStore, policy: Policy) -> Policy | None:
    life = store.active(policy.model, policy.model_digest)
    return None if life is None else store.policy(life.policy)


def _export(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    tools.write(policy_text(named_policy(store, args.policy)).rstrip("\n"))
    return Exit.OK


def _submit(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    signature = signature_of(args, tools)
    replay = None if args.replay is None else read_replay(args.replay)
    if is_digest(args.policy):
        digest = store.find(args.policy)
    else:
        policy = read_policy(Path(args.policy))
        digest = policy_digest(policy)
        life = store.standing().lives.get(digest)
        if life is None or life.stage is Stage.REJECTED:
            store.propose(policy, signature)
    store.submit(digest, signature, replay=replay)
    return _report(store, digest, "submitted", args, tools)


def _approve(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    digest = named_digest(store, args.policy)
    is_own = store.approve(digest, signature_of(args, tools, APPROVERS), solo=args.solo)
    return _report(store, digest, "approved by its author, as the log says," if is_own else "approved", args, tools)


def _simple_act(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    digest = named_digest(store, args.policy)
    signature = signature_of(args, tools, APPROVERS if args.act == Act.REJECT else ACTORS)
    if args.act == Act.REJECT:
        store.reject(digest, signature)
        return _report(store, digest, "rejected", args, tools)
    # Here, since the other acts need nothing of gates.
    from unmask.cli.policy_gate import check_gate

    passed = check_gate(args, digest)
    store.promote(digest, replace(signature, note=f"{signature.note} ({passed})".strip()) if passed else signature)
    if passed:
        tools.say(passed)
    return _report(store, digest, "promoted", args, tools)


def _rollback(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    digest = _earlier(store) if args.policy is None else named_digest(store, args.policy)
    store.rollback(digest, signature_of(args, tools))
    return _report(store, digest, "active again", args, tools)


def _earlier(store: PolicyStore) -> str:
    """Return the policy that was active before, if it is clear of which model."""
    standing = store.standing()
    found = {
        life.policy
        for active in standing.lives.values()
        if active.stage is Stage.ACTIVE and (life := standing.earlier(active.model, active.model_digest)) is not None
    }
    if len(found) != 1:
        raise UsageError(
            f"{len(found)} policies could be meant, allowed: one that was active before. Name it; "
            "unmask policy history lists them"
        )
    return found.pop()


def _history(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    only = None if args.policy is None else named_digest(store, args.policy)
    entries = [
        (layer, entry)
        for layer in reversed(store.chain())
        for entry in layer.log().entries
        if only is None or entry.deed.policy == only
    ]
    if args.json:
        tools.write_json({"entries": [entry_record(layer.folder, entry) for layer, entry in entries]})
    elif entries:
        tools.out.print(history_table([(layer.read_only, entry) for layer, entry in entries]))
    else:
        tools.say("nothing was done yet")
    return Exit.OK


def _audit(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    if args.repair:
        torn = store.repair()
        tools.say(f"removed {len(torn)} bytes of an entry that was never finished: {torn!r:.200}" if torn else "whole")
    audits = [(layer, audit(layer, head=args.head if layer is store else None)) for layer in store.chain()]
    if args.json:
        tools.write_json(
            {
                "folders": [
                    {
                        "folder": str(layer.folder),
                        "entries": found.entries,
                        "policies": found.policies,
                        "head": found.head,
                        "faults": list(found.faults),
                        "notes": list(found.notes),
                    }
                    for layer, found in audits
                ]
            }
        )
    else:
        for layer, found in audits:
            tools.write(f"{layer.folder}: {found.entries} entries, {found.policies} policies, head {found.head}")
            for fault in found.faults:
                tools.write(f"  fault: {fault}")
            for note in found.notes:
                tools.write(f"  note: {note}")
    return Exit.MISSED if any(found.faults for _, found in audits) else Exit.OK


def _report(store: PolicyStore, digest: str, done: str, args: argparse.Namespace, tools: Tools) -> int:
    life = store.life(digest)
    if args.json:
        tools.write_json(life_record(life) | {"head": store.log().head})
    else:
        tools.write(f"{done} {digest[:SHORT]} for {life.model} with weights {life.model_digest}: now {life.stage}")
    return Exit.OK
