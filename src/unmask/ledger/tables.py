"""The ledger's tables.

Rows of requests, attempts, ends and events are added and never changed; verification rests on them alone. The others
hold what follows from them, so that it need not be counted anew for each request, and who is at work.
Times are microseconds since 1970, money is micro-units.
"""

from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, Table, Text

METADATA = MetaData()

REQUESTS = Table(
    "ledger_request",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("time_us", BigInteger, nullable=False),
    Column("process", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("end_user", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("idempotency_key", Text),
    Column("service_class", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("bucket", Text),
    Column("difficulty", Integer),
    Column("steps", BigInteger, nullable=False),
    Column("token_steps", BigInteger, nullable=False),
    Column("prefill_tokens", BigInteger, nullable=False),
    Column("price", Text, nullable=False),
    Column("cost", BigInteger),
    Column("charges", Text, nullable=False),
    Index("ledger_request_time", "time_us"),
)
"""A row per request, as it was admitted or turned away; ``charges`` are the counters it was reserved in."""

ATTEMPTS = Table(
    "ledger_attempt",
    METADATA,
    Column("request", Text, ForeignKey("ledger_request.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("model", Text, nullable=False, server_default=""),
    Column("purpose", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("bucket", Text),
    Column("steps_allocated", BigInteger, nullable=False),
    Column("steps", BigInteger, nullable=False),
    Column("steps_saved", BigInteger, nullable=False),
    Column("steps_control", BigInteger, nullable=False),
    Column("token_steps", BigInteger, nullable=False),
    Column("token_steps_control", BigInteger, nullable=False),
    Column("prefill_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("verification", Text, nullable=False),
    Column("queue_s", Float, nullable=False),
    Column("run_s", Float, nullable=False),
    Column("cost", BigInteger),
    Column("cost_control", BigInteger),
)
"""A row per attempt of a settled request; ``model`` is empty where it is the request's."""

ENDS = Table(
    "ledger_end",
    METADATA,
    Column("request", Text, ForeignKey("ledger_request.id"), primary_key=True),
    Column("time_us", BigInteger, nullable=False),
    Column("ending", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("payer", Text, nullable=False),
    Column("accepted", Boolean, nullable=False),
    Column("cap_applied", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("steps_allocated", BigInteger, nullable=False),
    Column("steps", BigInteger, nullable=False),
    Column("steps_saved", BigInteger, nullable=False),
    Column("steps_control", BigInteger, nullable=False),
    Column("steps_re_expansion", BigInteger, nullable=False),
    Column("steps_search", BigInteger, nullable=False),
    Column("steps_verification", BigInteger, nullable=False),
    Column("prefill_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cost", BigInteger),
    Column("cost_control", BigInteger, nullable=False),
    Column("cost_re_expansion", BigInteger, nullable=False),
    Column("cost_search", BigInteger, nullable=False),
    Column("cost_verification", BigInteger, nullable=False),
    Column("queue_s", Float, nullable=False),
    Column("run_s", Float, nullable=False),
    Column("first_byte_s", Float),
    Column("total_s", Float, nullable=False),
)
"""A row per request that has ended: its outcome, and the sums of its attempts."""

EVENTS = Table(
    "ledger_event",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time_us", BigInteger, nullable=False),
    Column("request", Text, ForeignKey("ledger_request.id"), nullable=False),
    Column("kind", Text, nullable=False),
)
"""A row per event: reserved, settled, rejected, lost; numbered without gaps."""

HEAD = Table(
    "ledger_head",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("swept_us", BigInteger, nullable=False),
)
"""One row: the number of the last event, and since when counters of limits are kept."""

OPEN = Table(
    "ledger_open",
    METADATA,
    Column("request", Text, ForeignKey("ledger_request.id"), primary_key=True),
    Column("process", Text, nullable=False),
    Index("ledger_open_process", "process"),
)
"""A row per request that has not ended."""

COUNTERS = Table(
    "ledger_counter",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("ends_us", BigInteger, nullable=False),
    Column("used", BigInteger, nullable=False),
    Column("held", BigInteger, nullable=False),
    Index("ledger_counter_ends", "ends_us"),
)
"""A row per limit and window: what is used or reserved, and what of that requests that run have reserved; ``ends_us``
is 0 where there is no window."""

NAMES = Table(
    "ledger_idempotency",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("request", Text, ForeignKey("ledger_request.id"), nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("time_us", BigInteger, nullable=False),
)
"""A row per idempotency key of a tenant: the request that it stands for."""

PROCESSES = Table(
    "ledger_process",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("machine", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("began", Text, nullable=False),
    Column("beat", BigInteger, nullable=False),
)
"""A row per process that writes; ``beat`` rises for as long as it lives, and the row goes when it ends."""

PRICES = Table(
    "ledger_price",
    METADATA,
    Column("version", Text, primary_key=True),
    Column("time_us", BigInteger, nullable=False),
    Column("document", Text, nullable=False),
)
"""A row per version of the price book that was ever used."""
