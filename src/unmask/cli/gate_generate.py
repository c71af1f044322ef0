"""``unmask gate generate``."""

import argparse
import asyncio
import re
from dataclasses import dataclass
from random import Random

from rich.table import Table

from unmask.cli.embeddings import embedder_of
from unmask.cli.gate_exits import GateExit
from unmask.cli.gate_policy import under_policy
from unmask.cli.gate_retrieval import retriever_for
from unmask.cli.gate_systems import Named, named_systems, open_systems
from unmask.cli.gate_trouble import Trouble
from unmask.cli.gate_weights import weights_of
from unmask.cli.progress import progress_of
from unmask.cli.tools import Tools
from unmask.clock import Clock, SystemClock
from unmask.gate.artefacts import RunFolder
from unmask.gate.errors import RunFolderError
from unmask.gate.patience import Trying
from unmask.gate.response import Binding
from unmask.gate.run import Asked, ask_all, binding_of
from unmask.gate.run_plan import Run, Way
from unmask.gate.scenario import Suite
from unmask.gate.suite_files import warnings_of
from unmask.gate.suite_named import suite_named
from unmask.tune.origin import commit

MOST_FAULTS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A run that was asked to its end.

    Attributes:
        folder: where its answers are.
        asked: how it ended.
    """

    suite: Suite
    folder: RunFolder
    binding: Binding
    asked: Asked


def run_generate(args: argparse.Namespace, tools: Tools) -> int:
    """Ask a suite, and say how that went; to score the answers is for `unmask gate score`."""
    generated = generate(args, tools)
    if args.json:
        tools.write_json(_record(generated))
    else:
        tools.out.print(_table(generated))
    return GateExit.CANNOT_RUN if generated.asked.faults else GateExit.PASS


def generate(args: argparse.Namespace, tools: Tools, clock: Clock | None = None) -> Generated:
    """Ask a suite as ``args`` of `unmask.cli.gate_generate_parser.add_asking` say, and keep the answers.

    Raises:
        UnmaskError: suite, systems or folder cannot be used; nothing has been asked then, or what was is kept.
    """
    suite = suite_named(args.suite)
    named = named_systems(args)
    for warning in (*warnings_of(suite), *_warnings(args, named)):
        tools.say(f"warning: {warning}")
    folder = RunFolder(args.out or _default_folder(suite, named))
    try:
        return asyncio.run(_asked(args, suite, named, folder, tools, clock or SystemClock()))
    except KeyboardInterrupt:
        answers = sum(response.fault is None for response in folder.responses())
        tools.say(f"{answers} answers are kept in {folder.url}; go on with --resume")
        raise


async def _asked(
    args: argparse.Namespace, suite: Suite, named: tuple[Named, ...], folder: RunFolder, tools: Tools, clock: Clock
) -> Generated:
    way = Way(temperature=args.temperature, steps=args.steps, max_tokens=args.max_tokens, concurrency=args.concurrency)
    systems = open_systems(named, way, args.kind, weights_of(args, tools), tools)
    try:
        run = Run(
            suite=suite,
            seeds=tuple(range(args.seeds)),
            endpoints=under_policy(args, systems.endpoints, tools),
            retriever=retriever_for(
                args.retrieval, args.form, embedder_of(args), is_embedded=all(one.url is None for one in named)
            ),
            way=way,
            limit=args.limit,
        )
        binding = _begun(args, run, folder, tools)
        with progress_of(tools, "asking", "answered") as progress:
            asked = await ask_all(run, folder, Trying(clock=clock, rng=Random(), notice=Trouble(tools)), progress)
    finally:
        await systems.drain()
    _say(tools, asked, folder)
    return Generated(suite=suite, folder=folder, binding=binding, asked=asked)


def _begun(args: argparse.Namespace, run: Run, folder: RunFolder, tools: Tools) -> Binding:
    started = tools.now().isoformat(timespec="seconds")
    binding = binding_of(run, name=folder.url.rsplit("/", 1)[-1], revision=commit() or "", started=started)
    if folder.binding() is not None and not args.resume:
        raise RunFolderError(f"{folder.url} holds a run; go on with it by --resume, or name another folder by --out")
    return folder.begin(binding)


def _default_folder(suite: Suite, named: tuple[Named, ...]) -> str:
    parts = (suite.id, *(f"{one.model}-{one.mode.value}" for one in named))
    return "runs/gate-" + re.sub(r"[^\w.-]+", "-", "-".join(parts))


def _warnings(args: argparse.Namespace, named: tuple[Named, ...]) -> list[str]:
    if args.temperature or args.seeds == 1 or any(one.url for one in named):
        return []
    return ["at temperature 0 an embedded model answers every seed alike; --seeds 1 learns as much in less time"]


def _say(tools: Tools, asked: Asked, folder: RunFolder) -> None:
    for response in asked.faults[:MOST_FAULTS_SHOWN]:
        key = response.key
        tools.say(f"fault: {key.scenario} (seed {key.seed}, {key.system}): {response.fault}")
    if asked.faults:
        tools.say(
            f"{len(asked.faults)} have no answer because of the infrastructure, which says nothing about the model; "
            "ask them again with --resume"
        )
    tools.say(f"kept: {folder.url}")


def _table(generated: Generated) -> Table:
    table = Table(caption=f"run {generated.binding.run}")
    for name in ("system", "model", "mode", "answers", "faults"):
        table.add_column(name)
    for row in _rows(generated):
        table.add_row(*map(str, row.values()))
    return table


def _rows(generated: Generated) -> list[dict[str, object]]:
    responses = generated.folder.responses()
    rows: list[dict[str, object]] = []
    for system in generated.binding.systems:
        faults = [response.fault for response in responses if response.key.system is system.label]
        rows.append(
            {
                "system": system.label.value,
                "model": system.model,
                "mode": system.mode.value,
                "answers": faults.count(None),
                "faults": len(faults) - faults.count(None),
            }
        )
    return rows


def _record(generated: Generated) -> dict[str, object]:
    return {
        "folder": generated.folder.url,
        "run": generated.binding.run,
        "suite": generated.binding.suite,
        "systems": _rows(generated),
        "faults": [
            {"scenario": one.key.scenario, "seed": one.key.seed, "system": one.key.system.value, "fault": one.fault}
            for one in generated.asked.faults
        ],
    }
