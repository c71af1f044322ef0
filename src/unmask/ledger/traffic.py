"""Requests of the ledger as traffic: who sent what, when, for how long."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Engine, select

from unmask.database.failures import translated
from unmask.database.transactions import reading
from unmask.ledger.settlement import Ending
from unmask.ledger.tables import ENDS, REQUESTS

MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """A request that ran.

    Attributes:
        begun: when it was admitted, in seconds since 1970.
        seconds: from its arrival to its end.
        prompt_tokens: tokens of its prompt and finished canvases, from the cache or not.
    """

    tenant: str
    service_class: str
    begun: float
    seconds: float
    prompt_tokens: int
    steps: int


def booked_since(engine: Engine, begun: float) -> Iterator[Booked]:
    """Yield the requests that were admitted from then on and ran, in the order they were admitted.

    Raises:
        DatabaseUnavailableError: the database does not answer.
    """
    asked = (
        select(REQUESTS, ENDS.c.total_s, ENDS.c.steps.label("taken"), ENDS.c.prefill_tokens.label("prefilled"))
        .add_columns(ENDS.c.cached_tokens)
        .join(ENDS, ENDS.c.request == REQUESTS.c.id)
        .where(REQUESTS.c.time_us >= round(begun * MICROS), ENDS.c.ending != Ending.REJECTED)
        .order_by(REQUESTS.c.time_us)
    )
    with translated(), reading(engine) as connection:
        for row in connection.execute(asked).mappings():
            yield Booked(
                tenant=row["tenant"],
                service_class=row["service_class"],
                begun=row["time_us"] / MICROS,
                seconds=row["total_s"],
                prompt_tokens=row["prefilled"] + row["cached_tokens"],
                steps=row["taken"],
            )
