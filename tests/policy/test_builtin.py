"""Behaviour of the policies that come with the package."""

import pytest

from unmask.control.stored import completed
from unmask.policy.audit import audit
from unmask.policy.digest import policy_digest
from unmask.policy.folders import packaged_store
from unmask.policy.rules import check_policy
from unmask.policy.standing import Stage


def test_the_books_are_in_order() -> None:
    """Every line of the log follows from the one before, and every file is what its name says."""
    assert audit(packaged_store()).faults == ()


def test_one_is_active_and_says_that_its_author_approved_it() -> None:
    """It makes sense by today's rules, its learned parts are there, and nobody else has approved it."""
    store = packaged_store()
    (life,) = [life for life in store.standing().lives.values() if life.stage is Stage.ACTIVE]
    policy = completed(store.policy(life.policy), store)

    check_policy(policy)
    assert policy.model == "tiny"
    assert life.self_approved


def test_names_stand_though_fields_were_added() -> None:
    """A policy that says nothing of a field is named as it was before there was one."""
    store = packaged_store()
    for digest in store.standing().lives:
        assert policy_digest(store.policy(digest)) == digest


@pytest.mark.parametrize("task", ["lookup", "dialogue", "extract", "arithmetic", "sort", "latin"])
def test_every_task_type_has_its_own_budget(task: str) -> None:
    """None of those that the model knows is left to the default entry."""
    store = packaged_store()
    (life,) = [life for life in store.standing().lives.values() if life.stage is Stage.ACTIVE]

    assert store.policy(life.policy).task(task).task == task
