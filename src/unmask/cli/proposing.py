"""``unmask policy advise``, and what ``unmask policy propose`` writes: policies from measured curves."""

import argparse
import asyncio
from pathlib import Path

from unmask.backend import ModelInfo
from unmask.cli.exits import Exit
from unmask.cli.tools import Tools
from unmask.config import Settings
from unmask.errors import UnknownModelError
from unmask.tune.advise import advice_json, advice_table, advise
from unmask.tune.classes import advise_classes, class_json, class_table
from unmask.tune.curve_file import read_curves
from unmask.tune.propose import Extras, Proposal, proposal_table, propose
from unmask.tune.run import CURVES
from unmask.tune.traffic import read_traffic


def run_propose(args: argparse.Namespace, tools: Tools, extras: Extras | None = None) -> Proposal:
    """Make a policy from the curves that ``args.curves`` names (or the model's own) and say where each number is from.

    Raises:
        CurveFileError: there are no such curves, or they are damaged.
        ForeignCurvesError: they are of other weights than the model ``args.model`` has.
    """
    curves = read_curves(curves_path(args))
    model = asyncio.run(_model(args.model, tools))
    curves.check_model(model.name, model.digest)
    proposal = propose(curves, model, advise(curves), extras)
    tools.err.print(proposal_table(proposal))
    return proposal


def run_advise(args: argparse.Namespace, tools: Tools) -> int:
    """Say adaptive or fixed per task type and, with ``args.traffic``, whether service classes are borne out."""
    curves = read_curves(curves_path(args))
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


def curves_path(args: argparse.Namespace) -> Path:
    """Return the file of curves: the one named, or that which ``unmask curve`` keeps for the model."""
    return Path(args.curves) if args.curves else Path("runs") / f"curve-{args.model}" / CURVES


async def _model(name: str, tools: Tools) -> ModelInfo:
    backend = tools.make_backend(Settings(models=(name,)))
    try:
        models = {model.name: model for model in backend.models()}
        if name not in models:
            raise UnknownModelError(name, models)
        return models[name]
    finally:
        await backend.drain()
