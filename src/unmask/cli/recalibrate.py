"""``unmask recalibrate``."""

import argparse
import os

from unmask.app.control import record_folder
from unmask.backend import ModelInfo
from unmask.cli.exits import Exit
from unmask.cli.loaded import model_named
from unmask.cli.policy_store import store_of
from unmask.cli.recalibrate_tables import check_json, check_table
from unmask.cli.tools import Tools
from unmask.control.records import RecordFolder
from unmask.errors import ConfigError
from unmask.policy.active import ActivePolicy, active_policy
from unmask.policy.standing import SHORT, Life, Stage
from unmask.policy.store import PolicyStore
from unmask.tune.traffic_check import Due, TrafficCheck, check_traffic


def run_recalibrate(args: argparse.Namespace, tools: Tools) -> int:
    """Say whether a new policy is due, or make one."""
    if args.check:
        return _check(args, tools)
    from unmask.cli.recalibrate_run import run_measuring

    return run_measuring(args, tools)


def _check(args: argparse.Namespace, tools: Tools) -> int:
    store, model = store_of(args), model_named(args.model, tools)
    active = active_policy(store, model.name, model.digest).active
    waiting = _waiting(store, model)
    for digest in waiting:
        tools.say(
            f"policy {digest[:SHORT]} waits for its approval or promotion: see unmask policy show {digest[:SHORT]}"
        )
    if active is None:
        reason = why_none(store, model)
        if args.json:
            tools.write_json({"due": Due.RECALIBRATE, "reasons": [reason], "policy": None, "waiting": waiting})
        else:
            tools.write(f"{Due.RECALIBRATE}: {reason}")
        return Exit.MISSED
    folder = records_of(args)
    found = traffic_of(folder, active, args)
    is_cut = folder.lacks_oldest()
    if args.json:
        tools.write_json({**check_json(found), "oldest_may_be_deleted": is_cut, "waiting": waiting})
    else:
        for table in check_table(found):
            tools.out.print(table)
        tools.write(f"{found.due}{': ' if found.reasons else ''}{'; '.join(found.reasons)}")
        if found.due is Due.UNKNOWN and not found.controls:
            tools.say("no control runs since the promotion: they are drawn where the policy has exit rules")
        if is_cut:
            tools.say("the oldest records may have been deleted: the reference may begin after the promotion")
    return {Due.NOTHING: Exit.OK, Due.RECALIBRATE: Exit.MISSED, Due.UNKNOWN: Exit.CANNOT_RUN}[found.due]


def _waiting(store: PolicyStore, model: ModelInfo) -> list[str]:
    """Return the policies of a model's weights that somebody has still to do something about."""
    stages = {Stage.PROPOSED, Stage.SUBMITTED, Stage.APPROVED}
    return [
        life.policy
        for life in store.standing().lives.values()
        if life.stage in stages and (life.model, life.model_digest) == (model.name, model.digest)
    ]


def records_of(args: argparse.Namespace) -> RecordFolder:
    """Return the folder of control records that options name."""
    return RecordFolder(args.controls or record_folder(os.environ))


def traffic_of(folder: RecordFolder, active: ActivePolicy, args: argparse.Namespace) -> TrafficCheck:
    """Check a policy by the records of a folder.

    Raises:
        ConfigError: they cannot be read.
    """
    try:
        records, labels = folder.controls().records, folder.labels().records
    except OSError as error:
        raise ConfigError(f"{folder.path} cannot be used: {error.strerror or error}") from error
    return check_traffic(
        active.policy,
        active.digest,
        active.promoted,
        records,
        labels,
        reference=args.reference,
        recent=args.recent,
        seed=args.seed,
    )


def why_none(store: PolicyStore, model: ModelInfo) -> str:
    """Say why a model has no policy: its weights are new, or it never had one."""
    before = predecessor(store, model)
    if before is None:
        return f"{model.name} has no policy yet"
    return f"the weights are new: {model.digest}, and policy {before.policy[:SHORT]} is of {before.model_digest}"


def predecessor(store: PolicyStore, model: ModelInfo) -> Life | None:
    """Return the policy that was promoted last for other weights of a model of this name, if any is active there."""
    found = [
        life
        for layer in store.chain()
        for life in layer.standing().lives.values()
        if life.stage is Stage.ACTIVE and life.model == model.name and life.model_digest != model.digest
    ]
    return max(found, key=lambda life: life.promoted.timestamp() if life.promoted else 0.0, default=None)
