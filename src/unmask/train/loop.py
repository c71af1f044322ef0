"""The training loop: seeded, checkpointed, exactly resumable."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from unmask.clock import Clock
from unmask.engine.network import Network
from unmask.engine.weights import load_weights
from unmask.errors import CheckpointError, ConfigError
from unmask.train.checkpoint import Progress, load_checkpoint, save_checkpoint
from unmask.train.dense import DensePass
from unmask.train.feed import feed
from unmask.train.lessons import task_order
from unmask.train.log import LogEntry, TaskFigures, append_entry, rewind_log
from unmask.train.recipe import Recipe
from unmask.train.step import Forward, make_optimisers, make_sums, set_rates, train_step

DECAY_SHARE = 0.5
LAST_FACTOR = 0.02
CHECKPOINT_SECONDS = 180.0
LOG_STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Where a run lives and how long the whole of it is: ``minutes`` trained, or ``steps`` when given.

    The length counts what was trained before a resume, so that a run that was
    interrupted and resumed with the same length is the run it would have been.
    A new run starts from ``weights`` where they are given: how to go on when
    the state of the run that made them is lost.
    """

    folder: Path
    minutes: float
    steps: int | None = None
    resume: bool = False
    weights: Path | None = None
    compiled: bool = True
    feeders: int = 1

    @property
    def checkpoint(self) -> Path:
        """Return where the resumable state is."""
        return self.folder / "checkpoint.pt"

    @property
    def log(self) -> Path:
        """Return where the log is."""
        return self.folder / "log.jsonl"

    def fraction(self, progress: Progress) -> float:
        """Return how much of the run is done; one or more when it is over."""
        return progress.step / self.steps if self.steps is not None else progress.seconds / (60.0 * self.minutes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a display is told after every step; ``figures`` are there every few steps only."""

    progress: Progress
    fraction: float
    figures: tuple[TaskFigures, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A network and how far it is trained; ``finished`` unless it was stopped early."""

    network: Network
    progress: Progress
    finished: bool


def rate_factor(fraction: float, step: int, warm_up: int) -> float:
    """Warm up linearly over steps, hold, then decay linearly over the last share of the run."""
    decay = min(1.0, (1.0 - fraction) / DECAY_SHARE)
    return min(1.0, (step + 1) / warm_up) * max(decay, LAST_FACTOR)


def choose_device() -> torch.device:
    """Return the accelerator that training runs on, or the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def can_compile(device: torch.device) -> bool:
    """Tell whether this machine has what ``torch.compile`` needs: a C++ compiler, Python's headers, Triton on a GPU."""
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    headers = Path(sysconfig.get_path("include"), "Python.h")
    return (
        bool(shutil.which(compiler)) and headers.is_file() and (device.type == "cpu" or find_spec("triton") is not None)
    )


def train(
    recipe: Recipe,
    run: Run,
    report: Callable[[Report], None],
    *,
    clock: Clock,
    stopped: Callable[[], bool] = lambda: False,
) -> Trained:
    """Train until the run is over or ``stopped`` says so, which it is asked before every step.

    State and log are in ``run.folder`` when this returns, and every few minutes before.

    Raises:
        CheckpointError: state cannot be read or written.
        ConfigError: a new run would overwrite another one, or start from weights of another shape.
        WeightsError: the weights to start from are damaged.
        FeedError: making training data failed.
    """
    network = make_network(recipe, choose_device())
    optimisers = make_optimisers(network, recipe)
    progress = before = _begin(recipe, run, network, optimisers)
    dense: Forward = DensePass(network, compiled=run.compiled)
    sums = make_sums(network.tokens.weight.device)
    started = saved = clock.now()
    with closing(feed(recipe.feed, progress.step, run.feeders)) as batches:
        while (fraction := run.fraction(progress)) < 1.0 and not stopped():
            set_rates(optimisers, recipe, rate_factor(fraction, progress.step, recipe.rate_warm_up))
            train_step(dense, network, optimisers, next(batches), recipe, sums)
            now = clock.now()
            progress = Progress(step=progress.step + 1, seconds=before.seconds + now - started)
            figures = _log(run.log, progress, sums) if progress.step % LOG_STEPS == 0 else ()
            report(Report(progress=progress, fraction=min(1.0, run.fraction(progress)), figures=figures))
            if now - saved > CHECKPOINT_SECONDS:
                save_checkpoint(run.checkpoint, recipe, network, optimisers, progress)
                saved = now
    if progress.step > before.step:
        save_checkpoint(run.checkpoint, recipe, network, optimisers, progress)
        if progress.step % LOG_STEPS:
            _log(run.log, progress, sums)
    return Trained(network=network, progress=progress, finished=fraction >= 1.0)


def make_network(recipe: Recipe, device: torch.device) -> Network:
    """Initialise a network: small embeddings, zero output projections, so that it starts as the identity.

    Drawn on the CPU, so that a seed gives the same network on every device.
    """
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(recipe.feed.seed)
        network = Network(recipe.shape)
        width = recipe.shape.width
        for name, parameter in network.named_parameters():
            if name.endswith(("out.weight", "down.weight", "head.weight")):
                torch.nn.init.zeros_(parameter)
            elif name.endswith(("qkv.weight", "up.weight")):
                torch.nn.init.uniform_(parameter, -((3 / width) ** 0.5), (3 / width) ** 0.5)
            elif name.endswith(("tokens.weight", "canvas.weight")):
                torch.nn.init.normal_(parameter, std=1.0 if name.startswith("tokens") else 0.5)
    return network.to(device)


def _begin(recipe: Recipe, run: Run, network: Network, optimisers: Sequence[torch.optim.Optimizer]) -> Progress:
    """Make the folder of a new run, or restore a resumed one."""
    if run.resume:
        progress = load_checkpoint(run.checkpoint, recipe, network, optimisers)
        rewind_log(run.log, progress.step)
        return progress
    if run.checkpoint.exists():
        raise ConfigError(
            f"{str(run.folder)!r} holds a run already; go on with it by --resume, or name another --folder",
            param="folder",
        )
    try:
        run.folder.mkdir(parents=True, exist_ok=True)
        run.log.unlink(missing_ok=True)
    except OSError as error:
        raise CheckpointError(f"cannot use the folder {str(run.folder)!r}: {error}; name another --folder") from error
    if run.weights is not None:
        _start_from(run.weights, network)
    return Progress()


def _start_from(weights: Path, network: Network) -> None:
    loaded = load_weights(weights)
    if loaded.network.shape != network.shape:
        raise ConfigError(
            f"{str(weights)!r} holds a model of another shape; train that one, or start without", param="weights"
        )
    network.load_state_dict(loaded.network.state_dict())


def _log(path: Path, progress: Progress, sums: Tensor) -> tuple[TaskFigures, ...]:
    """Log what was measured since the last entry, of the tasks there was something of, and begin anew."""
    means = (sums[..., :2] / sums[..., 2:].clamp_min(1.0)).tolist()
    counts = sums[:, 0, 2].tolist()
    sums.zero_()
    figures = tuple(
        TaskFigures(
            task=task,
            canvas_loss=round(canvas[0], 4),
            canvas_accuracy=round(canvas[1], 4),
            causal_loss=round(causal[0], 4),
            causal_accuracy=round(causal[1], 4),
        )
        for task, (canvas, causal), count in zip(task_order(), means, counts, strict=True)
        if count
    )
    append_entry(path, LogEntry(step=progress.step, seconds=progress.seconds, tasks=figures))
    return figures
