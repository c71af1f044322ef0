"""A prefill replica: runs prompts whose answers are made on other replicas."""

import asyncio
from typing import Protocol

from unmask.backend import Backend, Request
from unmask.clock import Clock
from unmask.cluster.call import Call, Refusal, request_of
from unmask.errors import UnmaskError
from unmask.prefix import KvPrefix, PromptPrefix


class PrefixBackend(Backend, Protocol):
    """A backend that can give away what it has made of a prompt, and take what another one has made."""

    async def prefix(self, request: Request) -> PromptPrefix:
        """Return the beginning of a request's prompt that fills whole pages, and how much of it is kept here."""
        ...

    async def prefill(self, request: Request) -> KvPrefix:
        """Run the beginning of a request's prompt, and return its keys and values.

        Raises:
            PrefixError: that failed.
            RetryLaterError: nothing more is taken at present.
        """
        ...

    async def keep(self, request: Request, prefix: PromptPrefix, brought: KvPrefix) -> None:
        """Keep keys and values that another backend has made of a request's prompt.

        Raises:
            PrefixError: they are of something else, or there is no room for all of them.
        """
        ...


class PrefillHost:
    """Runs prompts for engines of other processes.

    Args:
        backend: what runs them.
        clock: the backend's.
    """

    def __init__(self, backend: PrefixBackend, clock: Clock) -> None:
        self._backend = backend
        self._clock = clock
        self._open: dict[str, asyncio.Task[KvPrefix]] = {}

    async def prefill(self, name: str, call: Call) -> KvPrefix | Refusal:
        """Run the prompt of a call, and return its keys and values or why there are none; its name is for `abort`."""
        request = request_of(call, self._clock.now(), lambda _: None)
        task = asyncio.get_running_loop().create_task(self._backend.prefill(request))
        self._open[name] = task
        try:
            return await task
        except UnmaskError as error:
            return Refusal(error=error)
        finally:
            task.cancel()
            del self._open[name]

    def abort(self, name: str) -> None:
        """End a call that nobody waits for any more; one that has ended is left alone."""
        task = self._open.get(name)
        if task is not None:
            task.cancel()
