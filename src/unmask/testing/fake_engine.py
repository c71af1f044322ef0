"""An engine without weights: it answers from a script."""

from collections.abc import Callable

from unmask.plan import (
    CanvasResult,
    DecodeTask,
    Plan,
    Row,
    RowResult,
    SpeculativeResult,
    SpeculativeTask,
    Task,
    TokenResult,
)
from unmask.testing.fixed_tokens import make_fixed
from unmask.testing.records import make_record

Script = Callable[[Row, Task], RowResult]


class FakeEngine:
    """Runs plans by a script and remembers them.

    Args:
        script: the result of a row with a task; by default a canvas is filled at its last step with `token`, and a
            decoded token is `token`.
        token: what the default script fills in.
        error: raised in place of the next result, once.
    """

    def __init__(self, script: Script | None = None, *, token: int = 9, error: BaseException | None = None) -> None:
        self.plans: list[Plan] = []
        self.error = error
        self._script = script or (lambda _row, task: fill(task, token))

    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Return the script's results."""
        self.plans.append(plan)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        return tuple(None if row.task is None else self._script(row, row.task) for row in plan.rows)


def fill(task: Task, token: int) -> RowResult:
    """Return ``token``, or a canvas that stays as it is until its last step fills it with ``token``."""
    if isinstance(task, SpeculativeTask):
        return speculate(task, (token,) * (len(task.draft) + 1 + len(task.tokens)))
    if isinstance(task, DecodeTask):
        return TokenResult(token=token, logprobs=make_fixed(token, task.top_logprobs))
    last, filled = task.steps_left == 1, (token,) * len(task.tokens)
    return CanvasResult(
        tokens=filled if last else task.tokens,
        finished=last,
        converged=False,
        state=task.state,
        record=make_record(task, filled, len(filled) if last else 0),
        logprobs=(make_fixed(token, task.top_logprobs),) * len(task.tokens) if last else (),
    )


def speculate(task: SpeculativeTask, words: tuple[int, ...]) -> SpeculativeResult:
    """Accept of a draft what agrees with ``words``, say the next of them, and draft as many as the canvas holds."""
    pairs = zip(task.draft, words, strict=False)
    accepted = next((place for place, (drafted, word) in enumerate(pairs) if drafted != word), len(task.draft))
    tokens = words[: accepted + 1]
    drafts = words[accepted + 1 : accepted + len(task.tokens)] if accepted == len(task.draft) else ()
    scored = (make_fixed(token, task.top_logprobs) for token in tokens)
    logprobs = tuple(entry for entry in scored if entry is not None)
    return SpeculativeResult(tokens=tokens, accepted=accepted, draft=drafts, logprobs=logprobs)
