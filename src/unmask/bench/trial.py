"""Items answered in many ways, side by side on one engine."""

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.backend import Request
from unmask.bench.arms import main_arm
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.control.check import make_check
from unmask.core.core import Core
from unmask.errors import UnmaskError
from unmask.local.limits import make_submission
from unmask.local.model import model_info
from unmask.sequence import Sequence as Generation
from unmask.sequence import Submission
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.types import ExitPlan, Outcome, StepBudget


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """All that an arm decides of a request: arms that decide alike for an item share its run."""

    max_steps: int
    max_total_steps: int | None = None
    strategy: StrategyChoice = StrategyChoice()
    exit: ExitPlan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An item to be answered, and how; trials of one lane and setup share a prefix cache, others never."""

    item: Item
    setup: Setup
    lane: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an answer took: denoise steps, output tokens, seconds from admission to the end; and whether it is right."""

    steps: int
    tokens: int
    seconds: float
    correct: bool


class TrialRunner:
    """Runs trials on one engine as it serves; the checker, which alone knows the truth, sees finished texts only.

    Args:
        bench: what is measured.
        core: the engine; by default a new one, as it serves.
        shares_prefixes: whether all trials share a prefix cache, where nobody looks at the time they take.
    """

    def __init__(self, bench: Bench, core: Core | None = None, *, shares_prefixes: bool = False) -> None:
        self._bench = bench
        self._core = main_arm(bench).core if core is None else core
        self._info = model_info(bench.model, bench.precision)
        self._tasks = all_tasks()
        self._shares_prefixes = shares_prefixes
        self._tenants: dict[tuple[str, Setup], str] = {}

    def run(self, trials: Sequence[Trial]) -> list[Answer]:
        """Run trials in one go and return their answers in the same order.

        Raises:
            UnmaskError: the engine failed one.
        """
        done = drive(self._core, [self._submission(trial) for trial in trials], self._bench.clock)
        return [self._answer(trial.item, sequence) for trial, sequence in zip(trials, done.sequences, strict=True)]

    def seconds(self, trials: Sequence[Trial]) -> float:
        """Run trials in one go and return the seconds that all took together."""
        return drive(self._core, [self._submission(trial) for trial in trials], self._bench.clock).seconds

    def _submission(self, trial: Trial) -> Submission:
        setup, item = trial.setup, trial.item
        request = Request(
            model=self._bench.model.name,
            messages=item.messages,
            budget=StepBudget(max_steps=setup.max_steps, max_total_steps=setup.max_total_steps),
            strategy=setup.strategy,
            exit=setup.exit,
            check=None if setup.exit is None else make_check(item.messages, self._tasks.get(item.task), None),
            tenant="" if self._shares_prefixes else self._tenant(trial),
        )
        return make_submission(request, self._info, tuple(self._bench.tokenizer.encode_chat(item.messages)))

    def _tenant(self, trial: Trial) -> str:
        # A prompt that another arm has left in the prefix cache would make this one look faster.
        return self._tenants.setdefault((trial.lane, trial.setup), f"setup-{len(self._tenants)}")

    def _answer(self, item: Item, sequence: Generation) -> Answer:
        if sequence.outcome is not Outcome.COMPLETED or sequence.started is None or sequence.finished is None:
            raise UnmaskError(f"item {item.digest} of {item.task} {sequence.outcome}: {sequence.error or 'no reason'}")
        return Answer(
            steps=sequence.steps,
            tokens=len(sequence.output),
            seconds=sequence.finished - sequence.started,
            correct=self._tasks[item.task].check(item, sequence.text).passed,
        )
