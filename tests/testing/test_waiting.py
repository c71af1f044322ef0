"""Behaviour of `unmask.testing.waiting`."""

import asyncio

from unmask.testing.waiting import until


async def test_until_lets_others_run() -> None:
    """What is waited for may happen meanwhile."""
    happened: list[str] = []
    asyncio.get_running_loop().call_later(0.01, happened.append, "x")
    await until(lambda: bool(happened))

    assert happened == ["x"]
