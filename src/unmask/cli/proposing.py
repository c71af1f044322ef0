"""``unmask policy propose`` and ``unmask policy advise``: policies from measured curves."""

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from unmask.backend import ModelInfo
from unmask.cli.exits import Exit, UsageError
from unmask.cli.loaded import model_named, named_settings
from unmask.cli.own_tasks import criteria_sources
from unmask.cli.policy_store import signature_of
from unmask.cli.policy_tables import life_record
from unmask.cli.tools import Tools
from unmask.policy.active import active_policy
from unmask.policy.digest import policy_digest
from unmask.policy.log import Signature
from unmask.policy.standing import SHORT, Life, Stage
from unmask.policy.store import PolicyStore
from unmask.tune.advise import advice_json, advice_table, advise
from unmask.tune.classes import advise_classes, class_json, class_table
from unmask.tune.curve import CurveSet
from unmask.tune.curve_file import read_curves
from unmask.tune.difficulty_file import TunedDifficulty, read_difficulty
from unmask.tune.exit_file import read_exits
from unmask.tune.propose import Extras, Proposal, proposal_table, propose
from unmask.tune.run import CURVES
from unmask.tune.traffic import read_traffic


def run_propose(store: PolicyStore, args: argparse.Namespace, tools: Tools) -> int:
    """Make a policy from curves, put it into the folder, and say where each number is from.

    Raises:
        CurveFileError: there are no such curves, or they are damaged.
        ForeignCurvesError: they, or what was tuned on them, are of other weights than the model has.
    """
    curves, model = _curves(args, tools)
    tuned = None if args.difficulty is None else read_difficulty(args.difficulty)
    found = Extras() if args.exits is None else read_exits(args.exits, model=model.name, model_digest=model.digest)
    extras = replace(found, difficulty=None if tuned is None else tuned.calibrated)
    sources = criteria_sources(curves, _folder(args))
    proposal = propose(curves, model, advise(curves), extras)
    proposal = replace(proposal, sources=(*proposal.sources, *sources))
    for path in args.part:
        store.add_part(part_bytes(path))
    life = put_proposal(store, proposal, tuned, signature_of(args, tools))
    if args.json:
        tools.write_json(
            {
                **life_record(life),
                "head": store.log().head,
                "sources": [asdict(source) for source in proposal.sources],
            }
        )
        return Exit.OK
    tools.out.print(proposal_table(proposal))
    tools.write(f"{life.policy[:SHORT]} for {life.model} with weights {life.model_digest}: now {life.stage}")
    left = _left_out(store, proposal)
    if left:
        tools.say(f"the active policy has {', '.join(left)} too, whose requests this one gives what `default` gets")
    if life.stage is Stage.PROPOSED:
        tools.say(f"next: unmask policy submit {life.policy[:SHORT]}")
    return Exit.OK


def part_bytes(path: Path) -> bytes:
    """Return the file of a learned part.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"--part is {str(path)!r}, which cannot be read: {error.strerror or error}") from error


def put_proposal(store: PolicyStore, proposal: Proposal, tuned: TunedDifficulty | None, signature: Signature) -> Life:
    """Put a policy and the estimator that it names into a folder; one that is there already stays as it is."""
    policy = proposal.policy
    if tuned is not None and policy.difficulty is not None:
        store.add_part(tuned.part)
    digest = policy_digest(policy)
    life = store.standing().lives.get(digest)
    if life is None or life.stage is Stage.REJECTED:
        store.propose(policy, signature)
    return store.life(digest)


def run_advise(args: argparse.Namespace, tools: Tools) -> int:
    """Say adaptive or fixed per task type and, with ``args.traffic``, whether service classes are borne out."""
    curves, _ = _curves(args, tools)
    advice = advise(curves)
    traffic = None if args.traffic is None else read_traffic(args.traffic)
    classes = None if traffic is None else advise_classes(traffic, curves.settings.seed)
    if args.json:
        tools.write_json(
            {
                "model": curves.settings.model,
                "model_digest": curves.settings.model_digest,
                "tasks": advice_json(advice),
                "classes": None if classes is None else class_json(classes),
            }
        )
        return Exit.OK
    tools.out.print(advice_table(advice))
    if classes is not None:
        tools.out.print(class_table(classes))
    return Exit.OK


def curves_at(path: Path) -> CurveSet:
    """Read the curves that ``unmask curve`` keeps in a folder, or a file of them."""
    return read_curves(path if path.is_file() else path / CURVES)


def _curves(args: argparse.Namespace, tools: Tools) -> tuple[CurveSet, ModelInfo]:
    """Return the curves named, and the model served, which has to have the same weights."""
    curves = curves_at(_given(args))
    model = model_named(args.model or curves.settings.model, tools, args.remote)
    curves.check_model(model.name, model.digest)
    return curves, model


def _left_out(store: PolicyStore, proposal: Proposal) -> tuple[str, ...]:
    """Return the task types of the policy in force that a proposal has not."""
    new = proposal.policy
    active = active_policy(store, new.model, new.model_digest).active
    known = {entry.task for entry in new.tasks}
    return () if active is None else tuple(entry.task for entry in active.policy.tasks if entry.task not in known)


def _given(args: argparse.Namespace) -> Path:
    """Return the folder or file of curves that a command names, or that of its model."""
    if args.curves is not None:
        return Path(args.curves)
    _, name = named_settings(args.model or "tiny", args.remote)
    return Path("runs") / f"curve-{name}"


def _folder(args: argparse.Namespace) -> Path:
    given = _given(args)
    return given.parent if given.is_file() else given
