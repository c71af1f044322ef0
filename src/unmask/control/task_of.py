"""Which task type a request is of: the client's word, or what its prompt tells."""

from unmask.backend import ModelInfo, Request
from unmask.control.asked import TASK, Asked
from unmask.control.sources import ActivePolicy, Classified, Classifier
from unmask.errors import InvalidRequestError
from unmask.policy.policy import DEFAULT_TASK


def classify_request(
    classifier: Classifier | None,
    request: Request,
    asked: Asked,
    model: ModelInfo,
    active: ActivePolicy | None,
    *,
    is_routed: bool = False,
) -> Classified:
    """Return the task type of a request; it is told from the prompt only where a policy or a route depends on it.

    Raises:
        InvalidRequestError: the client names a task type that there is not.
    """
    if asked.task is not None:
        known = known_tasks(model, active)
        if asked.task not in known:
            raise InvalidRequestError(TASK, asked.task, ", ".join(known), "Leave it out, or send default.")
        return Classified(task=asked.task)
    # One that this model does not have stands for another model's requests.
    if asked.default_task is not None and asked.default_task in known_tasks(model, active):
        return Classified(task=asked.default_task)
    if (active is None and not is_routed) or classifier is None:
        return Classified(task=DEFAULT_TASK)
    return classifier.classify(request.messages) or Classified(task=DEFAULT_TASK)


def known_tasks(model: ModelInfo, active: ActivePolicy | None) -> tuple[str, ...]:
    """Return the task types that a request to a model may name."""
    of_policy = () if active is None else tuple(entry.task for entry in active.policy.tasks)
    return tuple(dict.fromkeys((*model.tasks, *of_policy, DEFAULT_TASK)))
