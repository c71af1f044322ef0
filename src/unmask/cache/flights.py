"""Requests that are being answered, so that whoever asks the very same waits for the answer in place of making it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from unmask.cache.entry import Question


class Flights:
    """Questions that somebody is answering; all of it runs on one event loop."""

    def __init__(self) -> None:
        self._ended: dict[Question, asyncio.Event] = {}

    def is_flying(self, question: Question) -> bool:
        """Tell whether somebody is answering a question."""
        return question in self._ended

    @contextmanager
    def flying(self, question: Question) -> Iterator[None]:
        """Answer a question within the block, which somebody else may be doing too; the first is waited for.

        However the block ends, nobody waits for it any longer.
        """
        if question in self._ended:
            yield
            return
        ended = self._ended[question] = asyncio.Event()
        try:
            yield
        finally:
            del self._ended[question]
            ended.set()

    async def landed(self, question: Question, most_s: float) -> None:
        """Wait until a question that is flying is so no longer, for so many seconds at the most."""
        try:
            async with asyncio.timeout(most_s):
                await self._ended[question].wait()
        except TimeoutError:
            return
