"""A server without its HTTP, as rows of the layers bench need it: admission, cache, savings, attempts, one engine."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client import CollectorRegistry

from unmask.api.meters import make_meters
from unmask.api.running import Running
from unmask.app.cache import audit_folder, cache_parts
from unmask.app.control import refiner_in
from unmask.backend import Generation
from unmask.backend import Request as GenerateRequest
from unmask.bench.arms import BASE
from unmask.bench.bench import Bench
from unmask.bench.layers_arms import record_of
from unmask.bench.layers_workload import Ask
from unmask.bench.report import Record
from unmask.bench.workload import item_request
from unmask.config import Settings
from unmask.config.choices import Switch
from unmask.control.answered import Answered
from unmask.control.asked import Asked
from unmask.control.attempt import AttemptReason
from unmask.control.cached import CachedAnswers
from unmask.control.controller import Controller
from unmask.control.parts import ControlParts
from unmask.control.sources import NoPolicies, PolicySource
from unmask.errors import UnmaskError
from unmask.local.backend import LocalBackend
from unmask.local.model import serve_model
from unmask.savings.registry import CONFIDENCE_STOP
from unmask.savings.standing import KnownSavings
from unmask.tasks.registry import all_tasks
from unmask.types import Outcome, Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server's settings that are beside the engine's, the precision it runs in, and its policies."""

    settings: Settings
    precision: Precision
    policies: PolicySource = field(default_factory=NoPolicies)


class Server:
    """Answers requests as a server does, as many at once as its engine has rows."""

    def __init__(self, backend: LocalBackend, control: Controller) -> None:
        self._backend = backend
        self._control = control
        self._ids = count()

    @property
    def forward_s(self) -> float:
        """Seconds of forwards since the start."""
        return sum(load.work.seconds for load in self._backend.load())

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer requests, each sent once one of those before it has its answer; return answers in their order.

        Raises:
            UnmaskError: the engine failed one.
        """
        gate = asyncio.Semaphore(BASE.max_rows)

        async def one(ask: Ask) -> Answered:
            async with gate:
                return await self._answer(ask)

        return await asyncio.gather(*map(one, asks))

    async def _answer(self, ask: Ask) -> Answered:
        control, (model,) = self._control, self._backend.models()
        request = item_request(ask.item, model.name, max_steps=ask.max_steps)
        admitted = control.admit(request, Asked(task=ask.item.task, max_steps=ask.max_steps), model)
        async with control.looking(admitted, nullcontext) as looked:
            if looked is not None and looked.answered is not None:
                return looked.answered
            begun = await control.begin(admitted, self._generate)
            answered = await control.conclude(admitted, begun, self._generate)
            if answered.generation.outcome is not Outcome.COMPLETED:
                raise UnmaskError(
                    f"item {ask.item.digest} of {ask.item.task} {answered.generation.outcome}: "
                    f"{answered.generation.error}"
                )
            return control.keep(admitted, looked, answered, f"bench-{next(self._ids)}")

    async def _generate(self, request: GenerateRequest, _: AttemptReason) -> Generation:
        return await self._backend.generate(request)


@asynccontextmanager
async def serving(bench: Bench, served: Served, seed: int) -> AsyncIterator[Server]:
    """Start a server whose state is forgotten at its end.

    Args:
        bench: what is served.
        served: how.
        seed: of what it draws.
    """
    model = serve_model(bench.model, bench.tokenizer, BASE, bench.clock, precision=served.precision)
    backend = LocalBackend((model,))
    with TemporaryDirectory(prefix="unmask-bench-") as folder:
        parts = _parts(bench, served, Path(folder), seed)
        try:
            yield Server(backend, _controller(bench, backend, parts))
        finally:
            await backend.drain()
            if parts.cache is not None:
                parts.cache.close()
            if parts.refiner is not None:
                parts.refiner.pairs.close()


def served_record(ask: Ask, answered: Answered) -> Record:
    """Return what became of a request, by the checker."""
    generation = answered.generation
    return record_of(
        ask.item,
        steps=generation.usage.steps_used,
        seconds=generation.timing.finished - generation.timing.arrived,
        correct=all_tasks()[ask.item.task].check(ask.item, generation.text).passed,
    )


def _parts(bench: Bench, served: Served, folder: Path, seed: int) -> ControlParts:
    settings, environ, ids = served.settings, {"XDG_STATE_HOME": str(folder)}, count()
    enabled = {CONFIDENCE_STOP: ("bench",)} if settings.confidence_stop is Switch.ON else {}
    return ControlParts(
        policies=served.policies,
        savings=KnownSavings(enabled=enabled),
        refiner=refiner_in(settings, environ, bench.tokenizer.chat_length, lambda: seed),
        cache=cache_parts(
            settings,
            audit_folder(environ),
            bench.clock,
            new_id=lambda: f"entry-{next(ids)}",
            draw_seed=lambda: seed,
        ),
    )


def _controller(bench: Bench, backend: LocalBackend, parts: ControlParts) -> Controller:
    cache, now = parts.cache, bench.clock.now
    meters = make_meters(backend, Running(1), CollectorRegistry(), None if cache is None else cache.cache)
    return Controller(
        parts,
        meters.control,
        now=now,
        new_id=str,
        cached=None if cache is None else CachedAnswers(cache, meters.cache, bench.clock, now),
    )
