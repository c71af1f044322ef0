"""Which precision a request is run in: what the policy has for its task type, class and criticality, where served."""

from collections.abc import Iterator

from unmask.backend import ModelInfo
from unmask.policy.policy import Policy, TaskPolicy
from unmask.service import Criticality
from unmask.types import Precision


def precision_of(entry: TaskPolicy, service_class: str, criticality: Criticality, model: ModelInfo) -> Precision | None:
    """Return the precision of a request; where the policy has none, or one that is not served, the model's own."""
    chosen = entry.precision_in(service_class)
    wanted = None if chosen is None else chosen.of(criticality)
    return wanted if wanted in model.precisions else model.precision


def unserved(policy: Policy, model: ModelInfo) -> tuple[Precision, ...]:
    """Return the precisions that a policy chooses and that its model is not served in."""
    chosen = set(_chosen(policy)) - {model.precision, *model.precisions}
    return tuple(precision for precision in Precision if precision in chosen)


def _chosen(policy: Policy) -> Iterator[Precision]:
    for task in policy.tasks:
        for entry in task.precision:
            yield from (entry.of(criticality) for criticality in Criticality)
