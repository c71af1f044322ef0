"""A denoise replica: its long prompts are run on prefill replicas, and their keys and values brought here."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from unmask.backend import MESSAGE_TOKENS, DoneEvent, Event, Generation, ModelInfo, Request, last_generation
from unmask.clock import Clock
from unmask.cluster.call import Refusal, make_call
from unmask.cluster.errors import ReplicaLostError
from unmask.cluster.link import Member
from unmask.cluster.prefill_host import PrefixBackend
from unmask.cluster.prefill_peers import PrefillPeers
from unmask.draining import Drain
from unmask.errors import RetryLaterError
from unmask.load import ModelLoad
from unmask.prefix import KvPrefix, PrefixError, PromptPrefix
from unmask.routing import PrefillCounts, PrefillEnd

PATIENCE_S = 10.0
"""Longest that a prompt is waited for; then it is run here."""
NOTHING = range(0)

_LOG = logging.getLogger(__name__)


class PooledBackend:
    """The `Backend` of a denoise replica. Whatever goes wrong elsewhere, a request is served here.

    Args:
        backend: its own engine.
        least_tokens: of a prompt that are not kept here, from which on it is run elsewhere.
        most_peers: prefill replicas that there may be.
        clock: the engine's.
        new_id: names calls.
    """

    def __init__(
        self, backend: PrefixBackend, *, least_tokens: int, most_peers: int, clock: Clock, new_id: Callable[[], str]
    ) -> None:
        self._backend = backend
        self._least_tokens = least_tokens
        self._clock = clock
        self._new_id = new_id
        pages = {load.model: load.kv_pages for load in backend.load()}
        self._peers = PrefillPeers(pages, most=most_peers, least_tokens=least_tokens, clock=clock)
        self._models = {model.name: model for model in backend.models()}
        self._counts = {model: PrefillCounts() for model in pages}
        self._drain = Drain()

    def meet(self, peers: tuple[Member, ...]) -> None:
        """Take note of which prefill replicas there are, and of what they say."""
        self._peers.meet(peers)

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what is served."""
        return self._backend.models()

    def problems(self) -> tuple[str, ...]:
        """Say what keeps requests from being served; without prefill replicas they are."""
        return self._backend.problems()

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what each model has to do, and what became of prompts that were to be run elsewhere."""
        return tuple(replace(load, prefills=self._counts[load.model]) for load in self._backend.load())

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end."""
        return await last_generation(self.stream(request))

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request and yield its events.

        Raises:
            DrainingError: nothing new is taken.
            UnmaskError: what its own engine refuses it with.
        """
        with self._drain.opened():
            async with aclosing(self._events(request)) as events:
                async for event in events:
                    yield event

    async def drain(self) -> None:
        """Accept nothing new, finish what runs, stop: what waits for its prompt has not reached the engine yet."""
        await self._drain.run()
        await self._backend.drain()

    async def _events(self, request: Request) -> AsyncGenerator[Event, None]:
        # The time that its prompt takes elsewhere is a part of its wait.
        arrived = self._clock.now() if request.arrived is None else request.arrived
        request = replace(request, arrived=arrived)
        elsewhere = await self._brought(request)
        left = request.left
        if left is not None:
            request = replace(request, left=lambda took: left(_booked(took, elsewhere)))
        async with aclosing(self._backend.stream(request)) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    yield DoneEvent(generation=_booked(event.generation, elsewhere))
                else:
                    yield event

    async def _brought(self, request: Request) -> range:
        """Have the beginning of a prompt run elsewhere where it is long; return the positions that are here for it."""
        info = self._models.get(request.model)
        if info is None or _most_tokens(request, info) < self._least_tokens:
            return NOTHING
        prefix = await self._backend.prefix(request)
        if prefix.missing < self._least_tokens:
            return NOTHING
        try:
            until = asyncio.get_running_loop().time() + PATIENCE_S
            brought = await self._asked(request, prefix, until)
            async with asyncio.timeout_at(until):
                await self._backend.keep(request, prefix, brought)
        except Exception as error:  # noqa: BLE001 - whatever it was, the prompt can be run here
            end = _end_of(error)
            _LOG.warning("a prompt is run here (%s): %s", end, error, exc_info=end is PrefillEnd.FAILED)
            self._count(request.model, end)
            return NOTHING
        self._count(request.model, PrefillEnd.TAKEN, tokens=len(brought.tokens), size=brought.size)
        return range(max(prefix.cached, brought.cached), len(brought.tokens))

    async def _asked(self, request: Request, prefix: PromptPrefix, until: float) -> KvPrefix:
        with self._peers.visited(request.model, prefix) as link:
            async with asyncio.timeout_at(until):
                found = await link.prefill(self._new_id(), make_call(request, self._clock.now()))
        if isinstance(found, Refusal):
            raise found.error
        return found

    def _count(self, model: str, end: PrefillEnd, *, tokens: int = 0, size: int = 0) -> None:
        self._counts[model] = self._counts[model].after(end, tokens=tokens, size=size)


def _most_tokens(request: Request, model: ModelInfo) -> int:
    """Return the most tokens that a prompt can have, without the time it takes to find them."""
    texts = sum(len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
    return texts + model.template_tokens + MESSAGE_TOKENS * (len(request.messages) + 1)


def _end_of(error: Exception) -> PrefillEnd:
    """Return what an error means for a prompt that was to be run elsewhere."""
    match error:
        case PrefixError():
            return error.end
        case ReplicaLostError():
            return PrefillEnd.LOST
        case TimeoutError():
            return PrefillEnd.LATE
        case RetryLaterError():
            return PrefillEnd.BUSY
        case _:
            return PrefillEnd.FAILED


def _booked(generation: Generation, elsewhere: range) -> Generation:
    """Return a generation with what was run elsewhere for it told as prefilled, where its engine found it cached."""
    usage = generation.usage
    moved = max(0, min(usage.cached_tokens, elsewhere.stop) - elsewhere.start)
    if not moved:
        return generation
    booked = replace(usage, cached_tokens=usage.cached_tokens - moved, prefill_tokens=usage.prefill_tokens + moved)
    return replace(generation, usage=booked)
