"""Behaviour of `unmask.policy.savings`."""

import pytest

from unmask.policy.policy import PrecisionPolicy
from unmask.policy.savings import check_savings, savings_of
from unmask.savings.errors import SavingUnmeasuredError
from unmask.savings.figure_file import packaged_figures
from unmask.testing.budget_policies import make_exit, make_task_policy
from unmask.testing.policies import make_active
from unmask.testing.savings import make_figure
from unmask.types import Precision

EXITING = make_active(make_task_policy("sort", exit=make_exit(enabled=True))).policy
PLAIN = make_active(make_task_policy("sort")).policy


def test_a_policy_with_exits_needs_a_figure_of_their_quality() -> None:
    """One without needs none, and the package has measured them."""
    check_savings(EXITING, "abcdef", packaged_figures)
    check_savings(PLAIN, "abcdef", tuple)

    assert (savings_of(EXITING), savings_of(PLAIN)) == (("early_exit",), ())
    with pytest.raises(SavingUnmeasuredError, match="policy abcdef enables the saving early_exit"):
        check_savings(EXITING, "abcdef", tuple)


@pytest.mark.parametrize(
    ("entry", "saving"),
    [
        (PrecisionPolicy(service_class="batch", normal=Precision.INT8), "int8"),
        (PrecisionPolicy(service_class="batch", normal=Precision.FLOAT32, low=Precision.INT4), "int4"),
    ],
)
def test_a_policy_with_a_precision_needs_a_figure_of_its_quality(entry: PrecisionPolicy, saving: str) -> None:
    """Whichever criticality it is for; single precision is no saving."""
    policy = make_active(make_task_policy("sort", precision=(entry,))).policy

    assert savings_of(policy) == (saving,)
    with pytest.raises(SavingUnmeasuredError, match=f"policy abcdef enables the saving {saving}"):
        check_savings(policy, "abcdef", tuple)
    check_savings(policy, "abcdef", lambda: (make_figure(saving),))
