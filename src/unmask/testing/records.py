"""What a fake engine says of a step that is traced."""

from unmask.plan import CanvasTask
from unmask.types import StepTrace


def make_record(task: CanvasTask, draft: tuple[int, ...], known: int) -> StepTrace | None:
    """Return a draft of which the first ``known`` positions are fixed; nothing where nobody has asked."""
    if not task.trace:
        return None
    return StepTrace(
        canvas=task.index,
        step=task.step,
        max_steps=task.step + task.steps_left,
        draft=draft,
        fixed=tuple(place < known for place in range(len(draft))),
        confidence=(0.5,) * len(draft),
        entropy=(0.1,) * len(draft),
    )
