"""Which savings a policy enables, and whether it may."""

from collections.abc import Callable

from unmask.policy.policy import Policy
from unmask.savings.figure import SavingFigure
from unmask.savings.registry import BY_PRECISION, EARLY_EXIT
from unmask.savings.standing import require_quality

_SHORT = 12


def savings_of(policy: Policy) -> tuple[str, ...]:
    """Return the names of the savings that a policy enables."""
    exits = (EARLY_EXIT,) if any(task.exit is not None for task in policy.tasks) else ()
    chosen = {
        precision
        for task in policy.tasks
        for entry in task.precision
        for precision in (entry.normal, entry.low, entry.high)
    }
    return (*exits, *(saving for precision, saving in BY_PRECISION.items() if precision in chosen))


def check_savings(policy: Policy, digest: str, figures: Callable[[], tuple[SavingFigure, ...]]) -> None:
    """Refuse a policy that enables a saving whose quality nobody has measured.

    Raises:
        SavingUnmeasuredError: names the saving and what measures it.
        FigureError: what is known of savings cannot be read.
    """
    enabled = savings_of(policy)
    known = figures() if enabled else ()
    for name in enabled:
        require_quality(name, known, place=f"policy {digest[:_SHORT]}")
