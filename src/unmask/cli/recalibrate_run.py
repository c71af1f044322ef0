"""The long part of ``unmask recalibrate``: curves, difficulty, a proposal, and the old policy against the new."""

import argparse
import asyncio
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from unmask.backend import Backend, ModelInfo
from unmask.cli.curve import measure_curves
from unmask.cli.exits import Exit
from unmask.cli.policy_store import signature_of, store_of
from unmask.cli.progress import progress_of
from unmask.cli.proposing import put_proposal
from unmask.cli.recalibrate import predecessor, records_of, traffic_of, why_none
from unmask.cli.recalibrate_tables import comparison_tables
from unmask.cli.strategy import strategy_of
from unmask.cli.tools import Tools
from unmask.cli.tune import needs_scikit_learn
from unmask.config import Settings
from unmask.control.sources import ActivePolicy
from unmask.control.stored import StoredEstimators, completed
from unmask.errors import UnknownModelError
from unmask.policy.active import ActivePolicy as FoundActive
from unmask.policy.active import active_policy
from unmask.policy.log import Signature
from unmask.policy.policy import DEFAULT_TASK, Policy
from unmask.policy.standing import SHORT, Life, Stage
from unmask.policy.store import PolicyStore
from unmask.tasks.item import Split
from unmask.text.tokenizer import packaged_tokenizer
from unmask.tune.advise import advise
from unmask.tune.before_after import compare
from unmask.tune.begun import Begun, keep_begun, read_begun
from unmask.tune.carry import carried, carried_exits, carried_start
from unmask.tune.curve import CurveSet
from unmask.tune.difficulty_file import TunedDifficulty, read_difficulty
from unmask.tune.errors import ResumeError
from unmask.tune.exit_file import read_exits
from unmask.tune.items import draw_items
from unmask.tune.origin import Origin, commit, machine
from unmask.tune.paired_journal import read_paired, write_paired
from unmask.tune.paired_run import SPLIT, Arm, PairedRecord, PairedSettings, Side, run_paired
from unmask.tune.propose import Extras, Proposal, propose
from unmask.tune.recalibration import REPORT, TEXT, Recalibration, keep_report, recalibration_json, refuse_finished
from unmask.tune.run import JOURNAL
from unmask.tune.settings import Asked
from unmask.tune.task_strategy import TaskStrategy

PAIRED = "paired.jsonl"
DIFFICULTY = "difficulty.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Old:
    """What there was before.

    Attributes:
        begun: what was in force, and why it was to be replaced, when the run began.
        policy: it, or that of earlier weights: what people decided there is kept.
    """

    begun: Begun
    policy: Policy | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What the parts of a recalibration share."""

    args: argparse.Namespace
    tools: Tools
    store: PolicyStore
    folder: Path
    model: ModelInfo
    old: _Old
    signature: Signature


def run_measuring(args: argparse.Namespace, tools: Tools) -> int:
    """Measure, propose, compare, report; whatever was done already is not done again."""
    store, signature = store_of(args), signature_of(args, tools)
    folder = _folder(args, tools)
    refuse_finished(folder)
    if folder.exists() and any(folder.iterdir()) and not args.resume:
        raise ResumeError(
            f"{str(folder)!r} holds a run already; add --resume to go on with it, or name another --folder"
        )
    with needs_scikit_learn() if args.difficulty else nullcontext():
        if args.difficulty:
            # What is missing should be known before hours of measuring.
            import unmask.tune.difficulty_run  # noqa: F401
    found, life = asyncio.run(_all(args, tools, store, folder, signature))
    if args.json:
        tools.write_json(recalibration_json(found))
    else:
        for table in comparison_tables(found.comparisons):
            tools.out.print(table)
        tools.write(f"{life.policy[:SHORT]} for {life.model} with weights {life.model_digest}: now {life.stage}")
    tools.say(f"kept: {folder / REPORT}, {TEXT}")
    if life.stage is Stage.PROPOSED:
        tools.say(f"next: unmask policy submit {life.policy[:SHORT]}")
    return Exit.OK


def _folder(args: argparse.Namespace, tools: Tools) -> Path:
    """Return the folder named; else, to go on, the latest without a report, and one of today's date."""
    if args.folder is not None:
        return Path(args.folder)
    begun = [folder for folder in Path("runs").glob(f"recalibrate-{args.model}-*") if not (folder / REPORT).exists()]
    if args.resume and begun:
        return max(begun)
    return Path("runs") / f"recalibrate-{args.model}-{tools.now():%Y%m%d}"


async def _all(
    args: argparse.Namespace, tools: Tools, store: PolicyStore, folder: Path, signature: Signature
) -> tuple[Recalibration, Life]:
    backend = tools.make_backend(Settings(models=(args.model,)))
    try:
        models = {model.name: model for model in backend.models()}
        if args.model not in models:
            raise UnknownModelError(args.model, models)
        model = models[args.model]
        old = _old(args, store, model, folder)
        work = _Work(args=args, tools=tools, store=store, folder=folder, model=model, old=old, signature=signature)
        _say_what(work)
        curves = await _curves(work, backend, Split.TUNE)
        tuned = await _tuned(work, backend, curves) if args.difficulty else None
        proposal = _proposal(work, curves, tuned)
        life = put_proposal(store, proposal, tuned, signature)
        records = await _paired(work, backend, life.policy, curves.settings.tasks)
    finally:
        await backend.drain()
    found = Recalibration(
        model=model.name,
        model_digest=model.digest,
        before=old.begun.before,
        after=life.policy,
        reasons=old.begun.reasons,
        origin=Origin(machine=machine(), commit=commit(), date=tools.now().isoformat(timespec="seconds")),
        curves=curves.settings,
        sources=proposal.sources,
        service_class=proposal.policy.default_class,
        comparisons=compare(records, curves.settings.tasks, args.seed),
        difficulty=None if tuned is None else tuned.report,
    )
    keep_report(folder, found)
    return found, life


def _old(args: argparse.Namespace, store: PolicyStore, model: ModelInfo, folder: Path) -> _Old:
    """Return what is in force; a run that goes on keeps the reasons that it began with."""
    active = active_policy(store, model.name, model.digest).active
    in_force = None if active is None else active.digest
    if active is not None:
        policy: Policy | None = active.policy
    else:
        before = predecessor(store, model)
        policy = None if before is None else store.policy(before.policy)
    begun = read_begun(folder, in_force)
    if begun is None:
        begun = _begin(args, store, model, active)
        keep_begun(folder, begun)
    return _Old(begun=begun, policy=policy)


def _begin(args: argparse.Namespace, store: PolicyStore, model: ModelInfo, active: FoundActive | None) -> Begun:
    if active is None:
        return Begun(before=None, reasons=(why_none(store, model),))
    found = traffic_of(records_of(args), active, args)
    return Begun(before=active.digest, reasons=found.reasons or ("asked for",), alarmed=found.alarmed)


def _say_what(work: _Work) -> None:
    for reason in work.old.begun.reasons:
        work.tools.say(f"why: {reason}")
    known = {*work.model.tasks, DEFAULT_TASK}
    lost = [task.task for task in work.old.policy.tasks if task.task not in known] if work.old.policy else []
    if lost:
        work.tools.say(f"{work.model.name} is not measured on {', '.join(lost)}: the new policy leaves them out")


async def _curves(work: _Work, backend: Backend, split: Split) -> CurveSet:
    args, folder = work.args, work.folder / split
    asked = Asked(
        items=args.items,
        grid=args.grid or (),
        seed=args.seed,
        strategy=strategy_of(args),
        own=_own(work),
        in_flight=args.in_flight,
        split=split,
    )
    resume = (folder / JOURNAL).exists()
    return await measure_curves(backend, work.model, asked, folder, work.tools, resume=resume)


def _own(work: _Work) -> tuple[TaskStrategy, ...]:
    """Return the strategies of the old policy's task types that can be measured, unless one is asked for."""
    old, args = work.old.policy, work.args
    if old is None or any(given is not None for given in (args.strategy, args.threshold, args.window)):
        return ()
    return tuple(
        TaskStrategy(task=task.task, strategy=task.strategy)
        for task in old.tasks
        if task.strategy is not None and task.finality is None
    )


async def _tuned(work: _Work, backend: Backend, curves: CurveSet) -> TunedDifficulty:
    from unmask.cli.difficulty import outcome
    from unmask.tune.difficulty_file import write_difficulty
    from unmask.tune.difficulty_run import difficulty_report, planned, tune_difficulty
    from unmask.tune.item_runs import runs_from
    from unmask.tune.tuned import Splits

    by_split = {Split.TUNE: curves}
    for split in (Split.CALIBRATE, Split.TEST):
        by_split[split] = await _curves(work, backend, split)
    path = work.folder / DIFFICULTY
    if not path.exists():
        count, most = packaged_tokenizer().chat_length, work.model.default_max_tokens
        done = tune_difficulty(
            Splits(**{split.value: runs_from(found, count, most) for split, found in by_split.items()}),
            planned(curves, work.model, carried_start(work.old.policy)),
            seed=work.args.seed,
            now=time.perf_counter,
            done=lambda found: work.tools.say(f"{found.entry.task}: {outcome(found)}"),
        )
        write_difficulty(path, difficulty_report(done), done.part)
    return read_difficulty(path)


def _proposal(work: _Work, curves: CurveSet, tuned: TunedDifficulty | None) -> Proposal:
    old, settings = work.old, curves.settings
    if work.args.exits is not None:
        extras = read_exits(work.args.exits, model=work.model.name, model_digest=work.model.digest)
    else:
        # Rules of other weights say nothing of these.
        same = old.policy if old.begun.before is not None else None
        extras = Extras(exits=carried_exits(same, settings, old.begun.alarmed))
    extras = replace(extras, difficulty=None if tuned is None else tuned.calibrated)
    proposal = propose(curves, work.model, advise(curves), extras, carried_start(old.policy))
    return carried(proposal, old.policy)


async def _paired(work: _Work, backend: Backend, after: str, tasks: tuple[str, ...]) -> tuple[PairedRecord, ...]:
    args = work.args
    settings = PairedSettings(
        model=work.model.name,
        model_digest=work.model.digest,
        before=work.old.begun.before,
        after=after,
        tasks=tasks,
        items=args.compare_items,
        seed=args.seed,
        in_flight=args.in_flight,
    )
    path = work.folder / PAIRED
    journal = read_paired(path, settings)
    records = list(journal.records)
    items = {task: draw_items(task, settings.items, settings.seed, SPLIT) for task in tasks}
    total = len(Arm) * len(tasks) * settings.items
    sides = {Arm.BEFORE: _side(work, work.old.begun.before), Arm.AFTER: _side(work, after)}
    with (
        progress_of(work.tools, f"old and new {work.model.name}") as progress,
        write_paired(path, journal, settings) as pen,
    ):
        progress(len(records), total)

        def note(record: PairedRecord) -> None:
            pen.note(record)
            records.append(record)
            progress(len(records), total)

        await run_paired(backend, work.model, settings, sides, items, {record.key for record in records}, note)
    return tuple(records)


def _side(work: _Work, digest: str | None) -> Side:
    """Return a policy as a server has it."""
    if digest is None:
        return Side(active=None)
    policy = work.store.policy(digest)
    work.store.check_parts(policy)
    estimators = StoredEstimators(work.store, packaged_tokenizer().chat_length, work.model.default_max_tokens)
    return Side(
        active=ActivePolicy(policy=completed(policy, work.store), digest=digest),
        estimator=None if policy.difficulty is None else estimators.estimator(policy.difficulty),
    )
