"""How items are asked where traces are wanted."""

from dataclasses import dataclass

from unmask.backend import Generation, ModelInfo, Request
from unmask.control.check import make_check
from unmask.errors import InvalidRequestError
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.tune.errors import ExitRunError
from unmask.types import ExitPlan, FinishReason, Outcome, StepBudget


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What all requests of a run share."""

    model: str
    canvas_length: int

    def request(self, item: Item, budget: int, strategy: StrategyChoice, stop_at: ExitPlan | None = None) -> Request:
        """Return a traced request for an item, its drafts checked by its task type's verifier as while serving.

        Args:
            item: what is asked.
            budget: most denoise steps a canvas.
            strategy: which positions its steps reveal.
            stop_at: the exit that it runs with, if any.
        """
        return Request(
            model=self.model,
            messages=item.messages,
            budget=StepBudget(max_steps=budget),
            canvas_length=self.canvas_length,
            strategy=strategy,
            trace=True,
            exit=stop_at,
            check=make_check(item.messages, all_tasks()[item.task], None),
        )


def make_asking(model: ModelInfo, canvas_length: int | None = None) -> Asking:
    """Return how a model is asked; ``None`` is its own canvas length.

    Raises:
        InvalidRequestError: the model has no canvas of this length.
    """
    length = model.default_canvas_length if canvas_length is None else canvas_length
    if length not in model.canvas_lengths:
        allowed = ", ".join(map(str, model.canvas_lengths))
        raise InvalidRequestError("--canvas-length", length, allowed, "Leave it out for the default.")
    return Asking(model=model.name, canvas_length=length)


def completed(generation: Generation, item: Item) -> Generation:
    """Return a generation that ended by itself.

    Raises:
        ExitRunError: the backend failed it, or left out its trace.
    """
    if generation.outcome is not Outcome.COMPLETED or not generation.trace:
        reason = "came without its trace" if generation.outcome is Outcome.COMPLETED else generation.error
        raise ExitRunError(f"item {item.digest} of {item.task} {generation.outcome}: {reason or 'no reason given'}")
    return generation


def end_token(generation: Generation) -> int | None:
    """Return the id of the end token, where a request without stop sequences has ended by it."""
    return generation.tokens[-1] if generation.finish_reason is FinishReason.STOP and generation.tokens else None
