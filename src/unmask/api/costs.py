"""What an answer says of its cost."""

from decimal import Decimal

from unmask.ledger.price import UNIT
from unmask.ledger.settlement import Settled

COST = "x-unmask-cost"


def cost_usage(settled: Settled | None) -> dict[str, object]:
    """Return the field of ``usage`` with what a call cost, in units of money; nothing where nothing is booked."""
    if settled is None:
        return {}
    return {"cost": None if settled.cost is None else settled.cost / UNIT}


def cost_headers(settled: Settled | None) -> dict[str, str]:
    """Return the header with what a call cost; none where that is not known."""
    if settled is None or settled.cost is None:
        return {}
    return {COST: f"{Decimal(settled.cost) / UNIT:f}"}
