"""Behaviour of `unmask.policy.audit`: what was changed is found, and the first place of it is named."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.policy.places import FIRST, SECOND, STOPPING, changed, promote
from tests.policy.replays import make_replay
from unmask.policy.audit import audit
from unmask.policy.digest import canonical_policy, policy_digest
from unmask.policy.log import ORIGIN, Act, Deed, entry_line, next_entry, parse_log
from unmask.policy.policy import BudgetMode
from unmask.policy.store import PolicyStore
from unmask.testing.budget_policies import make_policy, make_task_policy, signed


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> PolicyStore:
    """Return a folder with two promoted policies, one on a learned part, a replay, and a self-approval."""
    store = PolicyStore(tmp_path_factory.mktemp("policies"))
    part = store.add_part(b'{"trees": [1.5e-7]}')
    adaptive = (make_task_policy(), make_task_policy("sort", mode=BudgetMode.ADAPTIVE))
    first = promote(store, make_policy(difficulty=part, tasks=adaptive), 1)
    stopping = store.propose(STOPPING, signed("ann", 12))
    store.submit(stopping, signed("ann", 12), replay=make_replay(first, stopping))
    store.approve(stopping, signed("ann", 12), solo=True)
    store.promote(stopping, signed("bob", 12))
    return store


def test_sound_folder_passes(store: PolicyStore) -> None:
    """Counts, the head, and who approved a policy of their own."""
    found = audit(store)

    assert found.faults == ()
    assert (found.entries, found.policies) == (8, 2)
    assert found.head == store.log().head
    assert found.notes == ("entry 7: ann approved a policy of their own (--solo)",)


@settings(max_examples=150)
@given(st.data())
def test_every_flipped_bit_is_found(store: PolicyStore, data: st.DataObject) -> None:
    """In the log, a policy, a replay or a learned part."""
    paths = sorted(path for path in store.folder.rglob("*") if path.is_file() and path.name != "lock")
    path = data.draw(st.sampled_from(paths))
    content = bytearray(path.read_bytes())
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << bit % 8

    with changed(path, bytes(content)):
        assert audit(store).faults != ()
    assert audit(store).faults == ()


@pytest.mark.parametrize("kind", ["policies", "evidence", "parts"])
def test_missing_file_is_found(store: PolicyStore, kind: str) -> None:
    """Whatever the log names has to be there."""
    for path in sorted((store.folder / kind).iterdir()):
        aside = path.rename(store.folder / "aside")
        (fault, *_) = audit(store).faults
        aside.rename(path)
        assert path.name.removesuffix(".json")[:12] in fault


def test_first_broken_entry_is_named(store: PolicyStore) -> None:
    """And nothing behind it is believed."""
    content = store.log_path.read_bytes()

    with changed(store.log_path, content.replace(b'"actor":"bob"', b'"actor":"eve"')):
        assert audit(store).faults[0].startswith("entry 3 of the policies' log is broken")
    with changed(store.log_path, content[content.index(b"\n") + 1 :]):
        assert audit(store).faults[0].startswith("entry 1 of the policies' log is broken")


def test_head_noted_elsewhere_shows_a_cut(store: PolicyStore) -> None:
    """A log cut at a line's end is whole in itself; a digest noted earlier tells."""
    heads = [entry.digest for entry in store.log().entries]
    content = store.log_path.read_bytes()
    shorter = b"".join(content.splitlines(keepends=True)[:-2])

    with changed(store.log_path, shorter):
        assert audit(store).faults == ()
        assert "taken off the end" in audit(store, head=heads[-1]).faults[0]
        assert audit(store, head=heads[-3]).faults == ()
        assert audit(store, head=ORIGIN).faults == ()


def test_torn_line_is_found(store: PolicyStore) -> None:
    """It is told, and how to remove it."""
    with changed(store.log_path, store.log_path.read_bytes() + b'{"act"'):
        (fault,) = audit(store).faults
    assert "ends in 6 bytes of an entry that was never finished" in fault


def forged(store: PolicyStore, change: Callable[[Deed], Deed], act: Act) -> bytes:
    """Return a log whose chain is right, with every deed of one kind changed, as someone who knows the format would."""
    content = b""
    for entry in store.log().entries:
        deed = change(entry.deed) if entry.deed.act is act else entry.deed
        content += entry_line(next_entry(parse_log(content), deed, entry.signature))
    return content


def test_forged_chain_still_has_to_follow_the_rules(store: PolicyStore) -> None:
    """Rewriting every digest does not make a forbidden act an allowed one."""
    with changed(store.log_path, forged(store, lambda deed: replace(deed, self_approval=False), Act.APPROVE)):
        assert any(
            "entry 7 is of an act that was not allowed: ann is an author" in said for said in audit(store).faults
        )
    with changed(store.log_path, forged(store, lambda deed: replace(deed, evidence=None), Act.SUBMIT)):
        assert any("entry 6: policy" in said and "changes the exit" in said for said in audit(store).faults)
    with changed(store.log_path, forged(store, lambda deed: replace(deed, against=None), Act.SUBMIT)):
        assert any("entry 6 is of an act" in said for said in audit(store).faults)


def test_file_that_nobody_logged_is_noted(tmp_path: Path) -> None:
    """A writer that died between file and entry leaves one; it is harmless, and never used."""
    store = PolicyStore(tmp_path)
    promote(store, FIRST)
    path = store.path("policies", policy_digest(SECOND))
    path.write_bytes(canonical_policy(SECOND))

    found = audit(store)

    assert found.faults == ()
    assert found.notes == (f"policies/{path.name} is named by no entry, and is never used",)


def test_empty_folder_is_sound(tmp_path: Path) -> None:
    """None yet is no fault."""
    found = audit(PolicyStore(tmp_path / "none"))

    assert (found.entries, found.faults, found.head) == (0, (), ORIGIN)
