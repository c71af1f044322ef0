"""Behaviour of `unmask.policy.savings`."""

import pytest

from unmask.policy.savings import check_savings, savings_of
from unmask.savings.errors import SavingUnmeasuredError
from unmask.savings.figure_file import packaged_figures
from unmask.testing.budget_policies import make_exit, make_task_policy
from unmask.testing.policies import make_active

EXITING = make_active(make_task_policy("sort", exit=make_exit(enabled=True))).policy
PLAIN = make_active(make_task_policy("sort")).policy


def test_a_policy_with_exits_needs_a_figure_of_their_quality() -> None:
    """One without needs none, and the package has measured them."""
    check_savings(EXITING, "abcdef", packaged_figures)
    check_savings(PLAIN, "abcdef", tuple)

    assert (savings_of(EXITING), savings_of(PLAIN)) == (("early_exit",), ())
    with pytest.raises(SavingUnmeasuredError, match="policy abcdef enables the saving early_exit"):
        check_savings(EXITING, "abcdef", tuple)
