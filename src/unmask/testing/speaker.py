"""An engine that says what it is told to, canvas by canvas."""

from collections.abc import Sequence

from unmask.plan import CanvasResult, CanvasTask, DecodeTask, Plan, RowResult, StepRecord, TokenResult
from unmask.testing.networks import TINY_ADAPTER


class Speaker:
    """Fills canvases from the left, an even share a step, with the tokens of an answer; end tokens follow it.

    All canvases of a request are of one length.
    """

    def __init__(self, answer: Sequence[int]) -> None:
        self._answer = tuple(answer)

    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Return each row's next step."""
        return tuple(None if row.task is None else self._step(row.task) for row in plan.rows)

    def _step(self, task: CanvasTask | DecodeTask) -> RowResult:
        if isinstance(task, DecodeTask):
            return TokenResult(token=self._spoken(task.index, 1)[0])
        words = self._spoken(task.index * len(task.tokens), len(task.tokens))
        share = -(-len(words) // (task.step + task.steps_left))
        known = min(len(words), share * (task.step + 1))
        finished = task.steps_left == 1 or known == len(words)
        tokens = words if finished else words[:known] + (TINY_ADAPTER.mask,) * (len(words) - known)
        return CanvasResult(
            tokens=tokens,
            finished=finished,
            converged=task.steps_left > 1,
            state=None,
            record=_record(words, known) if task.trace else None,
        )

    def _spoken(self, first: int, length: int) -> tuple[int, ...]:
        part = self._answer[first : first + length]
        return part + (TINY_ADAPTER.end,) * (length - len(part))


def _record(words: tuple[int, ...], known: int) -> StepRecord:
    return StepRecord(
        draft=words,
        fixed=tuple(place < known for place in range(len(words))),
        confidence=(0.5,) * len(words),
        entropy=(0.1,) * len(words),
    )
