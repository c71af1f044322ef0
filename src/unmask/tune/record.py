"""One measurement of a curve run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRecord:
    """An item answered with one budget.

    Attributes:
        item: digest of its canonical form.
        budget: ``max_steps`` it was given.
        steps: denoise steps it took, over all of its canvases.
        seconds: from the start of its first step to its end.
    """

    task: str
    item: str
    difficulty: str
    budget: int
    steps: int
    seconds: float
    correct: bool

    @property
    def key(self) -> tuple[str, str, int]:
        """What is measured once a run."""
        return self.task, self.item, self.budget
