"""Policies, and the learned parts that they name, from the folders that `unmask policy` keeps them in."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from unmask.backend import Request
from unmask.control.difficulty import Estimator
from unmask.control.estimator_file import read_estimator
from unmask.control.features import FEATURES, features_of
from unmask.control.sources import ActivePolicy, Estimate
from unmask.errors import UnmaskError
from unmask.policy.active import FoundPolicy
from unmask.policy.finality_file import read_finality
from unmask.policy.policy import Policy, TaskPolicy
from unmask.policy.store import PolicyStore
from unmask.policy.watch import PolicyWatch
from unmask.tasks.formats import AnswerFormat, schema_of
from unmask.types import Message

CountTokens = Callable[[Sequence[Message]], int]
"""Returns how many tokens a prompt has."""


class StoredPolicies:
    """The policies of a folder; one that is promoted while the server runs holds from the next request on.

    A folder that cannot be trusted means fixed budgets for a server that starts, and the policy that it had for one
    that runs; the notes say so.
    """

    def __init__(self, store: PolicyStore) -> None:
        self._store = store
        self._watch = PolicyWatch(store)
        self._ready: dict[str, ActivePolicy] = {}

    def active_policy(self, model: str, model_digest: str) -> ActivePolicy | None:
        """Return the approved policy of these very weights, its strategies complete."""
        found = self._current(model, model_digest)
        if found.active is None:
            return None
        digest = found.active.digest
        if digest not in self._ready:
            try:
                policy = completed(self._store, found.active.policy)
            except UnmaskError:
                return None
            self._ready[digest] = ActivePolicy(policy=policy, digest=digest)
        return self._ready[digest]

    def notes(self, model: str, model_digest: str) -> tuple[str, ...]:
        """Say what whoever runs the server should know."""
        found = self._current(model, model_digest)
        if found.active is not None and self.active_policy(model, model_digest) is None:
            return (
                *found.messages,
                f"{model}: a learned part of the policy cannot be read: fixed budgets, no early exit",
            )
        return found.messages

    def _current(self, model: str, model_digest: str) -> FoundPolicy:
        try:
            return self._watch.current(model, model_digest)
        except UnmaskError as error:
            return FoundPolicy(active=None, messages=(f"{model}: {error.message}; fixed budgets, no early exit",))


def completed(store: PolicyStore, policy: Policy) -> Policy:
    """Return a policy with the learned parts that its strategies read.

    Raises:
        UnmaskError: a part is not in the store, or not what was written.
    """
    return replace(policy, tasks=tuple(_with_finality(store, task) for task in policy.tasks))


def _with_finality(store: PolicyStore, task: TaskPolicy) -> TaskPolicy:
    if task.finality is None or task.strategy is None:
        return task
    return replace(task, strategy=replace(task.strategy, finality=read_finality(store.part(task.finality))))


class StoredEstimators:
    """The difficulty estimators of a folder, read once each."""

    def __init__(self, store: PolicyStore, count_tokens: CountTokens, max_tokens: int) -> None:
        self._store = store
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens
        self._read: dict[str, StoredEstimator | None] = {}

    def estimator(self, digest: str) -> "StoredEstimator | None":
        """Return the estimator of a digest, or nothing where it is not here or not to be trusted."""
        if digest not in self._read:
            try:
                found = read_estimator(self._store.part_path(digest))
            except UnmaskError:
                self._read[digest] = None
            else:
                self._read[digest] = StoredEstimator(found, self._count_tokens, self._max_tokens)
        return self._read[digest]


class StoredEstimator:
    """An `Estimator` that looks at requests."""

    def __init__(self, estimator: Estimator, count_tokens: CountTokens, max_tokens: int) -> None:
        self._estimator = estimator
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens

    def estimate(
        self, request: Request, task: str, answer_format: AnswerFormat | None, *, task_confidence: float = 1.0
    ) -> Estimate | None:
        """Estimate a request; nothing where its task type has no model."""
        features = features_of(
            request.messages,
            task,
            prompt_tokens=self._count_tokens(request.messages),
            max_tokens=request.max_tokens or self._max_tokens,
            schema=schema_of(answer_format),
        )
        difficulty = self._estimator.difficulty(features)
        if difficulty is None:
            return None
        return Estimate(
            score=difficulty.score,
            bin=difficulty.bin,
            is_sure=difficulty.is_sure(task_confidence),
            features=tuple(zip(FEATURES, features.values, strict=True)),
        )
