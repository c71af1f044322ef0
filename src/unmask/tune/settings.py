"""What a curve run measures: the arguments that a resumed run must share."""

from dataclasses import dataclass

from unmask.backend import Lever, ModelInfo
from unmask.errors import InvalidRequestError
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.tune.task_strategy import TaskStrategy, strategy_for
from unmask.types import Mode

ITEMS = 2000
IN_FLIGHT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksFile:
    """A user's own items: the digest of their file, and how many it has of each task type, whatever their split."""

    digest: str
    items: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSettings:
    """A curve run's arguments.

    Attributes:
        items: items a task type; of a user's own there may be fewer.
        grid: budgets in denoise steps a canvas, from 1 to the most a canvas may take.
        in_flight: requests that run at the same time: latencies are those of batches of this size.
        own: strategies of task types that are not run with ``strategy``.
        split: which items. Budgets are chosen on tuning items alone; the others calibrate and judge what was chosen.
        tasks_file: where items are from that no generator makes; ``None`` for those of the package.
    """

    model: str
    model_digest: str
    tasks: tuple[str, ...]
    items: int
    grid: tuple[int, ...]
    seed: int
    strategy: StrategyChoice
    canvas_length: int
    mode: Mode
    in_flight: int
    split: Split = Split.TUNE
    own: tuple[TaskStrategy, ...] = ()
    tasks_file: TasksFile | None = None

    def strategy_of(self, task: str) -> StrategyChoice:
        """Return the strategy that a task type is run with."""
        return strategy_for(task, self.own, self.strategy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a user asks of a curve run; what is left out is the model's default."""

    tasks: tuple[str, ...] = ()
    items: int = ITEMS
    grid: tuple[int, ...] = ()
    seed: int = 0
    strategy: StrategyChoice = StrategyChoice()
    canvas_length: int | None = None
    in_flight: int = IN_FLIGHT
    split: Split = Split.TUNE
    own: tuple[TaskStrategy, ...] = ()
    tasks_file: TasksFile | None = None


def default_grid(most: int) -> tuple[int, ...]:
    """Return powers of two and the middles between them (1, 2, 3, 4, 6, 8, 12, ...), up to ``most`` and with it."""
    powers = [1 << power for power in range(most.bit_length())]
    return tuple(sorted({step for power in powers for step in (power, power * 3 // 2) if step <= most} | {most}))


def make_settings(model: ModelInfo, asked: Asked) -> CurveSettings:
    """Return the settings of a run on a model, every default filled in.

    Raises:
        InvalidRequestError: a value is not allowed for the model.
    """
    if Lever.BUDGET not in model.levers or not model.canvas_lengths:
        raise InvalidRequestError(
            "--model",
            model.name,
            "a model whose requests may name steps and canvas length",
            "What steps buy cannot be measured where nobody can set them.",
        )
    canvas_length = model.default_canvas_length if asked.canvas_length is None else asked.canvas_length
    if canvas_length not in model.canvas_lengths:
        allowed = ", ".join(map(str, model.canvas_lengths))
        raise InvalidRequestError("--canvas-length", canvas_length, allowed, "Leave it out for the default.")
    most = min(canvas_length, model.max_steps)
    grid = asked.grid or default_grid(most)
    if list(grid) != sorted(set(grid)) or grid[0] != 1 or grid[-1] != most:
        raise InvalidRequestError(
            "--grid",
            ",".join(map(str, grid)),
            f"rising budgets, the first 1 and the last {most}",
            "Leave it out for powers of two and the middles between them.",
        )
    for name, value in (("--items", asked.items), ("--in-flight", asked.in_flight)):
        if value < 1:
            raise InvalidRequestError(name, value, "1 or more", "Leave it out for the default.")
    tasks = _tasks(model, asked)
    return CurveSettings(
        model=model.name,
        model_digest=model.digest,
        tasks=tasks,
        items=asked.items,
        grid=grid,
        seed=asked.seed,
        strategy=asked.strategy,
        canvas_length=canvas_length,
        mode=Mode.DIFFUSION,
        in_flight=asked.in_flight,
        split=asked.split,
        own=tuple(entry for entry in asked.own if entry.task in tasks and entry.strategy != asked.strategy),
        tasks_file=asked.tasks_file,
    )


def _tasks(model: ModelInfo, asked: Asked) -> tuple[str, ...]:
    """Return task types in the order of the tables, or of the user's file, each once."""
    own = asked.tasks_file
    known = [task for task in all_tasks() if task in model.tasks] if own is None else list(own.items)
    unknown = [task for task in asked.tasks if task not in known]
    if unknown or not known:
        said = f"{model.name} knows no other." if own is None else "The tasks file has no other."
        raise InvalidRequestError("--task", unknown[0] if unknown else "any", ", ".join(known) or "none", said)
    return tuple(task for task in known if not asked.tasks or task in asked.tasks)
