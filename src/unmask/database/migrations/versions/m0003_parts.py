"""What a counter holds for requests that run, and what of a request samples to compare answers with have taken."""

from collections import Counter

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_OF_SAMPLES = (
    "UPDATE ledger_end SET {0}_verification = coalesce((SELECT sum({0}) FROM ledger_attempt "
    "WHERE ledger_attempt.request = ledger_end.request AND purpose = 'verification'), 0)"
)


def upgrade() -> None:
    """Add both and count them for what is there; see `unmask.ledger.tables`."""
    for name in ("steps", "cost"):
        column = sa.Column(f"{name}_verification", sa.BigInteger, nullable=False, server_default="0")
        op.add_column("ledger_end", column)
        op.execute(sa.text(_OF_SAMPLES.format(name)))
    op.add_column("ledger_counter", sa.Column("held", sa.BigInteger, nullable=False, server_default="0"))
    _count_held(op.get_bind())


def _count_held(connection: sa.Connection) -> None:
    running = "SELECT charges FROM ledger_request JOIN ledger_open ON ledger_open.request = ledger_request.id"
    held = Counter[str]()
    for (charges,) in connection.execute(sa.text(running)).all():
        held.update({counter: amount for counter, _, amount in orjson.loads(charges)})
    for counter, amount in held.items():
        connection.execute(
            sa.text("UPDATE ledger_counter SET held = :held WHERE id = :id"), {"held": amount, "id": counter}
        )
