"""The tables of tenants and keys."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make them; see `unmask.tenants.tables`."""
    op.create_table(
        "tenant",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("classes", sa.Text),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("disabled_us", sa.BigInteger),
    )
    op.create_table(
        "tenant_key",
        sa.Column("public_id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, sa.ForeignKey("tenant.name"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("pepper", sa.Text, nullable=False),
        sa.Column("roles", sa.Text, nullable=False),
        sa.Column("classes", sa.Text),
        sa.Column("default_task", sa.Text),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("expires_us", sa.BigInteger),
        sa.Column("disabled_us", sa.BigInteger),
    )
    op.create_index("tenant_key_tenant", "tenant_key", ["tenant"])
    op.create_table(
        "tenant_quota",
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("window_s", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
    )
