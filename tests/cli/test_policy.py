"""Behaviour of ``unmask policy``."""

import getpass
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Ended, type_in
from tests.policy.places import FIRST, SECOND, STOPPING
from tests.policy.replays import make_replay
from unmask.policy.digest import policy_digest
from unmask.policy.file import parse_policy, policy_text
from unmask.policy.policy import Policy
from unmask.policy.replay import replay_bytes
from unmask.policy.standing import Stage
from unmask.policy.store import PolicyStore
from unmask.testing.budget_policies import signed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with three policy files, whose policies go to another that the environment names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNMASK_POLICY_DIR", str(tmp_path / "policy"))
    for name, policy in (("first", FIRST), ("second", SECOND), ("stopping", STOPPING)):
        (tmp_path / f"{name}.yaml").write_text(policy_text(policy), encoding="utf-8")
    return tmp_path


def policy(*argv: str, hour: int = 0) -> Ended:
    """Run an act at some hour."""

    def now() -> datetime:
        return signed("", hour).time

    return type_in("policy", *argv, now=now)


def record(*argv: str, hour: int = 0) -> dict[str, Any]:
    """Run an act and return its one object."""
    ended = policy(*argv, "--json", hour=hour)
    assert (ended.code, ended.err) == (0, "")
    found: dict[str, Any] = json.loads(ended.out)
    return found


def promoted(name: str) -> str:
    """Take a file through, and return its policy's digest."""
    record("submit", f"{name}.yaml", "--as", "ann")
    record("approve", f"{name}.yaml", "--as", "bob")
    digest: str = record("promote", f"{name}.yaml", "--as", "bob")["digest"]
    return digest


@pytest.mark.usefixtures("folder")
def test_no_policy_says_what_runs() -> None:
    """To people and to machines."""
    ended = policy("show")

    assert (ended.code, ended.out) == (0, "")
    assert "no policy is active: requests get the built-in fixed budget" in ended.err
    assert record("show") == {"policies": [], "otherwise": "fixed"}
    assert policy("history").err == "nothing was done yet\n"


def test_whole_way(folder: Path) -> None:
    """From a file to the active policy and back to the one before; every act says where the policy now stands."""
    first = promoted("first")
    second = promoted("second")
    assert (first, second) == (policy_digest(FIRST), policy_digest(SECOND))

    back = record("rollback", "--as", "cem", "--note", "too slow", hour=7)

    assert (back["digest"], back["stage"]) == (first, "active")
    store = PolicyStore(folder / "policy")
    assert back["head"] == store.log().head
    assert store.log().entries[-1].signature == signed("cem", 7, "too slow")
    (shown,) = record("show")["policies"]
    assert shown["digest"] == first
    assert shown["life"]["approver"] == "bob"
    assert policy_digest(parse_policy(json.dumps(shown["policy"]).encode())) == first


@pytest.mark.usefixtures("folder")
def test_policy_is_shown_for_people() -> None:
    """Where it stands, and every number of it."""
    digest = promoted("first")
    for argv in ((), (digest[:10],), ("first.yaml",)):
        out = policy("show", *argv).out
        for text in (
            "active, by ann, approved by bob, promoted 2026-01-01 00:00:00 UTC",
            "XS 2, S 4, M 8, L 16, XL 32",
            "observes only",
            "flips ≤ 0",
            "confidence_min ≥ 0.9",
            "interactive",
            "at most 1.00%",
        ):
            assert text in out
    assert "a file, never submitted" in policy("show", "second.yaml").out


@pytest.mark.usefixtures("folder")
def test_author_needs_solo() -> None:
    """Refused without, and told with it, now and in the history."""
    policy("submit", "first.yaml", "--as", "ann")
    refused = policy("approve", "first.yaml", "--as", "ann")
    allowed = policy("approve", "first.yaml", "--as", "ann", "--solo")

    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("unmask policy: ann is an author of policy")
    assert allowed.code == 0
    assert allowed.out.startswith("approved by its author, as the log says,")
    assert record("history")["entries"][-1]["self_approval"] is True
    assert "of their own" in policy("audit").out


@pytest.mark.usefixtures("folder")
def test_actor_is_the_user_of_the_system() -> None:
    """Unless another is named."""
    assert record("submit", "first.yaml")["authors"] == [getpass.getuser()]


def test_changed_exit_needs_a_replay(folder: Path) -> None:
    """The message names the option; with the file it passes, and the diff said so before."""
    first = promoted("first")
    replay = folder / "replay.json"
    replay.write_bytes(replay_bytes(make_replay(first, policy_digest(STOPPING))))

    (change,) = record("diff", "stopping.yaml")["changes"]
    assert change == {
        "field": "tasks.sort.exit.enabled",
        "old": False,
        "new": True,
        "kind": "threshold",
        "needs_approval": True,
        "needs_replay": True,
    }
    refused = policy("submit", "stopping.yaml", "--as", "ann", hour=12)
    stale = policy("submit", "stopping.yaml", "--as", "ann", "--replay", "replay.json", hour=1)
    assert (refused.code, stale.code) == (2, 2)
    assert "--replay FILE" in refused.err
    assert "replay.last" in stale.err
    assert record("submit", "stopping.yaml", "--as", "ann", "--replay", "replay.json", hour=12)["stage"] == "submitted"
    assert "submit with replay" in " ".join(policy("history").out.split())


@pytest.mark.usefixtures("folder")
def test_diff_marks_caps_and_thresholds() -> None:
    """Against the active policy, against another, and against none."""
    none = policy("diff", "first.yaml")
    assert "no policy" in none.out
    promoted("first")

    ended = policy("diff", "second.yaml")
    assert "tasks.default.default │ 8" in ended.out
    assert "approval" in ended.out
    assert ended.err.endswith(": 1 fields differ\n")
    assert record("diff", "first.yaml", "second.yaml")["changes"][0]["new"] == 8
    assert policy("diff", "first.yaml").out == ""


@pytest.mark.usefixtures("folder")
def test_reject_and_try_again() -> None:
    """A rejected policy is proposed anew by submitting its file."""
    record("submit", "first.yaml", "--as", "ann")
    assert record("reject", "first.yaml", "--as", "bob")["stage"] == Stage.REJECTED
    assert policy("promote", "first.yaml").code == 2
    assert record("submit", "first.yaml", "--as", "ann")["stage"] == Stage.SUBMITTED


@pytest.mark.usefixtures("folder")
def test_export_can_be_changed_and_submitted() -> None:
    """What is written is a policy file again."""
    digest = promoted("first")
    ended = policy("export", digest[:8])

    assert ended.code == 0
    assert policy_digest(parse_policy(ended.out.encode())) == digest


def test_example_loads(folder: Path) -> None:
    """It goes to stdout alone, and is a policy file."""
    ended = policy("example")
    (folder / "example.yaml").write_text(ended.out, encoding="utf-8")

    assert ended.err == ""
    assert policy("show", "example.yaml").code == 0


def test_audit_finds_what_was_changed(folder: Path) -> None:
    """A sound folder ends with 0, a changed one with 1 and the first place of it."""
    promoted("first")
    sound = record("audit")["folders"]
    assert next(found["folder"] for found in sound) == str(folder / "policy")
    assert sound[0]["entries"] == 4
    assert all(found["faults"] == [] for found in sound)
    assert policy("audit", "--head", sound[0]["head"]).code == 0
    assert policy("audit", "--head", "0" * 63 + "1").code == 1

    log = folder / "policy" / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"bob"', b'"eve"', 1))
    ended = policy("audit")

    assert ended.code == 1
    assert "fault: entry 3 of the policies' log is broken" in ended.out
    assert policy("show").code == 3


def test_torn_line_is_removed_on_request(folder: Path) -> None:
    """Only then, and what is removed is shown."""
    promoted("first")
    log = folder / "policy" / "audit.jsonl"
    content = log.read_bytes()
    log.write_bytes(content + b'{"act"')

    assert policy("audit").code == 1
    assert policy("submit", "second.yaml").code == 3
    assert log.read_bytes() != content
    repaired = policy("audit", "--repair")

    assert repaired.code == 0
    assert """removed 6 bytes of an entry that was never finished: b'{"act"'""" in repaired.err
    assert log.read_bytes() == content
    assert "whole" in policy("audit", "--repair").err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (("approve", "abcdef"), 2, "no policy of the log begins with 'abcdef'"),
        (("approve", "none.yaml"), 2, "none.yaml: No such file"),
        (("rollback",), 2, "0 policies could be meant"),
        (("submit", "first.yaml", "--as", ""), 2, "actor is ''"),
        (("submit", "first.yaml", "--note", "a\nb"), 2, "note is 'a\\nb'"),
        (("submit", "first.yaml", "--replay", "first.yaml"), 2, "which no replay has"),
        (("show", "--config", "none.toml"), 2, "No such file"),
        (("submit", "first.yaml", "--policy-dir", "first.yaml"), 3, "--policy-dir"),
    ],
)
def test_mistake_is_told(argv: tuple[str, ...], code: int, said: str) -> None:
    """In one line, with the code of whose fault it is."""
    ended = policy(*argv)

    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_bad_file_is_told(folder: Path) -> None:
    """With the file and the field."""
    text = policy_text(FIRST).replace("floor: 2", "floor: 0", 1)
    (folder / "bad.yaml").write_text(text, encoding="utf-8")

    ended = policy("submit", "bad.yaml")

    assert ended.code == 2
    assert "bad.yaml: tasks.default.floor is 0, allowed: a whole number from 1" in ended.err
    assert policy("history").err == "nothing was done yet\n"


def test_folder_is_that_of_the_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Option over environment over file, as for `serve`."""
    (folder / "unmask.yaml").write_text("policy_dir: from-file\n", encoding="utf-8")
    record("submit", "first.yaml", "--policy-dir", "from-option")
    record("submit", "first.yaml")
    monkeypatch.delenv("UNMASK_POLICY_DIR")
    record("submit", "first.yaml")

    assert all((folder / name / "audit.jsonl").exists() for name in ("from-option", "policy", "from-file"))


def taken(made: Policy) -> str:
    """Return the digest of a policy, as people type it."""
    return policy_digest(made)[:6]


@pytest.mark.usefixtures("folder")
def test_history_of_one_policy() -> None:
    """By digest, and in the order of the acts."""
    promoted("first")
    promoted("second")

    acts = [entry["act"] for entry in record("history", taken(SECOND))["entries"]]

    assert acts == ["propose", "submit", "approve", "promote"]
    assert len(record("history")["entries"]) == 8
