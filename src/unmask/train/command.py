"""The ``unmask train`` command: trains, shows how it goes, leaves weights, pictures and a card."""

import argparse
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from rich.console import Console

from unmask.clock import SystemClock
from unmask.engine.weights import save_weights
from unmask.errors import CheckpointError, ConfigError
from unmask.train.card import render_card
from unmask.train.display import accuracy_table, make_display
from unmask.train.log import LogEntry, read_log
from unmask.train.loop import Run, Trained, can_compile, choose_device, train
from unmask.train.recipe import Recipe, recipe

# Compiling takes about a minute, which a short run never wins back.
COMPILED_FROM_MINUTES = 10.0
COMPILED_FROM_STEPS = 400
INTERRUPTED = 130


def run(args: argparse.Namespace) -> int:
    """Train the model ``args`` describe; returns the exit code.

    Attributes read: ``name``, ``minutes``, ``steps`` (or ``None``), ``resume``,
    ``folder``, ``seed``, ``weights`` (or ``None``), ``json``.

    Raises:
        UnmaskError: an argument is wrong, or state could not be read, made or written.
    """
    chosen = recipe(args.name, args.seed)
    if args.weights is not None:
        # Weights that answer have learnt to copy.
        chosen = replace(chosen, feed=replace(chosen.feed, warm_up_steps=0))
    planned = _plan(args)
    console = Console(stderr=True)
    with _stop_on_signal() as stop, make_display(console, chosen.name) as display:
        trained = train(chosen, planned, display.report, clock=SystemClock(), stopped=stop.is_set)
    if not trained.finished:
        console.print(f"stopped after step {trained.progress.step}; go on with --resume and the same arguments")
        return INTERRUPTED
    _deliver(chosen, planned, trained, console, as_json=args.json)
    return 0


def _plan(args: argparse.Namespace) -> Run:
    """Check what was asked for and turn it into a run."""
    if args.steps is not None and args.steps < 1:
        raise ConfigError(f"steps is {args.steps!r}, allowed: 1 or more", param="steps")
    if args.steps is None and not args.minutes > 0:
        raise ConfigError(f"minutes is {args.minutes!r}, allowed: more than 0", param="minutes")
    device = choose_device()
    long = args.steps >= COMPILED_FROM_STEPS if args.steps is not None else args.minutes >= COMPILED_FROM_MINUTES
    return Run(
        folder=Path(args.folder),
        minutes=args.minutes,
        steps=args.steps,
        resume=args.resume,
        weights=args.weights,
        compiled=long and can_compile(device),
        # An accelerator is done with a step long before one process has made the next.
        feeders=1 if device.type == "cpu" else 6,
    )


@contextmanager
def _stop_on_signal() -> Iterator[threading.Event]:
    """Turn the first interrupt into an event, so that a step is never cut in half; a second one interrupts."""
    stop = threading.Event()

    def handle(number: int, _frame: FrameType | None) -> None:
        stop.set()
        caught = signal.Signals(number)
        signal.signal(caught, previous[caught])

    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    previous = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield stop
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


def _deliver(chosen: Recipe, planned: Run, trained: Trained, console: Console, *, as_json: bool) -> None:
    """Write weights, pictures and card, and say where they are."""
    weights = planned.folder / "model.safetensors"
    digest = save_weights(weights, trained.network, name=chosen.name)
    log = read_log(planned.log)
    card = planned.folder / "model-card.md"
    try:
        card.write_text(render_card(chosen, log, seconds=trained.progress.seconds, quality=()), encoding="utf-8")
    except OSError as error:
        raise CheckpointError(f"cannot write the model card {str(card)!r}: {error}; free some space") from error
    files = [weights, card, *_draw(log, planned.folder, console)]
    last = log[-1].tasks if log else ()
    if as_json:
        summary = {
            "model": chosen.name,
            "seed": chosen.feed.seed,
            "digest": digest,
            "steps": trained.progress.step,
            "seconds": round(trained.progress.seconds, 3),
            "device": str(trained.network.tokens.weight.device),
            "files": [str(path) for path in files],
            "tasks": [asdict(figures) for figures in last],
        }
        print(json.dumps(summary))
        return
    console.print(accuracy_table(last))
    print("\n".join(str(path) for path in files))


def _draw(log: tuple[LogEntry, ...], folder: Path, console: Console) -> tuple[Path, ...]:
    if find_spec("matplotlib") is None:
        console.print("no pictures: matplotlib is not installed; install unmask with its 'charts' extra")
        return ()
    from unmask.train.pictures import draw_pictures  # noqa: PLC0415 - matplotlib is an extra

    return draw_pictures(log, folder)
