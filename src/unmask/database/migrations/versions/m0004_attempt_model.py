"""Which model ran an attempt: those of a route are run by two."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add it; attempts that are there were run by their request's model."""
    op.add_column("ledger_attempt", sa.Column("model", sa.Text, nullable=False, server_default=""))
