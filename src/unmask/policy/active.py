"""Which policy a server goes by."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from unmask.policy.errors import PolicyTamperedError
from unmask.policy.log import torn_message
from unmask.policy.policy import Policy
from unmask.policy.standing import SHORT, Life, Stage
from unmask.policy.store import PolicyStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivePolicy:
    """An approved and promoted policy.

    Attributes:
        digest: what it is named by, in the log and in what a server says.
        folder: where it is from.
        self_approved: whether the approver is one of its authors.
    """

    policy: Policy
    digest: str
    folder: Path
    approver: str
    self_approved: bool
    promoted: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPolicy:
    """The active policy of a model's weights, if there is one, and what the operator should be told."""

    active: ActivePolicy | None
    messages: tuple[str, ...]


def active_policy(store: PolicyStore, model: str, model_digest: str) -> FoundPolicy:
    """Return the policy that holds for exactly these weights; without one the built-in fixed budget applies.

    Raises:
        PolicyTamperedError: a log, a policy or a learned part is not what was written.
        UnknownPolicyError: a learned part of the policy is not there.
        PolicyStoreError: the folder cannot be read.
    """
    messages: list[str] = []
    found: ActivePolicy | None = None
    for layer in store.chain():
        log = layer.log()
        if log.torn:
            messages.append(torn_message(layer.log_path, log))
        standing = layer.standing()
        messages.extend(
            f"policy {life.policy[:SHORT]} is for {model} with weights {life.model_digest}, not for {model_digest}, "
            "and is not used"
            for life in standing.lives.values()
            if life.stage is Stage.ACTIVE and life.model == model and life.model_digest != model_digest
        )
        life = standing.active(model, model_digest)
        if life is not None and found is None:
            found = _loaded(layer, store, life)
    if found is None:
        messages.append(
            f"no approved policy for {model} with weights {model_digest}: the built-in fixed budget applies"
        )
    elif found.self_approved:
        messages.append(f"policy {found.digest[:SHORT]} was approved by {found.approver}, one of its authors (--solo)")
    return FoundPolicy(active=found, messages=tuple(messages))


def _loaded(layer: PolicyStore, store: PolicyStore, life: Life) -> ActivePolicy:
    policy = layer.policy(life.policy)
    if (policy.model, policy.model_digest) != (life.model, life.model_digest):
        raise PolicyTamperedError(
            f"the log has policy {life.policy[:SHORT]} for {life.model} with weights {life.model_digest}, but it is "
            f"for {policy.model} with {policy.model_digest}: the log was not written by this program"
        )
    store.check_parts(policy)
    # An active policy was approved and promoted: the acts of a log allow no other way.
    assert life.approver is not None, life
    assert life.promoted is not None, life
    return ActivePolicy(
        policy=policy,
        digest=life.policy,
        folder=layer.folder,
        approver=life.approver,
        self_approved=life.self_approved,
        promoted=life.promoted,
    )
