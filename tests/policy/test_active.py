"""Behaviour of `unmask.policy.active`: which policy a server goes by, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.policy.places import FIRST, SECOND, STOPPING, changed, promote
from unmask.policy.active import active_policy
from unmask.policy.digest import canonical_policy, policy_digest
from unmask.policy.errors import PolicyTamperedError, UnknownPolicyError
from unmask.policy.file import parse_policy
from unmask.policy.folders import packaged_store
from unmask.policy.log import Act, Deed, entry_line, next_entry
from unmask.policy.policy import BudgetMode
from unmask.policy.store import PolicyStore
from unmask.testing.budget_policies import make_policy, make_task_policy, signed

MODEL = (FIRST.model, FIRST.model_digest)


@pytest.fixture
def store(tmp_path: Path) -> PolicyStore:
    """Return an empty store."""
    return PolicyStore(tmp_path)


def test_none_yet_is_said(store: PolicyStore) -> None:
    """Without an approved policy the built-in fixed budget applies, aloud."""
    found = active_policy(store, *MODEL)

    assert found.active is None
    assert found.messages == (
        "no approved policy for tiny with weights 0123456789abcdef: the built-in fixed budget applies",
    )


def test_only_a_promoted_policy_counts(store: PolicyStore) -> None:
    """Neither proposed, nor submitted, nor approved."""
    digest = store.propose(FIRST, signed("ann"))
    assert active_policy(store, *MODEL).active is None
    store.submit(digest, signed("ann"))
    assert active_policy(store, *MODEL).active is None
    store.approve(digest, signed("bob"))
    assert active_policy(store, *MODEL).active is None
    store.promote(digest, signed("bob", 3))

    active = active_policy(store, *MODEL).active

    assert active is not None
    assert active.policy == parse_policy(canonical_policy(FIRST))
    assert (active.digest, active.folder, active.approver) == (digest, store.folder, "bob")
    assert active.promoted == signed("bob", 3).time
    assert not active.self_approved


def test_policy_of_other_weights_is_told_and_not_used(store: PolicyStore) -> None:
    """Curves of other weights say nothing about these."""
    digest = promote(store, FIRST)
    found = active_policy(store, "tiny", "f" * 16)

    assert found.active is None
    assert found.messages[0] == (
        f"policy {digest[:12]} is for tiny with weights 0123456789abcdef, not for {'f' * 16}, and is not used"
    )
    assert len(active_policy(store, "nano", "f" * 16).messages) == 1


def test_self_approval_is_said(store: PolicyStore) -> None:
    """Whoever starts the server reads it."""
    digest = store.propose(FIRST, signed("ann"))
    store.submit(digest, signed("ann"))
    store.approve(digest, signed("ann"), solo=True)
    store.promote(digest, signed("ann"))

    found = active_policy(store, *MODEL)

    assert found.active is not None
    assert found.active.self_approved
    assert found.messages == (f"policy {digest[:12]} was approved by ann, one of its authors (--solo)",)


def test_own_policy_is_above_the_package(tmp_path: Path) -> None:
    """And beneath it, where there is none of one's own, the package's."""
    promote(PolicyStore(tmp_path / "package"), FIRST)
    package = PolicyStore(tmp_path / "package", read_only=True)
    own = PolicyStore(tmp_path / "own", beneath=package)
    before = active_policy(own, *MODEL).active
    promote(own, SECOND)
    after = active_policy(own, *MODEL).active

    assert before is not None
    assert (before.folder, before.digest) == (package.folder, policy_digest(FIRST))
    assert after is not None
    assert (after.folder, after.digest) == (own.folder, policy_digest(SECOND))


def test_tampered_policy_is_refused(store: PolicyStore) -> None:
    """A changed file, a missing one, and a changed log."""
    path = store.path("policies", promote(store, FIRST))

    with changed(path, canonical_policy(SECOND)), pytest.raises(PolicyTamperedError, match="was changed after"):
        active_policy(store, *MODEL)
    log = store.log_path.read_bytes()
    with (
        changed(store.log_path, log.replace(b"approve", b"promote")),
        pytest.raises(PolicyTamperedError, match="entry 3 of"),
    ):
        active_policy(store, *MODEL)
    path.unlink()
    with pytest.raises(PolicyTamperedError, match="is gone"):
        active_policy(store, *MODEL)


@pytest.mark.parametrize("act", [Act.PROMOTE, Act.ROLLBACK])
def test_unapproved_policy_is_refused(store: PolicyStore, act: Act) -> None:
    """A promotion appended by hand, its digests right, is of no use without an approval."""
    digest = store.propose(STOPPING, signed("eve"))
    deed = Deed(act=act, policy=digest, model=MODEL[0], model_digest=MODEL[1])
    with store.log_path.open("ab") as file:
        file.write(entry_line(next_entry(store.log(), deed, signed("eve"))))

    with pytest.raises(PolicyTamperedError, match=r"entry 2 of .* not written by this program"):
        active_policy(store, *MODEL)


def test_unknown_digest_is_refused(store: PolicyStore) -> None:
    """A digest that nobody proposed has no approval either."""
    promote(store, FIRST)
    deed = Deed(act=Act.PROMOTE, policy="e" * 64, model=MODEL[0], model_digest=MODEL[1])
    with store.log_path.open("ab") as file:
        file.write(entry_line(next_entry(store.log(), deed, signed("eve"))))

    with pytest.raises(PolicyTamperedError, match="no policy eeeeeeeeeeee is in the log"):
        active_policy(store, *MODEL)


def test_policy_under_another_models_name_is_refused(store: PolicyStore) -> None:
    """The log and the policy have to agree on the weights."""
    digest = policy_digest(FIRST)
    content = canonical_policy(FIRST)
    store.path("policies", digest).parent.mkdir()
    store.path("policies", digest).write_bytes(content)
    for act, actor in ((Act.PROPOSE, "a"), (Act.SUBMIT, "a"), (Act.APPROVE, "b"), (Act.PROMOTE, "b")):
        deed = Deed(act=act, policy=digest, model="tiny", model_digest="f" * 16)
        line = entry_line(next_entry(store.log(), deed, signed(actor)))
        with store.log_path.open("ab") as file:
            file.write(line)

    with pytest.raises(PolicyTamperedError, match=f"weights {'f' * 16}, but it is for tiny with 0123456789abcdef"):
        active_policy(store, "tiny", "f" * 16)


def test_changed_learned_part_is_refused(store: PolicyStore) -> None:
    """Missing or other than the policy says."""
    part = store.add_part(b'{"trees": [1.5e-7]}')
    adaptive = (make_task_policy(), make_task_policy("sort", mode=BudgetMode.ADAPTIVE))
    promote(store, make_policy(difficulty=part, tasks=adaptive))

    with changed(store.path("parts", part), b"{}"), pytest.raises(PolicyTamperedError):
        active_policy(store, *MODEL)
    store.path("parts", part).unlink()
    with pytest.raises(UnknownPolicyError, match="no learned part"):
        active_policy(store, *MODEL)


def test_torn_line_is_said_and_does_not_stop_serving(store: PolicyStore) -> None:
    """The act did not happen; what was active still is."""
    digest = promote(store, FIRST)
    with store.log_path.open("ab") as file:
        file.write(b'{"act":"pro')

    found = active_policy(store, *MODEL)

    assert found.active is not None
    assert found.active.digest == digest
    assert "never finished" in found.messages[0]


def test_package_is_sound() -> None:
    """What ships has a log that verifies, or nothing."""
    store = packaged_store()

    assert store.read_only
    for life in store.standing().lives.values():
        active_policy(store, life.model, life.model_digest)


def test_other_model_is_untouched(store: PolicyStore) -> None:
    """Each model has its own."""
    promote(store, FIRST)
    promote(store, replace(FIRST, model="nano"))

    active = active_policy(store, "nano", FIRST.model_digest).active
    assert active is not None
    assert active.policy.model == "nano"
