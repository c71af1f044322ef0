"""What estimating a request costs while it is served."""

from collections.abc import Callable, Sequence
from random import Random
from statistics import median

from unmask.control.difficulty import Estimator, steps_for
from unmask.control.features import features_of
from unmask.policy.policy import BucketSteps, TaskPolicy
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks

ITEMS = 200
_CHARACTERS_A_TOKEN = 4


def median_cost(
    estimator: Estimator,
    entries: Sequence[TaskPolicy],
    buckets: tuple[BucketSteps, ...],
    *,
    seed: int,
    now: Callable[[], float],
) -> float:
    """Return the median seconds from a conversation to its bucket, over generated items of every task type there is.

    The prompt's length in tokens is known by then, so that here anything near it will do.
    """
    rng = Random(seed)
    tasks = all_tasks()
    known = [entry for entry in entries if entry.task in tasks]
    seconds = []
    for entry in known:
        for _ in range(ITEMS):
            item = tasks[entry.task].generate(rng, Split.TEST)
            tokens = sum(len(message.content) for message in item.messages) // _CHARACTERS_A_TOKEN
            started = now()
            features = features_of(item.messages, item.task, prompt_tokens=tokens, max_tokens=tokens)
            found = estimator.difficulty(features)
            steps_for(found.score if found is not None and found.is_sure() else None, entry, buckets)
            seconds.append(now() - started)
    return median(seconds) if seconds else 0.0
