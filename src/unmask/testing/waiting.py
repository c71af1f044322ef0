"""Waiting for what a test cannot be told of."""

import asyncio
from collections.abc import Callable

LONGEST_S = 10.0


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop run until the condition holds; a `TimeoutError` if it does not in ten seconds."""
    async with asyncio.timeout(LONGEST_S):
        while not condition():  # noqa: ASYNC110 - conditions are about fakes and servers that signal nothing
            await asyncio.sleep(0.001)
