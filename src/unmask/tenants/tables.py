"""The tables of tenants and keys, as the newest migration leaves them."""

from typing import Final

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, LargeBinary, MetaData, String, Table, Text

METADATA: Final = MetaData()

TENANTS: Final = Table(
    "tenants",
    METADATA,
    Column("name", String(64), primary_key=True),
    # Names with commas in between; an empty text allows none, no text at all of them.
    Column("classes", Text),
    Column("created", Double, nullable=False),
    Column("disabled", Double),
)

KEYS: Final = Table(
    "keys",
    METADATA,
    Column("public_id", String(12), primary_key=True),
    Column("tenant", String(64), ForeignKey("tenants.name"), nullable=False),
    Column("name", String(128), nullable=False),
    Column("digest", LargeBinary(32), nullable=False),
    Column("pepper", String(16), nullable=False),
    Column("roles", Text, nullable=False),
    Column("classes", Text),
    Column("default_task", String(64)),
    Column("created", Double, nullable=False),
    Column("expires", Double),
    Column("disabled", Double),
    Index("keys_of_tenant", "tenant"),
)

QUOTAS: Final = Table(
    "quotas",
    METADATA,
    Column("scope", String(8), primary_key=True),
    Column("owner", String(64), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("window_s", BigInteger, primary_key=True, autoincrement=False),
    Column("amount", BigInteger, nullable=False),
)
"""Limits of tenants by their name, and of keys by their id."""
