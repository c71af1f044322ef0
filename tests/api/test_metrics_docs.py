"""``docs/metrics.md`` lists what there is, and nothing else."""

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry

from tests.api.client import CHAT, chat_body, client_of, make_app
from tests.api.raw_client import RawClient
from unmask.control.parts import ControlParts
from unmask.routing import PrefillCounts, PrefillEnd, ReplicaLoad, RouteReason
from unmask.savings.standing import KnownSavings
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.routes import make_routes
from unmask.testing.savings import make_figure
from unmask.testing.waiting import until

TEXT = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z_:]+)` \| (\w+) \| (.*?) \| (.*) \|$", re.MULTILINE)
SUFFIXES = {"counter": "_total", "info": "_info"}


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """A metric as the page lists it."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


def written() -> list[Row]:
    """Return the rows of the page."""
    return sorted(
        Row(name, kind, tuple(re.findall(r"`([^`]+)`", labels)), meaning)
        for name, kind, labels, meaning in ROW.findall(TEXT)
    )


async def used_registry() -> CollectorRegistry:
    """Return the registry of a server once requests were answered, escalated, refused and given up by their client."""
    registry = CollectorRegistry()
    gate = asyncio.Event()
    gate.set()
    replica = ReplicaLoad(
        name="1", problem=None, running=0, waiting=0, decisions=tuple((reason, 0) for reason in RouteReason)
    )
    backend = FakeBackend(gate=gate, replicas=(replica,), prefills=PrefillCounts().after(PrefillEnd.TAKEN))
    # The rest of a saving's labels come with its figure.
    parts = ControlParts(routes=make_routes(threshold=0.0), savings=KnownSavings(figures=(make_figure(),)))
    app = make_app(backend, registry=registry, parts=parts)
    async with client_of(app) as client:
        await client.post(CHAT, json=chat_body())
        await client.post(
            CHAT, json=chat_body(model="auto", diffusion={"verify": [{"kind": "numeric", "minimum": 50}]})
        )
        await client.post(CHAT, json={})
    gate.clear()
    wire = RawClient(json.dumps(chat_body()).encode())
    call = asyncio.create_task(wire.call(app))
    await until(lambda: len(backend.requests) == 4)
    wire.hung_up.set()
    await call
    return registry


async def registered() -> list[Row]:
    """Return what a server that was used has."""
    registry = await used_registry()
    return sorted(
        Row(
            family.name + SUFFIXES.get(family.type, ""),
            family.type,
            tuple(sorted({label for sample in family.samples for label in sample.labels} - {"le"})),
            family.documentation,
        )
        for family in registry.collect()
        if not family.name.startswith("process_")
    )


async def test_page_lists_every_metric_as_it_is() -> None:
    """Name, kind, labels and meaning are those of the registry, in both directions."""
    assert written() == await registered()


async def test_every_name_follows_the_conventions() -> None:
    """Own names begin with the program's, tell seconds as such, and only counters end in ``_total``."""
    rows = await registered()
    own = [row for row in rows if not row.name.startswith("vllm:")]

    assert all(row.name.startswith("unmask_") for row in own)
    assert [row.name for row in own if "time" in row.name or "duration" in row.name] == [
        row.name for row in own if "seconds" in row.name and "busy" not in row.name and "overhead" not in row.name
    ]
    assert {row.kind for row in rows if row.name.endswith("_total")} == {"counter"}
