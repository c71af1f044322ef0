"""Everything about sockets is tested on both event loops that a server may run on."""

import asyncio
from collections.abc import Callable, Mapping

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Name the loops; uvloop is not made for every platform."""
    loops: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
    try:
        import uvloop
    except ModuleNotFoundError:
        return loops
    return loops | {"uvloop": uvloop.new_event_loop}
