"""The policy that is measured, and what it gives an item: exactly what a server with it would."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from unmask.backend import ModelInfo, Request
from unmask.bench.bench import Bench
from unmask.bench.trial import Setup
from unmask.clock import Clock
from unmask.control.asked import Asked
from unmask.control.budget import Assignment, assign
from unmask.control.sources import ActivePolicy, Estimator
from unmask.control.stored import StoredEstimators, StoredPolicies, completed
from unmask.errors import ConfigError, UnmaskError
from unmask.local.model import model_info
from unmask.policy.digest import policy_digest
from unmask.policy.file import read_policy
from unmask.policy.policy import BudgetMode, Policy
from unmask.policy.store import PolicyStore
from unmask.tasks.item import Item

_DIGEST = re.compile("[0-9a-f]{1,64}")


class NoPolicyError(UnmaskError):
    """There is no policy to measure, or not all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the policy gives one item.

    Attributes:
        hardness: log2 of the steps that a canvas of it seems to need; without an estimate to rely on, of those given.
        seconds: that estimating and assigning took.
        control: share of such requests that are control runs while their rule is young, which is when there are most.
    """

    assignment: Assignment
    hardness: float
    seconds: float
    control: float

    @property
    def ours(self) -> Setup:
        """How the item runs under the policy."""
        budget = self.assignment.budget
        assert budget is not None, "a policy gives a budget"
        return Setup(
            max_steps=budget.max_steps,
            max_total_steps=budget.max_total_steps,
            strategy=self.assignment.strategy,
            exit=self.assignment.exit,
        )

    @property
    def estimator(self) -> Setup:
        """The same without early exit, which is also how its control runs go."""
        ours = self.ours
        return Setup(max_steps=ours.max_steps, max_total_steps=ours.max_total_steps, strategy=ours.strategy)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyUnderTest:
    """A policy with its estimator, and the model that it is for."""

    active: ActivePolicy
    estimator: Estimator | None
    model: ModelInfo

    def give(self, item: Item, clock: Clock) -> Given:
        """Give an item its budget as a server does whose client names the task type and nothing else."""
        request = Request(model=self.model.name, messages=item.messages)
        started = clock.now()
        estimate = None if self.estimator is None else self.estimator.estimate(request, item.task, None)
        assignment = assign(self.active, request, Asked(task=item.task), self.model, task=item.task, estimate=estimate)
        seconds = clock.now() - started
        assert assignment.budget is not None, "a policy gives a budget"
        adaptive = self.active.policy.task(item.task).mode is BudgetMode.ADAPTIVE
        return Given(
            assignment=assignment,
            hardness=estimate.score
            if adaptive and estimate and estimate.is_sure
            else math.log2(assignment.budget.max_steps),
            seconds=seconds,
            control=0.0 if assignment.rule is None else self.active.policy.control.young_fraction,
        )


def open_policy(bench: Bench, store: PolicyStore, named: str | None = None) -> PolicyUnderTest:
    """Return the policy that is named, or the active one of the bench's model.

    Args:
        bench: whose model it must be for.
        store: where active policies, those named by digest, and learned parts are.
        named: a policy file, or the first digits of a digest in the store.

    Raises:
        NoPolicyError: none is active, or the estimator that it names cannot be used.
        ConfigError: the named one cannot be read, or is for another model.
        UnmaskError: a learned part is missing or damaged.
    """
    info = model_info(bench.model, bench.precision)
    active = _active(store, info) if named is None else _named(store, named, info)
    return PolicyUnderTest(active=active, estimator=_estimator(bench, store, active.policy, info), model=info)


def _active(store: PolicyStore, model: ModelInfo) -> ActivePolicy:
    source = StoredPolicies(store)
    found = source.active_policy(model.name, model.digest)
    if found is None:
        reasons = "; ".join(source.notes(model.name, model.digest))
        raise NoPolicyError(f"there is no policy to measure: {reasons}. Promote one, or name one with --policy")
    return found


def _named(store: PolicyStore, named: str, model: ModelInfo) -> ActivePolicy:
    if _DIGEST.fullmatch(named) and not Path(named).exists():
        policy = store.policy(store.find(named))
    else:
        policy = read_policy(Path(named))
    if policy.model_digest != model.digest:
        raise ConfigError(
            f"the policy is for {policy.model} {policy.model_digest}, allowed: {model.name} {model.digest}, which is "
            "measured. Name a policy of these weights, or another --model",
            param="--policy",
        )
    return ActivePolicy(policy=completed(policy, store), digest=policy_digest(policy))


def _estimator(bench: Bench, store: PolicyStore, policy: Policy, model: ModelInfo) -> Estimator | None:
    if policy.difficulty is None:
        return None
    tokenizer = bench.tokenizer
    source = StoredEstimators(store, lambda messages: len(tokenizer.encode_chat(messages)), model.default_max_tokens)
    found = source.estimator(policy.difficulty)
    if found is None:
        raise NoPolicyError(
            f"the difficulty estimator {policy.difficulty} that the policy names is not in {store.folder}, or is "
            "damaged; without it another policy would be measured. Add its file"
        )
    return found
