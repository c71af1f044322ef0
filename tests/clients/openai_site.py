"""A server, and both official clients of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from openai import AsyncOpenAI, OpenAI

from tests.app.site import Site
from tests.clients.server import serving
from unmask.api.event_stream import StreamPace
from unmask.backend import Backend, Request
from unmask.testing.scripted_backend import Line
from unmask.testing.speech import speak

TEXT = "안녕하세요 🙂 مرحبا\u2028!"
PROMPT: Any = [{"role": "user", "content": "add 1 + 1"}]
SNAPSHOTS = {"diffusion": {"stream": "snapshots"}}


def spoken(request: Request, _: int) -> list[Line]:
    """Say the text."""
    return list(speak(request, TEXT))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISite:
    """Clients try once unless the test says otherwise."""

    site: Site
    client: OpenAI

    @property
    def async_client(self) -> AsyncOpenAI:
        """A new client, for the event loop of the test."""
        return AsyncOpenAI(base_url=self.client.base_url, api_key="any", max_retries=0)


@contextmanager
def openai_site(backend: Backend, *, pace: StreamPace | None = None) -> Iterator[OpenAISite]:
    """Run a server, and a client of it."""
    with (
        serving(backend, pace=pace) as site,
        OpenAI(base_url=f"{site.url}/v1", api_key="any", max_retries=0) as client,
    ):
        yield OpenAISite(site=site, client=client)
