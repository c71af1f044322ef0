"""Which precision a request is given: by task type, class and criticality, within what is served."""

import pytest

from unmask.control.precision import precision_of, unserved
from unmask.policy.policy import PrecisionPolicy
from unmask.service import Criticality
from unmask.testing.budget_policies import make_policy, make_task_policy
from unmask.testing.builders import make_model
from unmask.types import Precision

FLOAT32, BFLOAT16, INT8, INT4 = Precision
CHOICE = PrecisionPolicy(service_class="batch", normal=BFLOAT16, low=INT8)
SORT = make_task_policy("sort", precision=(CHOICE,))
MODEL = make_model(precisions=(FLOAT32, BFLOAT16, INT8))


@pytest.mark.parametrize(
    ("criticality", "expected"),
    [(Criticality.LOW, INT8), (Criticality.NORMAL, BFLOAT16), (Criticality.HIGH, BFLOAT16)],
)
def test_criticality_moves_within_what_is_approved(criticality: Criticality, expected: Precision) -> None:
    """A criticality without a precision of its own has that of normal ones."""
    assert precision_of(SORT, "batch", criticality, MODEL) is expected


def test_elsewhere_it_is_the_model_s_own() -> None:
    """In classes and task types that the policy has none for, and where its choice is not served."""
    assert precision_of(SORT, "interactive", Criticality.LOW, MODEL) is FLOAT32
    assert precision_of(make_task_policy(), "batch", Criticality.LOW, MODEL) is FLOAT32
    assert precision_of(SORT, "batch", Criticality.LOW, make_model()) is FLOAT32
    assert precision_of(SORT, "batch", Criticality.LOW, make_model(precision=None)) is None


def test_what_is_not_served_is_known() -> None:
    """Of every task type, each once; a model's own precision is served."""
    other = PrecisionPolicy(service_class="batch", normal=INT8, high=FLOAT32)
    policy = make_policy(tasks=(make_task_policy(precision=(other,)), SORT))

    assert unserved(policy, MODEL) == ()
    assert unserved(policy, make_model()) == (BFLOAT16, INT8)
    assert unserved(make_policy(), make_model()) == ()
