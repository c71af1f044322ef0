"""Requests, settings and backends of searches, as tests write them down."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from unmask.backend import Generation, Request
from unmask.search.plan import SearchPlan
from unmask.search.running import Setting
from unmask.service import SearchMethod
from unmask.testing.attempts import say
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.fake_backend import tell_left
from unmask.testing.manual_clock import ManualClock
from unmask.types import Message, Role, StepBudget

REQUEST = Request(
    model="tiny",
    messages=(Message(role=Role.USER, content="무엇입니까?"),),
    max_tokens=8,
    canvas_length=8,
    budget=StepBudget(max_steps=4),
)

Line = Generation | Exception | asyncio.Event | None
"""How a generation ends: as it is, with an error, once something is set, or never."""


class Scripted:
    """Answers generations in the order they are begun, and counts what is open, most at once, and aborted.

    Args:
        lines: how each ends; one beyond them ends as the last.
        steps: denoise steps that each takes, at most what it may.
    """

    def __init__(self, lines: Sequence[Line] | Callable[[Request, int], Line], *, steps: int = 4) -> None:
        self._lines = lines
        self._steps = steps
        self.requests: list[Request] = []
        self.open = 0
        self.most_open = 0
        self.aborted = 0

    async def __call__(self, request: Request) -> Generation:
        """Answer a request."""
        number = len(self.requests)
        self.requests.append(request)
        line = self._lines(request, number) if callable(self._lines) else self._lines[min(number, len(self._lines) - 1)]
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0)
            if line is None or isinstance(line, asyncio.Event):
                await (asyncio.Event() if line is None else line).wait()
                line = make_generation("그러하다")
            if isinstance(line, Exception):
                raise line
            return self._timed(line, request)
        except asyncio.CancelledError:
            self.aborted += 1
            tell_left(request, 1)
            raise
        finally:
            self.open -= 1

    def _timed(self, generation: Generation, request: Request) -> Generation:
        most = None if request.budget is None else request.budget.max_total_steps
        steps = min(self._steps, most or self._steps)
        usage = make_usage(steps_used=steps, exit_reason=generation.usage.exit_reason)
        return replace(generation, usage=usage)


def answer(text: str, confidence: float = -0.1) -> Generation:
    """Return a whole answer of one token, as sure as that."""
    return say([text], [confidence])


def make_setting(generate: Scripted, **changes: Any) -> Setting:  # noqa: ANN401 - any field of setting or plan
    """Return a search for four candidates."""
    of_plan = {name: changes.pop(name) for name in list(changes) if name in SearchPlan.__dataclass_fields__}
    plan = SearchPlan(**({"method": SearchMethod.CANDIDATES} | of_plan))
    fields: dict[str, Any] = {
        "plan": plan,
        "request": REQUEST,
        "model": make_model(),
        "generate": generate,
        "clock": ManualClock(),
    }
    return Setting(**(fields | changes))
