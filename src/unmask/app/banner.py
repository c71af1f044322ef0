"""What `serve` says once it listens."""

import json
import shlex
from collections.abc import Iterator

from rich.console import Console

from unmask.backend import Lever, ModelInfo
from unmask.control.routing import Routes
from unmask.control.sources import PolicySource
from unmask.load import ModelLoad

EXAMPLE_PROMPT = "add 12 + 30"


def print_banner(
    console: Console,
    url: str,
    models: tuple[ModelInfo, ...],
    policies: PolicySource,
    *,
    routes: Routes | None = None,
    loads: tuple[ModelLoad, ...] = (),
    has_keys: bool = False,
) -> None:
    """Print where the server is, what it serves, whether it asks for keys, and a line to try."""
    console.print(f"[bold]unmask[/] listens on [bold cyan]{url}[/]", highlight=False)
    pages = {load.model: f", {_pages(load)}" for load in loads if load.page_bytes}
    for model in models:
        console.print(
            f"  {model.name}: {', '.join(_traits(model))}{pages.get(model.name, '')}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
        for line in _policy_lines(model, policies):
            console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    for line in _route_lines(routes or Routes()):
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    if has_keys:
        console.print("  every request needs a key: unmask keys create", highlight=False, markup=False, soft_wrap=True)
    console.print("\nTry:", highlight=False)
    # Whole, however narrow the terminal: a wrapped line cannot be pasted.
    console.print(curl_line(url, models[0].name, has_keys=has_keys), highlight=False, markup=False, soft_wrap=True)


def curl_line(url: str, model: str, *, has_keys: bool = False) -> str:
    """Return a command that asks the demonstration model something it knows; with keys it has the shell's ``$KEY``."""
    key = '-H "authorization: Bearer $KEY" ' if has_keys else ""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": EXAMPLE_PROMPT}]})
    return (
        f"curl -s {shlex.quote(f'{url}/v1/chat/completions')} "
        f"{key}-H 'content-type: application/json' -d {shlex.quote(body)}"
    )


def _traits(model: ModelInfo) -> Iterator[str]:
    """Say of a model what is known: a remote one may tell little."""
    if model.parameters is not None:
        yield f"{_count(model.parameters)} parameters" + (f" in {model.precision}" if model.precision else "")
    yield f"context {model.context_length}"
    if Lever.BUDGET in model.levers:
        yield f"canvas {', '.join(map(str, model.canvas_lengths))}"
        yield f"up to {model.max_steps} steps a canvas"
    else:
        yield "without step budgets"
    if model.approximate is not None and model.approximate.is_on:
        yield f"approximate cache {model.approximate.cache}"


def _pages(load: ModelLoad) -> str:
    size = load.kv_pages * load.page_bytes / (1 << 20)
    return f"KV pages for {load.kv_pages * load.page_tokens} tokens ({size:.0f} MiB)"


def _policy_lines(model: ModelInfo, policies: PolicySource) -> Iterator[str]:
    active = policies.active_policy(model.name, model.digest)
    if active is not None:
        yield f"{model.name}: approved policy {active.short_digest}, service classes {', '.join(active.class_names)}"
    yield from policies.notes(model.name, model.digest)


def _route_lines(routes: Routes) -> Iterator[str]:
    for model in routes.models:
        route = routes.named(model.name)
        if route is not None:
            yield f"{model.name}: route over {route.small_name} and {route.large.name}"
    yield from routes.notes


def _count(parameters: int) -> str:
    return f"{parameters / 1e6:.2f} M" if parameters >= 1e6 else f"{parameters / 1e3:.0f} k"
