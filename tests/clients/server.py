"""The server that `unmask serve` runs, over a backend of the test's choice, for clients that block."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anyio.from_thread import start_blocking_portal

from tests.app.site import LONGEST_S, Site, open_site
from unmask.api.event_stream import StreamPace
from unmask.backend import Backend


@contextmanager
def serving(backend: Backend, *, pace: StreamPace | None = None) -> Iterator[Site]:
    """Run a server in a thread of its own for as long as the block runs."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open_site(backend, pace=pace)) as site,
    ):
        yield site


def tell(site: Site, what: Callable[[], object]) -> None:
    """Do something in the server's thread, soon."""
    site.serving.get_loop().call_soon_threadsafe(what)


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for the server's thread; fail if it does not come to it."""
    deadline = time.monotonic() + LONGEST_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
