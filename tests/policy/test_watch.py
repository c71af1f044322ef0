"""Behaviour of `unmask.policy.watch`: promotion while serving."""

from pathlib import Path

import pytest

from tests.policy.places import FIRST, SECOND, promote
from unmask.policy.errors import PolicyTamperedError
from unmask.policy.policy import Policy
from unmask.policy.store import PolicyStore
from unmask.policy.watch import PolicyWatch
from unmask.testing.budget_policies import signed

MODEL = (FIRST.model, FIRST.model_digest)


@pytest.fixture
def store(tmp_path: Path) -> PolicyStore:
    """Return an empty store."""
    return PolicyStore(tmp_path)


def digest_of(watch: PolicyWatch) -> str | None:
    """Return what is active according to a watch."""
    active = watch.current(*MODEL).active
    return None if active is None else active.digest


def policy_of(watch: PolicyWatch) -> Policy:
    """Return the policy that a request admitted now would get."""
    active = watch.current(*MODEL).active
    assert active is not None
    return active.policy


def test_promotion_is_noticed(store: PolicyStore) -> None:
    """From nothing to a policy, to the next, and back; who holds the earlier value keeps it."""
    watch = PolicyWatch(store)
    assert digest_of(watch) is None

    first = promote(store, FIRST)
    assert digest_of(watch) == first
    running = policy_of(watch)
    second = promote(store, SECOND)
    assert digest_of(watch) == second
    store.rollback(first, signed("bob"))
    assert digest_of(watch) == first
    assert running == policy_of(watch)


def test_nothing_new_is_not_read_again(store: PolicyStore) -> None:
    """The same value comes back, so asking for every request is cheap."""
    promote(store, FIRST)
    watch = PolicyWatch(store)

    assert watch.current(*MODEL) is watch.current(*MODEL)


def test_tampering_keeps_what_was_active(store: PolicyStore) -> None:
    """A server does not lose its policy to a broken log, and says so once it has read it, until it is whole again."""
    first = promote(store, FIRST)
    watch = PolicyWatch(store)
    assert digest_of(watch) == first
    content = store.log_path.read_bytes()

    store.log_path.write_bytes(content + b"{}\n")
    assert digest_of(watch) == first
    (message,) = watch.current(*MODEL).messages
    assert message.startswith("entry 5 of the policies' log is broken")
    assert message.endswith("the policy that was active stays in force")

    store.log_path.write_bytes(content)
    assert watch.current(*MODEL).messages == ()


def test_untrusted_at_the_start_is_refused(store: PolicyStore) -> None:
    """There is nothing to keep yet."""
    promote(store, FIRST)
    store.log_path.write_bytes(b"{}\n")

    with pytest.raises(PolicyTamperedError):
        PolicyWatch(store).current(*MODEL)


def test_package_is_watched_too(tmp_path: Path) -> None:
    """Every folder that counts."""
    beneath = PolicyStore(tmp_path / "package")
    watch = PolicyWatch(PolicyStore(tmp_path / "own", beneath=beneath))
    assert digest_of(watch) is None

    first = promote(beneath, FIRST)

    assert digest_of(watch) == first


def test_models_are_watched_apart(store: PolicyStore) -> None:
    """Each has its own policy, and its own messages."""
    watch = PolicyWatch(store)
    promote(store, FIRST)

    assert watch.current(*MODEL).active is not None
    assert watch.current("nano", MODEL[1]).active is None
