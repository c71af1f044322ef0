"""The ledger's tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them; see `unmask.ledger.tables`."""
    _make_request()
    _make_attempt()
    _make_end()
    _make_event()
    _make_head()
    _make_open()
    _make_counter()
    _make_idempotency()
    _make_process()
    _make_price()
    op.execute(sa.text("INSERT INTO ledger_head (id, number, swept_us) VALUES (1, 0, 0)"))


def _make_request() -> None:
    op.create_table(
        "ledger_request",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("time_us", sa.BigInteger, nullable=False),
        sa.Column("process", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("end_user", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("idempotency_key", sa.Text),
        sa.Column("service_class", sa.Text, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("bucket", sa.Text),
        sa.Column("difficulty", sa.Integer),
        sa.Column("steps", sa.BigInteger, nullable=False),
        sa.Column("token_steps", sa.BigInteger, nullable=False),
        sa.Column("prefill_tokens", sa.BigInteger, nullable=False),
        sa.Column("price", sa.Text, nullable=False),
        sa.Column("cost", sa.BigInteger),
        sa.Column("charges", sa.Text, nullable=False),
    )
    op.create_index("ledger_request_time", "ledger_request", ["time_us"])


def _make_attempt() -> None:
    op.create_table(
        "ledger_attempt",
        sa.Column("request", sa.Text, sa.ForeignKey("ledger_request.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("bucket", sa.Text),
        sa.Column("steps_allocated", sa.BigInteger, nullable=False),
        sa.Column("steps", sa.BigInteger, nullable=False),
        sa.Column("steps_saved", sa.BigInteger, nullable=False),
        sa.Column("steps_control", sa.BigInteger, nullable=False),
        sa.Column("token_steps", sa.BigInteger, nullable=False),
        sa.Column("token_steps_control", sa.BigInteger, nullable=False),
        sa.Column("prefill_tokens", sa.BigInteger, nullable=False),
        sa.Column("cached_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("verification", sa.Text, nullable=False),
        sa.Column("queue_s", sa.Float, nullable=False),
        sa.Column("run_s", sa.Float, nullable=False),
        sa.Column("cost", sa.BigInteger),
        sa.Column("cost_control", sa.BigInteger),
    )


def _make_end() -> None:
    op.create_table(
        "ledger_end",
        sa.Column("request", sa.Text, sa.ForeignKey("ledger_request.id"), primary_key=True),
        sa.Column("time_us", sa.BigInteger, nullable=False),
        sa.Column("ending", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("payer", sa.Text, nullable=False),
        sa.Column("accepted", sa.Boolean, nullable=False),
        sa.Column("cap_applied", sa.Boolean, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("steps_allocated", sa.BigInteger, nullable=False),
        sa.Column("steps", sa.BigInteger, nullable=False),
        sa.Column("steps_saved", sa.BigInteger, nullable=False),
        sa.Column("steps_control", sa.BigInteger, nullable=False),
        sa.Column("steps_re_expansion", sa.BigInteger, nullable=False),
        sa.Column("steps_search", sa.BigInteger, nullable=False),
        sa.Column("prefill_tokens", sa.BigInteger, nullable=False),
        sa.Column("cached_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.BigInteger),
        sa.Column("cost_control", sa.BigInteger, nullable=False),
        sa.Column("cost_re_expansion", sa.BigInteger, nullable=False),
        sa.Column("cost_search", sa.BigInteger, nullable=False),
        sa.Column("queue_s", sa.Float, nullable=False),
        sa.Column("run_s", sa.Float, nullable=False),
        sa.Column("first_byte_s", sa.Float),
        sa.Column("total_s", sa.Float, nullable=False),
    )


def _make_event() -> None:
    op.create_table(
        "ledger_event",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("time_us", sa.BigInteger, nullable=False),
        sa.Column("request", sa.Text, sa.ForeignKey("ledger_request.id"), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
    )


def _make_head() -> None:
    op.create_table(
        "ledger_head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("swept_us", sa.BigInteger, nullable=False),
    )


def _make_open() -> None:
    op.create_table(
        "ledger_open",
        sa.Column("request", sa.Text, sa.ForeignKey("ledger_request.id"), primary_key=True),
        sa.Column("process", sa.Text, nullable=False),
    )
    op.create_index("ledger_open_process", "ledger_open", ["process"])


def _make_counter() -> None:
    op.create_table(
        "ledger_counter",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("ends_us", sa.BigInteger, nullable=False),
        sa.Column("used", sa.BigInteger, nullable=False),
    )
    op.create_index("ledger_counter_ends", "ledger_counter", ["ends_us"])


def _make_idempotency() -> None:
    op.create_table(
        "ledger_idempotency",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("request", sa.Text, sa.ForeignKey("ledger_request.id"), nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("time_us", sa.BigInteger, nullable=False),
    )


def _make_process() -> None:
    op.create_table(
        "ledger_process",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("began", sa.Text, nullable=False),
        sa.Column("beat", sa.BigInteger, nullable=False),
    )


def _make_price() -> None:
    op.create_table(
        "ledger_price",
        sa.Column("version", sa.Text, primary_key=True),
        sa.Column("time_us", sa.BigInteger, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
