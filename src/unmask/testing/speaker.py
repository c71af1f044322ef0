"""An engine that says what it is told to, canvas by canvas."""

from collections.abc import Sequence

from unmask.plan import CanvasResult, DecodeTask, Plan, RowResult, SpeculativeTask, Task, TokenResult
from unmask.testing.fake_engine import speculate
from unmask.testing.fixed_tokens import make_fixed
from unmask.testing.networks import TINY_ADAPTER
from unmask.testing.records import make_record


class Speaker:
    """Fills canvases from the left, an even share a step, with the tokens of an answer; end tokens follow it.

    All canvases of a request are of one length.
    """

    def __init__(self, answer: Sequence[int]) -> None:
        self._answer = tuple(answer)

    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Return each row's next step."""
        return tuple(None if row.task is None else self._step(row.task) for row in plan.rows)

    def _step(self, task: Task) -> RowResult:
        if isinstance(task, SpeculativeTask):
            return speculate(task, self._spoken(task.index, len(task.draft) + 1 + len(task.tokens)))
        if isinstance(task, DecodeTask):
            (token,) = self._spoken(task.index, 1)
            return TokenResult(token=token, logprobs=make_fixed(token, task.top_logprobs))
        words = self._spoken(task.index * len(task.tokens), len(task.tokens))
        share = -(-len(words) // (task.step + task.steps_left))
        before, known = (min(len(words), share * steps) for steps in (task.step, task.step + 1))
        return CanvasResult(
            tokens=words[:known] + (TINY_ADAPTER.mask,) * (len(words) - known),
            finished=known == len(words),
            converged=task.steps_left > 1,
            state=None,
            record=make_record(task, words, known),
            logprobs=()
            if task.top_logprobs is None
            else tuple(
                make_fixed(word, task.top_logprobs) if before <= place < known else None
                for place, word in enumerate(words)
            ),
        )

    def _spoken(self, first: int, length: int) -> tuple[int, ...]:
        part = self._answer[first : first + length]
        return part + (TINY_ADAPTER.end,) * (length - len(part))
