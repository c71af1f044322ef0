"""An engine as its process offers it to gateways."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from unmask.backend import Backend, Generation
from unmask.clock import Clock
from unmask.cluster.call import Call, Item, Refusal, Status, aged, moved, request_of
from unmask.errors import UnmaskError


@dataclass(slots=True, kw_only=True)
class _Run:
    """A call that is under way: its items, `None` behind the last, and what it took if it was aborted."""

    items: asyncio.Queue[Item | Exception | None] = field(default_factory=asyncio.Queue)
    left: list[Generation] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    is_aborted: bool = False


class EngineHost:
    """Runs calls of gateways on a backend of its own process.

    Args:
        backend: what answers.
        clock: the backend's.
        incarnation: names this start of the process.
    """

    def __init__(self, backend: Backend, clock: Clock, incarnation: str) -> None:
        self._backend = backend
        self._clock = clock
        self._incarnation = incarnation
        self._asked = 0
        self._runs: dict[str, _Run] = {}

    def status(self) -> Status:
        """Say what is served, what there is to do and what is wrong."""
        self._asked += 1
        return Status(
            incarnation=self._incarnation,
            count=self._asked,
            models=self._backend.models(),
            loads=self._backend.load(),
            problems=self._backend.problems(),
        )

    async def stream(self, name: str, call: Call) -> AsyncGenerator[Item, None]:
        """Run a call and yield its events, or the refusal that ends it; its name is for `abort`."""
        run = self._runs[name] = _Run()
        run.task = asyncio.get_running_loop().create_task(self._run(call, run))
        try:
            while (item := await run.items.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            await self.abort(name)
            del self._runs[name]

    async def abort(self, name: str) -> Generation | None:
        """End a call, and return what it took, where it wants that known and had not ended; its times are ages."""
        run = self._runs.get(name)
        if run is None or run.task is None:
            return None
        if not run.is_aborted:
            # Once: the first one waits for what the call took, and another would cut that short.
            run.is_aborted = True
            run.task.cancel()
        await asyncio.wait((run.task,))
        return moved(run.left[-1], -self._clock.now()) if run.left else None

    async def drain(self) -> None:
        """Accept nothing new, finish what runs, stop."""
        await self._backend.drain()

    async def _run(self, call: Call, run: _Run) -> None:
        """Pass events on from a task of its own, so that whoever aborts can wait for its end."""
        left: Callable[[Generation], None] = run.left.append
        try:
            async with aclosing(self._backend.stream(request_of(call, self._clock.now(), left))) as events:
                async for event in events:
                    run.items.put_nowait(aged(event, self._clock.now()))
        except UnmaskError as error:
            run.items.put_nowait(Refusal(error=error))
        except Exception as error:  # noqa: BLE001 - raised where the call is waited for
            run.items.put_nowait(error)
        finally:
            run.items.put_nowait(None)
