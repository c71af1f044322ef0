"""Behaviour of `unmask.control.stored`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.policy.places import FIRST, promote
from unmask.backend import Request
from unmask.control.difficulty import TaskModel
from unmask.control.estimator_file import write_estimator
from unmask.control.features import FEATURES
from unmask.control.forest import Forest
from unmask.control.stored import StoredEstimators, StoredPolicies
from unmask.policy.digest import policy_digest
from unmask.policy.finality_file import finality_bytes, read_finality
from unmask.policy.policy import Policy
from unmask.policy.store import PolicyStore
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.formats import JsonSchema
from unmask.testing.budget_policies import make_task_policy
from unmask.testing.learned import make_finality_model
from unmask.types import Message, Role

MODEL = (FIRST.model, FIRST.model_digest)
REQUEST = Request(model="tiny", messages=(Message(role=Role.USER, content="sort 3, 1, 2"),), max_tokens=32)


@pytest.fixture
def store(tmp_path: Path) -> PolicyStore:
    """Return an empty store."""
    return PolicyStore(tmp_path / "policies")


def with_finality(store: PolicyStore) -> Policy:
    """Return a policy whose sorting goes by a learned part that the store holds."""
    digest = store.add_part(finality_bytes(make_finality_model()))
    sort = make_task_policy("sort", strategy=StrategyChoice(name=StrategyName.FINALITY), finality=digest)
    return replace(FIRST, tasks=(*(task for task in FIRST.tasks if task.task != "sort"), sort))


def count(messages: Sequence[Message]) -> int:
    """Count words."""
    return sum(len(message.content.split()) for message in messages)


def test_policy_is_there_from_its_promotion_on(store: PolicyStore) -> None:
    """Before, the notes say that there is none."""
    source = StoredPolicies(store)
    assert source.active_policy(*MODEL) is None
    assert any("no approved policy" in note for note in source.notes(*MODEL))

    promote(store, FIRST)

    found = source.active_policy(*MODEL)
    assert found is not None
    assert policy_digest(found.policy) == found.digest == policy_digest(FIRST)
    assert source.active_policy(*MODEL) is found
    assert source.active_policy("tiny", "another") is None


def test_learned_strategy_is_complete(store: PolicyStore) -> None:
    """Whoever assigns it needs no file."""
    promote(store, with_finality(store))

    found = StoredPolicies(store).active_policy(*MODEL)
    assert found is not None
    strategy = found.policy.task("sort").strategy
    assert strategy is not None
    assert strategy.finality == read_finality(finality_bytes(make_finality_model()))


def test_tampered_folder_means_fixed_budgets_and_is_said(store: PolicyStore) -> None:
    """A server starts nevertheless."""
    promote(store, FIRST)
    path = next((store.folder / "policies").iterdir())
    path.write_bytes(path.read_bytes().replace(b"16", b"17", 1))
    source = StoredPolicies(store)

    assert source.active_policy(*MODEL) is None
    assert any("fixed budgets" in note for note in source.notes(*MODEL))


def test_part_that_is_no_model_means_fixed_budgets_and_is_said(store: PolicyStore) -> None:
    """The digest of a part says that it is what was approved, not that it can be used."""
    digest = store.add_part(b'{"format":"other"}')
    sort = make_task_policy("sort", strategy=StrategyChoice(name=StrategyName.FINALITY), finality=digest)
    promote(store, replace(FIRST, tasks=(*(task for task in FIRST.tasks if task.task != "sort"), sort)))
    source = StoredPolicies(store)

    assert source.active_policy(*MODEL) is None
    assert any("learned part" in note for note in source.notes(*MODEL))


def test_estimator_looks_at_requests(store: PolicyStore, tmp_path: Path) -> None:
    """It is found by its digest, knows its own task types, and says what it looked at."""
    task = TaskModel(forest=Forest(3.0, ()), ranges=((0.0, 1000.0),) * len(FEATURES), bins=(1.0, 2.0))
    write_estimator(tmp_path / "e.json", model="tiny", model_digest=FIRST.model_digest, tasks={"sort": task})
    digest = store.add_part((tmp_path / "e.json").read_bytes())
    source = StoredEstimators(store, count, 64)
    estimator = source.estimator(digest)
    assert estimator is not None
    assert source.estimator(digest) is estimator

    found = estimator.estimate(REQUEST, "sort", JsonSchema({"properties": {"a": {}}}))
    assert found is not None
    assert (found.score, found.bin, found.is_sure) == (3.0, 2, True)
    looked_at = dict(found.features)
    assert (looked_at["prompt_tokens"], looked_at["max_tokens"], looked_at["schema_fields"]) == (4, 32, 1)
    unsure = estimator.estimate(REQUEST, "sort", None, task_confidence=0.5)
    assert unsure is not None
    assert not unsure.is_sure
    assert estimator.estimate(REQUEST, "latin", None) is None


def test_estimator_that_is_not_there_is_none(store: PolicyStore) -> None:
    """Nor is one that is no estimator."""
    source = StoredEstimators(store, count, 64)
    assert source.estimator("0" * 16) is None
    assert source.estimator(store.add_part(b'{"format":"other"}')) is None
