"""How whatever serves requests comes to its end."""

import asyncio

import pytest

from unmask.draining import Drain
from unmask.errors import DrainingError


async def test_a_drain_waits_for_all_that_is_open() -> None:
    """It ends with the last of them, also where that fails."""
    drain = Drain()
    with drain.opened():
        with pytest.raises(ValueError, match="broken"), drain.opened():
            raise ValueError("broken")
        ending = asyncio.ensure_future(drain.run())
        await asyncio.sleep(0)
        assert not ending.done()
    await ending


async def test_nothing_is_opened_once_it_has_begun() -> None:
    """Whoever asks is sent to another server."""
    drain = Drain()
    await drain.run()
    with pytest.raises(DrainingError, match="send the request to another one"), drain.opened():
        pass
