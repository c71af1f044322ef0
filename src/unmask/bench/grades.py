"""The difficulty each accuracy target is stated for, and how the rest is reported."""

from dataclasses import dataclass

from unmask.tasks.item import Difficulty


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """A task type's target accuracy, on items whose axes are within ``limits``; reported by the ``label_axes``."""

    task: str
    target: float
    limits: tuple[tuple[str, int], ...]
    label_axes: tuple[str, ...]

    @property
    def has_harder(self) -> bool:
        """Whether the task type has items beyond the limits."""
        return bool(self.limits)

    def holds(self, difficulty: Difficulty) -> bool:
        """Tell whether the target is stated for this difficulty."""
        return all(difficulty[axis] <= limit for axis, limit in self.limits)

    def label(self, difficulty: Difficulty) -> str:
        """Return the difficulty as reported."""
        return " ".join(f"{axis}={difficulty[axis]}" for axis in self.label_axes)


GRADES = (
    Grade(task="lookup", target=0.95, limits=(("hops", 2), ("facts", 12)), label_axes=("hops",)),
    Grade(task="dialogue", target=0.90, limits=(), label_axes=("kind",)),
    Grade(task="extract", target=0.95, limits=(), label_axes=("fields",)),
    Grade(task="arithmetic", target=0.90, limits=(("terms", 3),), label_axes=("terms",)),
    Grade(task="sort", target=0.90, limits=(), label_axes=("length",)),
    Grade(task="latin", target=0.80, limits=(("size", 4),), label_axes=("size",)),
)
