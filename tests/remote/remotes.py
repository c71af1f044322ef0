"""Backends over fake upstreams, with everything a test does not name filled in."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from unmask.backend import CommitEvent, DoneEvent, Generation, Request
from unmask.remote.backend import RemoteBackend
from unmask.remote.opening import open_backend
from unmask.remote.settings import RemoteModel, RemoteSettings, Retries, Timeouts, UpstreamSettings
from unmask.testing.fake_upstream import FakeUpstream, Script
from unmask.testing.manual_clock import ManualClock
from unmask.types import Message, Role

PATIENT = Timeouts(connect=10, first_byte=10, idle=10, total=20)
ONCE = Retries(limit=0)
NOW = 1_800_000_000.0


class ManualWallClock:
    """A time of day that stands still."""

    def time(self) -> float:
        """Return always the same."""
        return NOW


@dataclass(slots=True, kw_only=True)
class Remote:
    """A backend, its upstreams, and what it waited for."""

    backend: RemoteBackend
    upstreams: tuple[FakeUpstream, ...]
    clock: ManualClock
    pauses: list[float] = field(default_factory=list)

    @property
    def asked(self) -> int:
        """Requests that the first upstream has had."""
        return len(self.upstreams[0].exchanges)


def make_request(text: str = "add 1 + 1", **changes: Any) -> Request:  # noqa: ANN401 - any field of the request
    """Return a request for the model of these tests."""
    fields: dict[str, Any] = {"messages": (Message(role=Role.USER, content=text),), "max_tokens": 64}
    return Request(model="far", **(fields | changes))


def make_settings(*urls: str, **changes: Any) -> RemoteModel:  # noqa: ANN401 - any field of the model
    """Return a model behind addresses."""
    fields: dict[str, Any] = {"upstream_model": "m", "timeouts": PATIENT, "retries": ONCE, "asks_models": False}
    upstream: dict[str, Any] = changes.pop("upstream", {})
    has_pools = changes.get("sglang") is not None
    entries = tuple(
        UpstreamSettings(name=name, url=url, pool=name if has_pools else None, **upstream)
        for name, url in ((f"up{number}", url) for number, url in enumerate(urls, start=1))
    )
    return RemoteModel(name="far", upstreams=entries, **(fields | changes))


@asynccontextmanager
async def remote(
    *scripts: Script,
    second: tuple[Script, ...] = (),
    draw: Callable[[], float] = lambda: 1.0,
    environ: dict[str, str] | None = None,
    **changes: Any,  # noqa: ANN401 - any field of the model
) -> AsyncIterator[Remote]:
    """Run upstreams, and open a backend over them; it has to be idle at the end."""
    upstreams = tuple(FakeUpstream(*some) for some in (scripts, second) if some)
    clock = ManualClock()
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds)

    async with upstreams[0].listening(), upstreams[-1].listening() if second else _nothing():
        settings = make_settings(*(upstream.url for upstream in upstreams), **changes)
        backend = open_backend(
            RemoteSettings(models=(settings,)),
            environ or {},
            clock=clock,
            wall=ManualWallClock(),
            draw=draw,
            sleep=sleep,
        )
        yield Remote(backend=backend, upstreams=upstreams, clock=clock, pauses=pauses)
        assert [load.running + load.waiting for load in backend.load()] == [0]
        await backend.drain()


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


async def texts(backend: RemoteBackend, request: Request) -> tuple[list[str], Generation]:
    """Return the texts of a stream as they came, and its generation."""
    found: list[str] = []
    async for event in backend.stream(request):
        match event:
            case CommitEvent():
                found.append(event.text)
            case DoneEvent():
                return found, event.generation
            case _:
                raise AssertionError(event)
    raise AssertionError("a stream ends with its generation")
