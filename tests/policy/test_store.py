"""Behaviour of `unmask.policy.store`: what is kept, by several at once, whatever happens meanwhile."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.policy.places import FIRST, SECOND, STOPPING, FailingDisk, KilledError, changed, promote
from tests.policy.replays import make_replay, make_replayed
from unmask.errors import ConfigError
from unmask.policy.audit import audit
from unmask.policy.digest import canonical_policy, policy_digest
from unmask.policy.errors import PolicyActError, PolicyStoreError, PolicyTamperedError, UnknownPolicyError
from unmask.policy.log import Act
from unmask.policy.parts import parts_of
from unmask.policy.policy import BudgetMode, Policy
from unmask.policy.standing import Stage
from unmask.policy.store import PolicyStore
from unmask.testing.budget_policies import make_exit, make_policy, make_task_policy, signed

MODEL = (FIRST.model, FIRST.model_digest)


@pytest.fixture
def store(tmp_path: Path) -> PolicyStore:
    """Return an empty store, whose folder is not there yet."""
    return PolicyStore(tmp_path / "deep" / "policy")


def test_nothing_is_there_yet(store: PolicyStore) -> None:
    """An absent folder is an empty one, and looking at it makes no files."""
    assert store.log().entries == ()
    assert store.active(*MODEL) is None
    assert not store.folder.exists()


def test_policy_is_kept_under_its_digest(store: PolicyStore) -> None:
    """The file's bytes are those that the digest is of."""
    digest = store.propose(FIRST, signed("ann"))

    assert digest == policy_digest(FIRST)
    assert store.path("policies", digest).read_bytes() == canonical_policy(FIRST)
    assert policy_digest(store.policy(digest)) == digest
    assert store.find(digest[:4]) == digest


def test_whole_way(store: PolicyStore) -> None:
    """Promoted, superseded and rolled back to; the log tells every act, by whom, when, and on what."""
    first, second = promote(store, FIRST), promote(store, SECOND, 5)
    store.rollback(first, signed("cem", 9, "too slow"))

    assert store.active(*MODEL) == store.life(first)
    assert store.life(second).stage is Stage.SUPERSEDED
    entries = store.log().entries
    assert [entry.deed.act for entry in entries] == [
        *(Act.PROPOSE, Act.SUBMIT, Act.APPROVE, Act.PROMOTE) * 2,
        Act.ROLLBACK,
    ]
    assert entries[5].deed.against == first
    assert entries[-1].signature == signed("cem", 9, "too slow")
    assert {(entry.deed.model, entry.deed.model_digest) for entry in entries} == {MODEL}
    assert audit(store).faults == ()


def test_policy_that_makes_no_sense_is_not_kept(store: PolicyStore) -> None:
    """What the loader would refuse does not come in by another door."""
    with pytest.raises(ConfigError):
        store.propose(make_policy(default_class="none"), signed("ann"))
    with pytest.raises(ConfigError):
        store.propose(make_policy(model="a b"), signed("ann"))

    assert store.log().entries == ()


def test_refused_act_leaves_no_trace(store: PolicyStore) -> None:
    """An author who approves, and an act out of turn, change nothing."""
    digest = store.propose(FIRST, signed("ann"))
    before = store.log()

    with pytest.raises(PolicyActError):
        store.approve(digest, signed("ann"))
    with pytest.raises(PolicyActError):
        store.propose(FIRST, signed("bob"))
    with pytest.raises(PolicyActError):
        store.promote(digest, signed("bob"))
    with pytest.raises(PolicyActError):
        store.reject(digest, signed("bob"))
    with pytest.raises(UnknownPolicyError):
        store.submit("0" * 64, signed("bob"))
    assert store.log() == before


def test_self_approval_needs_to_be_said(store: PolicyStore) -> None:
    """And is marked; said by someone else it is an ordinary approval."""
    for policy, actor, is_own in ((FIRST, "ann", True), (SECOND, "bob", False)):
        digest = store.propose(policy, signed("ann"))
        store.submit(digest, signed("ann"))
        assert store.approve(digest, signed(actor), solo=True) is is_own
        assert store.life(digest).self_approved is is_own


def test_two_submitted_against_the_same_do_not_both_pass(store: PolicyStore) -> None:
    """The second was compared with a policy that is active no more."""
    promote(store, FIRST)
    third = replace(SECOND, classes=tuple(replace(entry, max_steps=31) for entry in SECOND.classes))
    digests = [store.propose(policy, signed("ann")) for policy in (SECOND, third)]
    for digest in digests:
        store.submit(digest, signed("ann"))
        store.approve(digest, signed("bob"))
    store.promote(digests[0], signed("bob"))

    with pytest.raises(PolicyActError, match="Submit and approve it again"):
        store.promote(digests[1], signed("bob"))
    store.submit(digests[1], signed("ann"))
    store.approve(digests[1], signed("bob"))
    store.promote(digests[1], signed("bob"))
    assert store.active(*MODEL) == store.life(digests[1])


def test_changed_exit_needs_a_replay(store: PolicyStore) -> None:
    """Of exactly this change, fresh and of enough controls; it is kept and named in the log."""
    first = promote(store, FIRST, 1)
    new = store.propose(STOPPING, signed("ann", 2))

    with pytest.raises(PolicyActError, match=r"changes the exit of sort, allowed: with a replay"):
        store.submit(new, signed("ann", 12))
    with pytest.raises(ConfigError, match=r"replay\.old"):
        store.submit(new, signed("ann", 12), replay=make_replay("0" * 64, new))
    with pytest.raises(ConfigError, match=r"replay\.first"):
        store.submit(new, signed("ann", 12), replay=make_replay(first, new, first=signed("x", 0).time))
    few = make_replay(first, new, tasks=(make_replayed(controls=380),))
    with pytest.raises(ConfigError, match=r"controls is 380"):
        store.submit(new, signed("ann", 12), replay=few)
    assert store.life(new).stage is Stage.PROPOSED

    store.submit(new, signed("ann", 12), replay=make_replay(first, new))

    evidence = store.log().entries[-1].deed.evidence
    assert evidence is not None
    assert store.content("evidence", evidence)
    assert audit(store).faults == ()


def test_first_policy_needs_no_replay(store: PolicyStore) -> None:
    """There is nothing to compare with, so handing one in is a mistake."""
    digest = store.propose(STOPPING, signed("ann"))

    with pytest.raises(PolicyActError, match="no active policy that a replay could compare with"):
        store.submit(digest, signed("ann", 12), replay=make_replay("0" * 64, digest))
    store.submit(digest, signed("ann", 12))
    assert store.life(digest).stage is Stage.SUBMITTED


def test_learned_parts_have_to_be_there(store: PolicyStore) -> None:
    """A policy names them by digest, whole or its first digits, and is not submitted without their files."""
    part = store.add_part(b'{"trees": []}')
    adaptive = make_task_policy("sort", mode=BudgetMode.ADAPTIVE, exit=make_exit())
    policy = make_policy(difficulty=part[:16], tasks=(make_task_policy(), adaptive))
    digest = store.propose(policy, signed("ann"))
    assert parts_of(policy) == (part[:16],)
    assert store.part(part[:16]) == store.part(part) == b'{"trees":[]}'

    moved = store.path("parts", part).rename(store.folder / "aside")
    with pytest.raises(UnknownPolicyError, match="no learned part"):
        store.submit(digest, signed("ann"))
    moved.rename(store.path("parts", part))
    with changed(store.path("parts", part), b'{"trees":{}}'), pytest.raises(PolicyTamperedError, match="changed after"):
        store.submit(digest, signed("ann"))
    store.submit(digest, signed("ann"))


def test_beneath_is_read_and_not_written(tmp_path: Path) -> None:
    """The package's policy is active until there is one of one's own, which is compared with it."""
    promote(PolicyStore(tmp_path / "package"), FIRST)
    package = PolicyStore(tmp_path / "package", read_only=True)
    own = PolicyStore(tmp_path / "own", beneath=package)
    assert own.active(*MODEL) == package.life(policy_digest(FIRST))

    with pytest.raises(PolicyStoreError, match="only read"):
        package.propose(SECOND, signed("ann"))
    with pytest.raises(PolicyActError, match="changes the exit"):
        own.submit(own.propose(STOPPING, signed("ann")), signed("ann"))
    second = promote(own, SECOND)

    assert own.active(*MODEL) == own.life(second)
    assert own.life(second).against == policy_digest(FIRST)
    assert own.find(policy_digest(FIRST)[:8]) == policy_digest(FIRST)
    assert own.policy(policy_digest(FIRST)) == package.policy(policy_digest(FIRST))
    assert audit(own).faults == ()


@pytest.mark.parametrize("text", ["", "f", "zzzz", "0" * 64])
def test_digest_that_is_none_is_told(store: PolicyStore, text: str) -> None:
    """Too short and unknown alike."""
    promote(store, FIRST)

    with pytest.raises(UnknownPolicyError, match="at least 4 digits"):
        store.find(text)


def test_changed_policy_is_not_approved(store: PolicyStore) -> None:
    """Nobody's name comes under something else than was submitted."""
    digest = store.propose(FIRST, signed("ann"))
    store.submit(digest, signed("ann"))

    with changed(store.path("policies", digest), canonical_policy(SECOND)), pytest.raises(PolicyTamperedError):
        store.approve(digest, signed("bob"))
    store.path("policies", digest).unlink()
    with pytest.raises(PolicyTamperedError, match="is gone"):
        store.approve(digest, signed("bob"))


PLENTY = 1 << 30


@cache
def cost() -> int:
    """Return what taking two policies through costs: bytes written, files synced and renamed."""
    disk = FailingDisk(PLENTY)
    with TemporaryDirectory() as folder:
        two(PolicyStore(Path(folder), disk=disk))
    return PLENTY - disk.left


def two(store: PolicyStore) -> None:
    """Take two policies through."""
    promote(store, FIRST)
    promote(store, SECOND)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1, exclude_max=True))
def test_killed_anywhere_it_loads_and_goes_on(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    """Between any two writes, and within them: acts are whole or did not happen, and repairing removes a torn line."""
    folder = tmp_path_factory.mktemp("policies")
    disk = FailingDisk(int(share * cost()), kill=True)
    with pytest.raises(KilledError):
        two(PolicyStore(folder, disk=disk))

    store = PolicyStore(folder)
    log = store.log()
    store.active(*MODEL)
    if log.torn:
        with pytest.raises(PolicyStoreError, match="audit --repair"):
            store.add_part(b"{}")
    assert store.repair() == log.torn
    assert store.log() == replace(log, torn=b"")
    assert audit(store).faults == ()
    for policy in (FIRST, SECOND):
        finish(store, policy)
    assert audit(store).faults == ()


def finish(store: PolicyStore, policy: Policy) -> None:
    """Do what is left of a policy's way."""
    digest = policy_digest(policy)
    life = store.standing().lives.get(digest)
    if life is None:
        store.propose(policy, signed("ann"))
    stage = Stage.PROPOSED if life is None else life.stage
    if stage is Stage.PROPOSED:
        store.submit(digest, signed("ann"))
    if stage in {Stage.PROPOSED, Stage.SUBMITTED}:
        store.approve(digest, signed("bob"))
    if stage in {Stage.PROPOSED, Stage.SUBMITTED, Stage.APPROVED}:
        store.promote(digest, signed("bob"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
# Not the very last deed: a folder that cannot be synced after everything is written undoes nothing.
@given(st.floats(0, 0.99))
def test_full_disk_leaves_what_was_there(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    """The act fails with a message, nothing is torn or half there, and with space again it goes on."""
    folder = tmp_path_factory.mktemp("policies")
    with pytest.raises(PolicyStoreError, match="No space left"):
        two(PolicyStore(folder, disk=FailingDisk(int(share * cost()))))

    store = PolicyStore(folder)
    assert store.log().torn == b""
    assert not list(folder.rglob("*.partial"))
    assert audit(store).faults == ()
    for policy in (FIRST, SECOND):
        finish(store, policy)


def test_several_at_once_lose_nothing(store: PolicyStore) -> None:
    """Acts wait for each other: all of them are in the log, in one chain."""
    made = [replace(FIRST, model=f"m{number}") for number in range(12)]

    with ThreadPoolExecutor(max_workers=6) as pool:
        list(pool.map(lambda policy: promote(PolicyStore(store.folder), policy), made))

    assert len(store.log().entries) == 4 * len(made)
    assert audit(store).faults == ()


def test_several_processes_lose_nothing(store: PolicyStore) -> None:
    """The lock holds between processes."""
    program = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from tests.policy.places import FIRST, promote; from unmask.policy.store import PolicyStore\n"
        "[promote(PolicyStore(Path(sys.argv[1])), replace(FIRST, model=f'p{sys.argv[2]}-{n}')) for n in range(4)]"
    )
    root = Path(__file__).parents[2]
    running = [
        subprocess.Popen([sys.executable, "-c", program, store.folder, str(number)], cwd=root) for number in range(2)
    ]

    assert [process.wait(60) for process in running] == [0, 0]
    assert len(store.log().entries) == 2 * 4 * 4
    assert audit(store).faults == ()


def test_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    """A typed error with what to do."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    store = PolicyStore(tmp_path / "file")

    assert store.log().entries == ()
    with pytest.raises(PolicyStoreError, match="--policy-dir"):
        store.propose(FIRST, signed("ann"))


def test_log_that_is_a_folder_is_told(store: PolicyStore) -> None:
    """What cannot be read is no empty log."""
    store.log_path.mkdir(parents=True)

    with pytest.raises(PolicyStoreError, match="cannot be read"):
        store.log()
