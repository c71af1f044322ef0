"""The tables of tenants and keys; times are microseconds since 1970."""

from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, MetaData, Table, Text

METADATA: Final = MetaData()

TENANTS: Final = Table(
    "tenant",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("classes", Text),
    Column("created_us", BigInteger, nullable=False),
    Column("disabled_us", BigInteger),
)
"""``classes`` are names with commas in between: an empty text allows none, no text at all of them."""

KEYS: Final = Table(
    "tenant_key",
    METADATA,
    Column("public_id", Text, primary_key=True),
    Column("tenant", Text, ForeignKey("tenant.name"), nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("pepper", Text, nullable=False),
    Column("roles", Text, nullable=False),
    Column("classes", Text),
    Column("default_task", Text),
    Column("created_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger),
    Column("disabled_us", BigInteger),
    Index("tenant_key_tenant", "tenant"),
)
"""Of a key's secret there is a keyed hash only; ``pepper`` is the fingerprint of what it was made with."""

QUOTAS: Final = Table(
    "tenant_quota",
    METADATA,
    Column("scope", Text, primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("window_s", BigInteger, primary_key=True, autoincrement=False),
    Column("amount", BigInteger, nullable=False),
)
"""Limits of tenants by their name, and of keys by their id."""
