"""What the database holds of the requests, names and counters that a batch is about."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, bindparam, select, tuple_

from unmask.database.prepared import Prepared
from unmask.ledger.charges import Charge, read_charges
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.settlement import Ending
from unmask.ledger.tables import COUNTERS, ENDS, NAMES, REQUESTS

CHUNK = 5_000
"""Values in one statement; SQLite takes 32,766."""
FEW = 8
"""Counters that are asked for one by one, which takes less than a statement for just these."""

_REQUESTS = select(
    REQUESTS.c.id,
    REQUESTS.c.model,
    REQUESTS.c.service_class,
    REQUESTS.c.price,
    REQUESTS.c.cost,
    REQUESTS.c.charges,
    ENDS.c.ending,
).select_from(REQUESTS.outerjoin(ENDS, ENDS.c.request == REQUESTS.c.id))
_ONE_REQUEST = Prepared(_REQUESTS.where(REQUESTS.c.id == bindparam("_id")))
_NAMES = select(NAMES, ENDS.c.ending).select_from(NAMES.outerjoin(ENDS, ENDS.c.request == NAMES.c.request))
_ONE_COUNTER = Prepared(select(COUNTERS.c.used, COUNTERS.c.held).where(COUNTERS.c.id == bindparam("_id")))

_Value = TypeVar("_Value", str, tuple[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRequest:
    """A request of the ledger; ``ending`` is ``None`` while it runs."""

    id: str
    model: str
    service_class: str
    price: str
    cost: int | None
    charges: Sequence[Charge]
    ending: Ending | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownName:
    """What an idempotency key of a tenant stands for."""

    request: str
    fingerprint: str
    time_us: int
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class Level:
    """What of a limit is used or reserved, and the part of it that requests that run have reserved."""

    used: int = 0
    held: int = 0

    def frees(self, limit: Limit, asked: int) -> bool:
        """Tell whether so much fits once requests that run give back what they do not use; they count all the same."""
        return limit.kind is not LimitKind.REQUESTS and self.used - self.held + asked <= limit.amount


def known_requests(connection: Connection, ids: Iterable[str]) -> dict[str, KnownRequest]:
    """Return the requests of these ids that there are."""
    found: dict[str, KnownRequest] = {}
    for chunk in chunks(ids):
        for id_, model, service_class, price, cost, charges, ending in _rows_of(connection, chunk):
            found[id_] = KnownRequest(
                id=id_,
                model=model,
                service_class=service_class,
                price=price,
                cost=cost,
                charges=read_charges(charges),
                ending=None if ending is None else Ending(ending),
            )
    return found


def _rows_of(connection: Connection, ids: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """Ask for one by a statement that is there: most batches of a server that is not flooded hold one."""
    if len(ids) == 1:
        return _ONE_REQUEST.rows(connection, {"_id": ids[0]})
    return [tuple(row) for row in connection.execute(_REQUESTS.where(REQUESTS.c.id.in_(ids)))]


def known_names(connection: Connection, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], KnownName]:
    """Return the idempotency keys of these tenants and keys that there are."""
    found: dict[tuple[str, str], KnownName] = {}
    for chunk in chunks(names):
        for row in connection.execute(_NAMES.where(tuple_(NAMES.c.tenant, NAMES.c.key).in_(chunk))):
            found[row.tenant, row.key] = KnownName(
                request=row.request,
                fingerprint=row.fingerprint,
                time_us=row.time_us,
                ending=None if row.ending is None else Ending(row.ending),
            )
    return found


def known_counters(connection: Connection, ids: Iterable[str]) -> dict[str, Level]:
    """Return what these counters hold, where there are any."""
    found: dict[str, Level] = {}
    for chunk in chunks(ids):
        if len(chunk) <= FEW:
            found.update((name, Level(*row)) for name in chunk for row in _ONE_COUNTER.rows(connection, {"_id": name}))
        else:
            rows = connection.execute(select(COUNTERS).where(COUNTERS.c.id.in_(chunk)))
            found.update((row.id, Level(row.used, row.held)) for row in rows)
    return found


def chunks(values: Iterable[_Value]) -> Iterator[list[_Value]]:
    """Yield the different values in pieces that fit into a statement."""
    rest = iter(dict.fromkeys(values))
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
