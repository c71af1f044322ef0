"""Ends tasks for good."""

import asyncio
from typing import Any


async def cancel(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait until it has let go of what it holds; how it ends is nobody's concern."""
    for task in tasks:
        task.cancel()
    if all(task.done() for task in tasks):
        # Waiting for them would be a turn of the loop for nothing. Who asks for an error has heard of it.
        for task in tasks:
            if not task.cancelled():
                task.exception()
        return
    await asyncio.gather(*tasks, return_exceptions=True)
