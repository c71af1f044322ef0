"""Ends tasks for good."""

import asyncio
from typing import Any


async def cancel(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait until it has let go of what it holds; how it ends is nobody's concern."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
