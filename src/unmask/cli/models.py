"""``unmask models``."""

import argparse
import asyncio
from dataclasses import asdict

from rich.table import Table

from unmask.backend import ModelInfo
from unmask.cli.exits import Exit
from unmask.cli.tools import Tools
from unmask.config import Settings


def run_models(args: argparse.Namespace, tools: Tools) -> int:
    """Show every model in the package, loaded and checked."""
    models = asyncio.run(_models(tools))
    if args.json:
        tools.write_json({"models": [asdict(model) for model in models]})
    else:
        tools.out.print(_table(models))
    return Exit.OK


async def _models(tools: Tools) -> tuple[ModelInfo, ...]:
    backend = tools.make_backend(Settings())
    try:
        return backend.models()
    finally:
        await backend.drain()


def _table(models: tuple[ModelInfo, ...]) -> Table:
    table = Table()
    for name in ("name", "parameters", "digest", "context", "canvas", "steps"):
        table.add_column(name, overflow="fold", justify="right" if name in {"parameters", "context"} else "left")
    for model in models:
        table.add_row(
            model.name,
            "unknown" if model.parameters is None else f"{model.parameters:,}",
            model.digest,
            str(model.context_length),
            ", ".join(map(str, model.canvas_lengths)),
            f"up to {model.max_steps}, by default {model.default_steps}",
        )
    return table
