"""Generations token by token, and backends that answer attempt by attempt."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from unmask.backend import Alternative, Generation, Request, Timing, TokenLogprob
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, answered
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.expansion import Expansion
from unmask.control.verdict import Failure, Judge, Verdict
from unmask.tasks.failure import FailureKind
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.policies import make_assignment
from unmask.types import Message, Role, StepBudget, Verification

END = 1


def say(
    words: Sequence[str | bytes],
    confidence: Sequence[float] | None = None,
    *,
    ends: bool = True,
    **changes: Any,  # noqa: ANN401 - any field of the generation
) -> Generation:
    """Return a generation of one token a word, numbered from 10, with the log-probability of each.

    Args:
        words: texts or bytes of the tokens.
        confidence: log-probabilities, -0.1 everywhere unless given.
        ends: whether an end token follows.
        changes: fields of the generation.
    """
    data = [word.encode() if isinstance(word, str) else word for word in words]
    logprobs = tuple(
        TokenLogprob(chosen=Alternative(data=word, logprob=logprob))
        for word, logprob in zip(data, confidence or (-0.1,) * len(data), strict=True)
    )
    tokens = (*range(10, 10 + len(data)), *((END,) if ends else ()))
    text = b"".join(data).decode(errors="replace")
    return make_generation(text, **({"tokens": tokens, "logprobs": logprobs} | changes))


def make_expansion(**changes: Any) -> Expansion:  # noqa: ANN401 - any field of the expansion
    """Return two further attempts, each with twice the budget, up to 16 steps."""
    fields: dict[str, Any] = {"limit": 2, "factor": 2.0, "most_steps": 16}
    return Expansion(**(fields | changes))


def make_admitted(**changes: Any) -> Admitted:  # noqa: ANN401 - any field of the admitted request
    """Return a request of 4 steps a canvas that may have further attempts."""
    request = Request(
        model="tiny",
        messages=(Message(role=Role.USER, content="go"),),
        budget=StepBudget(max_steps=4),
        canvas_length=8,
    )
    fields: dict[str, Any] = {
        "request": request,
        "model": make_model("tiny"),
        "assignment": make_assignment(),
        "expansion": make_expansion(),
    }
    return Admitted(**(fields | changes))


def make_answered(generation: Generation, verify: Verification = Verification.SKIPPED) -> Answered:
    """Return a first attempt that is the answer, with a verdict."""
    failure = Failure(kind=FailureKind.LOGIC, judge=Judge.FORMAT, reason="as the test says")
    failures = (failure,) if verify is Verification.FAIL else ()
    verdict = Verdict(passed=int(verify is Verification.PASS), failures=failures)
    attempt = Attempt(reason=AttemptReason.FIRST, generation=generation, budget=None, verdict=verdict)
    return answered((attempt,))


class Attempts:
    """Answers each request by what a test says, with as many steps as its budget allows and a second for each."""

    def __init__(self, answer: Callable[[Request, int], Generation | Exception]) -> None:
        self._answer = answer
        self.requests: list[Request] = []
        self._now = 0.0

    async def __call__(self, request: Request, _: AttemptReason = AttemptReason.FIRST) -> Generation:
        """Answer a request, whatever it is for."""
        found = self._answer(request, len(self.requests))
        self.requests.append(request)
        if isinstance(found, Exception):
            raise found
        return self.timed(found, request)

    def timed(self, generation: Generation, request: Request) -> Generation:
        """Return a generation with the steps and times that its request has it take."""
        budget = request.budget or StepBudget(max_steps=4)
        steps = min(budget.max_steps, budget.max_total_steps or budget.max_steps)
        started, self._now = self._now, self._now + steps
        arrived = started if request.arrived is None else request.arrived
        usage = make_usage(steps_used=steps, steps_allocated=steps, exit_reason=generation.usage.exit_reason)
        return replace(generation, usage=usage, timing=Timing(arrived=arrived, started=started, finished=self._now))
