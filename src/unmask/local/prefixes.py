"""Keys and values of prompts for other engines, and from them."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from functools import partial

from unmask.backend import ModelInfo, Request
from unmask.core.front import Front
from unmask.core.prefixes import PART_PAGES, PrefixStore
from unmask.errors import ConfigError
from unmask.prefix import KvPrefix, PrefixError, PrefixKind, PromptPrefix, check_prefix, sealed
from unmask.routing import PrefillEnd
from unmask.sched.prefix import page_names
from unmask.sequence import Sequence as Running
from unmask.sequence import Submission
from unmask.types import Mode, Outcome, Precision, StepBudget


class Prefixes:
    """Those of one model in one precision.

    Args:
        front: of its engine thread.
        store: of its kept pages.
        model: whose keys and values they are.
        precision: of the engine.
    """

    def __init__(self, front: Front, store: PrefixStore, model: ModelInfo, precision: Precision | None) -> None:
        self._front = front
        self._store = store
        self._context_length = model.context_length
        self._kind = PrefixKind(model=model.digest, precision=precision, layout=store.layout)

    async def find(self, tenant: str, prompt: Sequence[int]) -> PromptPrefix:
        """Return the beginning of a prompt that fills whole pages, and how much of it is kept."""
        size = self._store.page_size
        names = await asyncio.to_thread(page_names, tenant, prompt, size)
        known = await self._front.between_ticks(partial(self._store.known, names))
        return PromptPrefix(tokens=tuple(prompt[: len(names) * size]), names=tuple(names), cached=known * size)

    async def make(self, request: Request, prefix: PromptPrefix) -> KvPrefix:
        """Run the beginning of a prompt, and return its keys and values, or of as much of it as is still kept then.

        Raises:
            PrefixError: the engine failed at it.
            RetryLaterError: nothing more is taken at present.
        """
        ended = await self._run(prefill_submission(request, prefix.tokens, self._context_length))
        if ended.outcome is not Outcome.COMPLETED:
            raise PrefixError(PrefillEnd.FAILED, f"the prompt was not run: {ended.error or ended.outcome}")
        parts: list[bytes] = []
        pages = 0
        for first in range(0, len(prefix.names), PART_PAGES):
            names = prefix.names[first : first + PART_PAGES]
            part = await self._front.between_ticks(partial(self._store.read, names))
            parts.append(part)
            pages += len(part) // self._store.page_bytes
            if pages < first + len(names):
                break
        tokens = prefix.tokens[: pages * self._store.page_size]
        return await asyncio.to_thread(sealed, self._kind, tokens, ended.cached_tokens, tuple(parts))

    async def keep(self, prefix: PromptPrefix, brought: KvPrefix) -> None:
        """Keep keys and values of a prompt's beginning that another engine has made.

        Raises:
            PrefixError: they are of something else, or there is no room for all of them.
        """
        await asyncio.to_thread(check_prefix, brought, self._kind, prefix.tokens)
        size = self._store.page_size
        names = prefix.names[: len(brought.tokens) // size]
        await self._front.between_ticks(partial(self._store.check_room, names))
        first = 0
        for data in brought.parts:
            last = first + len(data) // self._store.page_bytes
            tokens = brought.tokens[first * size : last * size]
            await self._front.between_ticks(partial(self._store.write, names[first:last], tokens, data))
            first = last

    async def _run(self, submission: Submission) -> Running:
        ended: Running | None = None
        async with aclosing(self._front.run(submission)) as notices:
            async for notice in notices:
                ended = notice.sequence
        assert ended is not None, "the last notice has the sequence"
        return ended


def no_prefixes(model: ModelInfo) -> ConfigError:
    """Return the refusal of a model whose keys and values are of no use to another engine."""
    reason = "pages of its engine, whose layers keep unlike keys and values, are not given away"
    if model.reads_whole:
        reason = "each of its positions sees all others, so that a prompt's keys and values change with its answer"
    return ConfigError(
        f"cluster_prefill_replicas is above 0, allowed with {model.name}: 0, as {reason}. Set it to 0, or deploy "
        "models of the package or of SDAR.",
        param="cluster_prefill_replicas",
    )


def prefill_submission(request: Request, tokens: tuple[int, ...], context_length: int) -> Submission:
    """Return a submission that runs the beginning of a prompt, in its request's place in line."""
    return Submission(
        prompt=tokens,
        max_tokens=0,
        canvas_length=1,
        context_length=context_length,
        budget=StepBudget(max_steps=1, max_total_steps=0),
        mode=Mode.AUTOREGRESSIVE,
        tenant=request.tenant,
        terms=request.terms,
        arrived=request.arrived,
    )
