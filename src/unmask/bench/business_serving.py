"""Answers requests for the business bench as a server does that has given savings enabled."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from prometheus_client import CollectorRegistry

from unmask.backend import Backend, Generation
from unmask.backend import Request as GenerateRequest
from unmask.control.admitted import Admitted
from unmask.control.asked import Asked
from unmask.control.attempt import LATER
from unmask.control.budget import BudgetSource
from unmask.control.controller import Controller
from unmask.control.parts import ControlParts
from unmask.control.sources import PolicySource
from unmask.errors import UnmaskError
from unmask.metrics.control import ControlInstruments
from unmask.savings.standing import KnownSavings
from unmask.types import Message, Outcome

AT_ONCE = 12
"""Requests that are answered at the same time, so that the engine's rows are full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request of an arm."""

    messages: tuple[Message, ...]
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What a request was given, and its first attempt."""

    admitted: Admitted
    generation: Generation


def controller(backend: Backend, policies: PolicySource, savings: Sequence[str]) -> Controller:
    """Return what stands before a backend on a server that has these savings enabled by settings."""
    models = [model.name for model in backend.models()]
    enabled: Mapping[str, tuple[str, ...]] = MappingProxyType(dict.fromkeys(savings, ("bench",)))
    return Controller(
        ControlParts(policies=policies, savings=KnownSavings(enabled=enabled)),
        ControlInstruments(CollectorRegistry(), models, BudgetSource, LATER),
        now=lambda: 0.0,
        new_id=str,
    )


async def serve_all(
    backend: Backend, control: Controller, asked: Sequence[Asking], done: Callable[[int], None]
) -> list[Served]:
    """Answer requests without further attempts; return what became of them in their order.

    Raises:
        UnmaskError: the engine failed a request.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    (model,) = backend.models()

    async def serve(one: Asking) -> Served:
        async with gate:
            request = GenerateRequest(model=model.name, messages=one.messages)
            admitted = control.admit(request, Asked(task=one.task), model)
            begun = await control.begin(admitted, lambda sent, _: backend.generate(sent))
            if begun.first.outcome is not Outcome.COMPLETED:
                raise UnmaskError(f"a request of {one.task} ended {begun.first.outcome}: {begun.first.error}")
            done(1)
            return Served(admitted=admitted, generation=begun.first)

    return await asyncio.gather(*map(serve, asked))
