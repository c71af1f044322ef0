"""A search on our own engine, with a small network of random weights."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.bench.small import TOKENIZER, small_model
from unmask.backend import Generation, Request
from unmask.clock import SystemClock
from unmask.local.backend import LocalBackend
from unmask.local.model import serve_model
from unmask.sched.settings import SchedSettings
from unmask.search.plan import SearchPlan
from unmask.search.running import Setting
from unmask.types import Message, Role, StepBudget

ASKED = Request(
    model="tiny",
    messages=(Message(role=Role.USER, content="add 12 + 30, 한글"),),
    max_tokens=24,
    canvas_length=8,
    budget=StepBudget(max_steps=4),
)


class Engine:
    """Runs requests on a backend and keeps them with what came of them."""

    def __init__(self, backend: LocalBackend) -> None:
        self.backend = backend
        self.ran: list[tuple[Request, Generation]] = []

    async def __call__(self, request: Request) -> Generation:
        """Run a request."""
        generation = await self.backend.generate(request)
        self.ran.append((request, generation))
        return generation

    def setting(self, plan: SearchPlan, **changes: Any) -> Setting:  # noqa: ANN401 - any field of the setting
        """Return a search of a request for two or three canvases."""
        (model,) = self.backend.models()
        fields: dict[str, Any] = {
            "plan": plan,
            "request": ASKED,
            "model": model,
            "generate": self,
            "clock": SystemClock(),
        }
        return Setting(**(fields | changes))


@asynccontextmanager
async def engine() -> AsyncIterator[Engine]:
    """Serve the small model for as long as the block runs."""
    served = serve_model(small_model(), TOKENIZER, SchedSettings(pages=64, page_size=16), SystemClock())
    backend = LocalBackend((served,))
    try:
        yield Engine(backend)
    finally:
        await backend.drain()
