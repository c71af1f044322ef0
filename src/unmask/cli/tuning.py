"""``unmask tune finality``, ``unmask tune exit`` and ``unmask tune replay``."""

import argparse
import asyncio
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from unmask.app.control import record_folder
from unmask.backend import Backend, ModelInfo
from unmask.cli.exits import Exit, UsageError
from unmask.cli.policy_store import named_policy
from unmask.cli.tools import Tools
from unmask.config import Settings
from unmask.config.file import find_file
from unmask.config.load import load_settings
from unmask.control.records import RecordFolder
from unmask.errors import ConfigError, UnknownModelError
from unmask.policy.digest import policy_digest
from unmask.policy.file import read_policy
from unmask.policy.finality_file import finality_bytes, read_finality
from unmask.policy.folders import open_store
from unmask.policy.parts import canonical_part
from unmask.policy.policy import Policy
from unmask.policy.replay import replay_bytes
from unmask.policy.store import PolicyStore
from unmask.strategy import FinalityModel
from unmask.tune.asking import Asking, make_asking
from unmask.tune.items import draw_items
from unmask.tune.origin import Origin, commit, machine
from unmask.tune.replaying import Replayed, ReplayedPolicy, replay_controls
from unmask.tune.settings import Asked, make_settings
from unmask.tune.shown import interval_json, interval_text

if TYPE_CHECKING:
    from unmask.tune.exit_file import ExitSet
    from unmask.tune.finality import TrainedFinality

RUNS = "runs.jsonl"
EXITS = "exits.json"


def run_finality(args: argparse.Namespace, tools: Tools) -> int:
    """Train a finality model, keep it, and say what it is worth."""
    trained = asyncio.run(_train(args, tools))
    content = finality_bytes(trained.model)
    digest, _ = canonical_part(content)
    write_out(args.out, content)
    if args.json:
        tools.write_json({"finality": digest, "seed": args.seed, **_finality_record(trained)})
    else:
        for table in _finality_tables(trained):
            tools.out.print(table)
    tools.say(f"kept: {args.out}, finality model {digest}")
    return Exit.OK


async def _train(args: argparse.Namespace, tools: Tools) -> "TrainedFinality":
    from unmask.tune.finality import train_finality
    from unmask.tune.finality_rows import collect_rows

    backend = tools.make_backend(Settings(models=(args.model,)))
    try:
        model = _model(backend, args.model)
        asking = make_asking(model, args.canvas_length)
        ceilings = _ceilings(args, model, asking)
        items = [item for task in ceilings for item in draw_items(task, args.items, args.seed)]
        tools.say(f"tracing {len(items)} items, three runs each")
        rows = await collect_rows(backend, asking, items, ceilings, in_flight=args.in_flight)
    finally:
        await backend.drain()
    tools.say(f"training on {len(rows.final)} positions")
    return train_finality(rows, seed=args.seed)


def run_exit(args: argparse.Namespace, tools: Tools) -> int:
    """Tune exits; keep runs, result and pictures, and show them."""
    from unmask.tune.exit_file import exit_document, write_exits
    from unmask.tune.exit_picture import save_exit_picture
    from unmask.tune.exit_report import candidate_table, exit_table, needs
    from unmask.tune.picture import check_pictures

    check_pictures()
    if not (0 < args.misjudgement_limit < 1 and 0 < args.quality_limit < 1):
        raise UsageError("--misjudgement-limit and --quality-limit are shares between 0 and 1, neither included.")
    folder = args.folder or Path("runs") / f"exit-{args.model}"
    exits = asyncio.run(_tune(args, folder, tools))
    write_exits(folder / EXITS, exits)
    for found in exits.tasks:
        save_exit_picture(found, exits, folder / f"{found.task}.svg")
    if args.json:
        tools.write_json(exit_document(exits).model_dump(mode="json"))
    else:
        for found in exits.tasks:
            tools.out.print(candidate_table(found))
        tools.out.print(exit_table(exits))
    for line in needs(exits):
        tools.say(line)
    tools.say(f"kept: {folder / EXITS}, {', '.join(f'{found.task}.svg' for found in exits.tasks)}")
    return Exit.OK


async def _tune(args: argparse.Namespace, folder: Path, tools: Tools) -> "ExitSet":
    from unmask.tune.exit_file import ExitSet
    from unmask.tune.exit_log import ExitLog
    from unmask.tune.exit_runs import ExitRunner
    from unmask.tune.exits import ExitSearch, tune_exit

    backend = tools.make_backend(Settings(models=(args.model,)))
    try:
        model = _model(backend, args.model)
        asking = make_asking(model, args.canvas_length)
        ceilings = _ceilings(args, model, asking)
        finality = {} if args.finality is None else _finality((args.finality,))
        search = ExitSearch(
            items=args.items,
            calibrate_items=args.calibrate_items,
            seed=args.seed,
            misjudgement_limit=args.misjudgement_limit,
            quality_limit=args.quality_limit,
            finality=next(iter(finality.values()), None),
        )
        log = ExitLog(folder / RUNS, asking, model.digest)
        if len(log):
            tools.say(f"{len(log)} runs are there already and are not made again")
        runner = ExitRunner(backend, asking, log, in_flight=args.in_flight)
        tuned = [await tune_exit(runner, task, ceiling, search, tools.say) for task, ceiling in ceilings.items()]
    finally:
        await backend.drain()
    return ExitSet(
        model=model.name,
        model_digest=model.digest,
        canvas_length=asking.canvas_length,
        finality=next(iter(finality), None),
        search=search,
        origin=Origin(machine=machine(), commit=commit(), date=tools.now().isoformat(timespec="seconds")),
        tasks=tuple(tuned),
    )


def run_replay(args: argparse.Namespace, tools: Tools) -> int:
    """Replay controls, and keep the evidence; exits with 3 where there is none."""
    given = {} if args.policy_dir is None else {"policy_dir": args.policy_dir}
    settings = load_settings(flags=given, environ=os.environ, file=find_file(Path(), None)).settings
    store = open_store(settings.policy_dir, os.environ)
    parts = _finality(args.finality)
    policies = [named_policy(store, text) for text in (args.old, args.new)]
    if len({(policy.model, policy.model_digest) for policy in policies}) > 1:
        raise UsageError("--old and --new are policies of different models. Name two of one model's weights.")
    old, new = (_complete(policy, store, parts) for policy in policies)
    replayed = asyncio.run(_replay(args, policies[0], old, new, tools))
    if replayed.evidence is not None:
        write_out(args.out, replay_bytes(replayed.evidence))
    tools.write_json(_replay_record(replayed)) if args.json else tools.out.print(_replay_table(replayed))
    if replayed.evidence is None:
        tools.say("there are not enough controls in which the new rule would have exited; nothing was written")
        return Exit.CANNOT_RUN
    tools.say(f"kept: {args.out}; hand it in with: unmask policy submit --replay {args.out}")
    return Exit.OK


async def _replay(
    args: argparse.Namespace, policy: Policy, old: ReplayedPolicy, new: ReplayedPolicy, tools: Tools
) -> Replayed:
    folder = RecordFolder(args.controls or record_folder(os.environ))
    try:
        records, labels = folder.controls().records, folder.labels().records
    except OSError as error:
        raise ConfigError(f"{folder.path} cannot be used: {error.strerror or error}") from error
    backend = tools.make_backend(Settings(models=(policy.model,)))
    try:
        model = _model(backend, policy.model)
        if model.digest != policy.model_digest:
            raise UsageError(
                f"The policies are of {policy.model} {policy.model_digest}, and what is installed is {model.digest}. "
                "Replay with the weights that the controls were run with."
            )
        return await replay_controls(backend, records, labels, old, new, in_flight=args.in_flight, seed=args.seed)
    finally:
        await backend.drain()


# --- what they share ---------------------------------------------------------


def _model(backend: Backend, name: str) -> ModelInfo:
    models = {model.name: model for model in backend.models()}
    if name not in models:
        raise UnknownModelError(name, models)
    return models[name]


def _ceilings(args: argparse.Namespace, model: ModelInfo, asking: Asking) -> Mapping[str, int]:
    """Return the task types with the most steps of a canvas: their policy's ceilings, else all there are."""
    settings = make_settings(model, Asked(tasks=tuple(args.task or ()), canvas_length=asking.canvas_length))
    most = settings.grid[-1]
    if args.policy is None:
        return dict.fromkeys(settings.tasks, most)
    policy = read_policy(args.policy)
    if (policy.model, policy.model_digest) != (model.name, model.digest):
        raise UsageError(
            f"--policy is of {policy.model} {policy.model_digest}, and this is {model.name} {model.digest}. "
            "Name one of these weights."
        )
    return {task: min(policy.task(task).ceiling, most) for task in settings.tasks}


def _finality(files: tuple[Path, ...] | list[Path]) -> dict[str, FinalityModel]:
    """Return finality models by their digests as learned parts."""
    found = {}
    for path in files:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"the finality model cannot be read from {path}: {error.strerror}") from error
        found[canonical_part(content)[0]] = read_finality(content)
    return found


def _complete(policy: Policy, store: PolicyStore, parts: Mapping[str, FinalityModel]) -> ReplayedPolicy:
    tasks = {}
    for task in policy.tasks:
        strategy = task.strategy
        if strategy is not None and task.finality is not None:
            model = parts.get(task.finality) or read_finality(store.part(task.finality))
            strategy = replace(strategy, finality=model)
        tasks[task.task] = replace(task, strategy=strategy)
    return ReplayedPolicy(digest=policy_digest(policy), tasks=tasks)


def write_out(path: Path, content: bytes) -> None:
    """Write what ``--out`` names.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"--out is {str(path)!r}, which cannot be written: {error.strerror}") from error


# --- what they show ----------------------------------------------------------


def _finality_tables(trained: "TrainedFinality") -> tuple[Table, Table, Table]:
    judged = trained.judgement
    skills = Table(
        title=f"judged on {judged.items} other items, {judged.rows} positions of runs as serving sees them",
        title_justify="left",
    )
    for name in ("score", "log loss (nats)", "AUC"):
        skills.add_column(name)
    rows = (("finality", judged.model), ("confidence", judged.confidence), ("confidence, rescaled", judged.rescaled))
    for name, skill in rows:
        skills.add_row(name, interval_text(skill.log_loss), interval_text(skill.auc, digits=4))
    skills.add_row("gain", interval_text(judged.log_loss_gain), interval_text(judged.auc_gain))
    tried = Table(title=f"tried, on {trained.trained_on} items", title_justify="left")
    for name in ("hidden units", "hasty runs", "log loss"):
        tried.add_column(name)
    for one in trained.candidates:
        mark = " ← chosen" if one == trained.chosen else ""
        tried.add_row(str(one.units), "yes" if one.with_hasty else "no", f"{one.log_loss:.4f}{mark}")
    bins = Table(title="calibration", title_justify="left")
    for name in ("share", "said", "final"):
        bins.add_column(name)
    for found in judged.bins:
        bins.add_row(f"{found.share:.1%}", f"{found.predicted:.1%}", f"{found.final:.1%}")
    return tried, skills, bins


def _finality_record(trained: "TrainedFinality") -> dict[str, object]:
    judged = trained.judgement
    skills = {"model": judged.model, "confidence": judged.confidence, "rescaled": judged.rescaled}
    return {
        "trained_on": trained.trained_on,
        "candidates": [asdict(one) for one in trained.candidates],
        "chosen": asdict(trained.chosen),
        "judged_on": judged.items,
        "positions": judged.rows,
        "log_loss": {name: interval_json(skill.log_loss) for name, skill in skills.items()},
        "auc": {name: interval_json(skill.auc) for name, skill in skills.items()},
        "log_loss_gain": interval_json(judged.log_loss_gain),
        "auc_gain": interval_json(judged.auc_gain),
        "calibration": [asdict(found) for found in judged.bins],
    }


def _replay_table(replayed: Replayed) -> Table:
    table = Table(caption="misjudged: the exit's text fails and the full run's passes, of controls the new rule exits")
    names = ("task", "controls", "unjudged", "came out otherwise", "new exits", "old misjudged", "new misjudged")
    for name in (*names, "difference", "steps", "only old exits", "misjudged there"):
        table.add_column(name)
    evidence = {} if replayed.evidence is None else {found.task: found for found in replayed.evidence.tasks}
    for one in replayed.tasks:
        found = evidence.get(one.task)
        told = (
            ("not enough data", "", "", "")
            if found is None
            else (
                str(found.old_misjudged),
                str(found.new_misjudged),
                interval_text(found.misjudgement, percent=True),
                interval_text(found.steps),
            )
        )
        counts = (one.controls, one.unjudged, one.changed, one.new_exits)
        table.add_row(one.task, *map(str, counts), *told, str(one.old_only), str(one.old_only_misjudged))
    return table


def _replay_record(replayed: Replayed) -> dict[str, object]:
    evidence = replayed.evidence
    return {
        "old": None if evidence is None else evidence.old,
        "new": None if evidence is None else evidence.new,
        "evidence": [] if evidence is None else [asdict(found) for found in evidence.tasks],
        "tasks": [asdict(one) for one in replayed.tasks],
    }
