"""An application on a real socket, for clients that bring their own connections."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from unmask.testing.waiting import until

LONGEST_S = 10.0


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """Serve in a thread of its own for as long as the block runs; yield the address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1))
    listening = threading.Event()
    ports: list[int] = []

    async def run() -> None:
        serving = asyncio.ensure_future(server.serve())
        await until(lambda: server.started or serving.done())
        ports.extend(socket.getsockname()[1] for one in server.servers for socket in one.sockets)
        listening.set()
        await serving

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert listening.wait(LONGEST_S)
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        server.should_exit = True
        thread.join(LONGEST_S)
        assert not thread.is_alive()


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for the server's thread; fail if it does not come to it."""
    deadline = time.monotonic() + LONGEST_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
