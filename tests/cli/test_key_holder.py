"""Acts on policies where keys are required."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.policy.places import FIRST
from unmask.cli.exits import Exit
from unmask.policy.file import policy_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where keys are required, with a policy file and a file of each person's key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "unmask.toml").write_text('keys = "required"\npolicy_dir = "policies"\n', encoding="utf-8")
    (tmp_path / "first.yaml").write_text(policy_text(FIRST), encoding="utf-8")
    assert act("tenants", "create", "ops").code == Exit.OK
    for name, roles in (("ann", ["operator"]), ("bob", ["approver"]), ("cem", ["inference"])):
        made = act("keys", "create", "ops", "--name", name, *(word for role in roles for word in ("--role", role)))
        (tmp_path / name).write_text(made.out, encoding="utf-8")
    return tmp_path


def act(*argv: str) -> Ended:
    """Run a command at one time."""
    return type_in(*argv, now=lambda: NOW)


def policy(name: str, *argv: str) -> Ended:
    """Run an act on the policy, signed with somebody's key."""
    return act("policy", *argv, "first.yaml", "--key-file", name)


def test_acts_are_signed_with_the_names_of_keys() -> None:
    """The log says who, by the key's own name, and by which key."""
    assert policy("ann", "submit").code == Exit.OK
    assert policy("bob", "approve").code == Exit.OK
    assert policy("ann", "promote").code == Exit.OK
    keys = {key["name"]: key["key"] for key in json.loads(act("keys", "list", "--json").out)["keys"]}
    entries = json.loads(act("policy", "history", "--json").out)["entries"]

    assert [(entry["act"], entry["actor"]) for entry in entries] == [
        ("propose", "ann"),
        ("submit", "ann"),
        ("approve", "bob"),
        ("promote", "ann"),
    ]
    assert entries[2]["note"] == f"(key {keys['bob']})"


def test_approval_needs_an_approvers_key() -> None:
    """That of an operator is not enough, and one for inference signs nothing at all."""
    assert policy("cem", "submit").code == Exit.CANNOT_RUN
    assert policy("ann", "submit").code == Exit.OK
    refused = policy("ann", "approve")

    assert refused.code == Exit.CANNOT_RUN
    assert "The key's roles are operator, allowed: approver." in refused.err
    assert policy("ann", "reject").code == Exit.CANNOT_RUN
    assert policy("bob", "reject").code == Exit.OK


def test_nobody_approves_their_own_by_another_name() -> None:
    """Whoever submits with a key is known by its name; ``--as`` says nothing else."""
    claimed = act("policy", "submit", "first.yaml", "--key-file", "bob", "--as", "ann")
    assert (claimed.code, "--as is 'ann', and the key is that of bob" in claimed.err) == (Exit.USAGE, True)
    assert policy("bob", "submit").code == Exit.OK
    own = policy("bob", "approve")

    assert own.code == Exit.USAGE
    assert policy("bob", "approve", "--solo").code == Exit.OK


def test_without_a_key_nothing_is_signed() -> None:
    """The name that the system tells is not taken on trust any more."""
    for argv in (("submit", "first.yaml"), ("submit", "first.yaml", "--as", "ann")):
        ended = act("policy", *argv)
        assert (ended.code, "name its file with --key-file" in ended.err) == (Exit.USAGE, True)


def test_a_key_out_of_force_signs_nothing(folder: Path) -> None:
    """Disabled, or never made; the secret is not repeated."""
    key = (folder / "ann").read_text(encoding="utf-8").strip()
    assert act("keys", "disable", key).code == Exit.OK
    (folder / "nobody").write_text("um-nothing", encoding="utf-8")
    for name in ("ann", "nobody"):
        ended = policy(name, "submit")
        assert (ended.code, ended.out) == (Exit.CANNOT_RUN, "")
        assert "This API key is not valid here" in ended.err
        assert key not in ended.err


def test_a_key_may_come_from_stdin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it need not lie in a file; a file that cannot be read is told."""
    monkeypatch.setattr("sys.stdin", io.StringIO((folder / "ann").read_text(encoding="utf-8")))
    assert policy("-", "submit").code == Exit.OK
    gone = policy("gone", "approve")

    assert (gone.code, "the key cannot be read from gone" in gone.err) == (Exit.USAGE, True)
