"""Behaviour of ``unmask keys`` and ``unmask tenants``."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Ended, type_in
from unmask.cli.exits import Exit
from unmask.policy import folders
from unmask.policy.folders import packaged_store
from unmask.tenants.token import NOBODY, parse

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder whose state is its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    # Whose classes keys are made for.
    monkeypatch.setattr(folders, "packaged_store", packaged_store)
    return tmp_path / "unmask"


def act(*argv: str, now: datetime = NOW) -> Ended:
    """Run a command at some time."""
    return type_in(*argv, now=lambda: now)


def record(*argv: str, now: datetime = NOW) -> dict[str, Any]:
    """Run a command and return its one object."""
    ended = act(*argv, "--json", now=now)
    assert ended.code == Exit.OK, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_a_key_is_written_once_and_nowhere_else(folder: Path) -> None:
    """Stdout is the key, so that a script can take it; afterwards only its id is shown."""
    assert act("tenants", "create", "acme").code == Exit.OK
    made = act("keys", "create", "acme", "--name", "ann")
    token = parse(made.out.rstrip("\n"))

    assert made.code == Exit.OK
    assert token is not NOBODY
    assert "shown once" in made.err
    listed = act("keys", "list")
    assert token.public_id in listed.out
    for text in (listed.out, act("keys", "list", "--json").out, act("keys", "disable", token.public_id).out):
        assert token.secret not in text
    assert all(token.secret.encode() not in path.read_bytes() for path in folder.iterdir())


def test_what_a_key_is_for_is_shown() -> None:
    """All that it was made with, for machines."""
    act("tenants", "create", "acme", "--class", "batch", "--class", "interactive")
    argv = ["--role", "operator", "--role", "approver", "--class", "batch", "--task", "sort", "--expires", "30d"]
    limits = ["--limit", "requests=10/1m", "--limit", "concurrency=2"]
    made = record("keys", "create", "acme", "--name", "ann", *argv, *limits)
    secret = made.pop("secret")

    assert parse(secret).public_id == made["key"]
    assert made == {
        "key": made["key"],
        "tenant": "acme",
        "name": "ann",
        "roles": ["operator", "approver"],
        "classes": ["batch"],
        "default_task": "sort",
        "limits": ["requests=10/1m", "concurrency=2"],
        "state": "active",
        "created": NOW.isoformat(),
        "expires": (NOW + timedelta(days=30)).isoformat(),
        "disabled": None,
    }
    assert record("keys", "list") == {"keys": [made]}
    assert record("keys", "list", now=NOW + timedelta(days=30))["keys"][0]["state"] == "expired"


def test_a_keys_life() -> None:
    """Limits change, an expiry comes and goes, and the end is for good."""
    act("tenants", "create", "acme")
    made = record("keys", "create", "acme", "--name", "ann")
    name = made["key"]
    assert (made["roles"], made["expires"]) == (["inference"], None)

    assert record("keys", "limit", name, "steps=5/1h")["limits"] == ["steps=5/1h"]
    assert record("keys", "limit", name)["limits"] == []
    assert record("keys", "expire", name, "now")["state"] == "expired"
    assert record("keys", "expire", name, "12h")["state"] == "active"
    assert record("keys", "expire", name, "never")["expires"] is None
    assert record("keys", "disable", name)["state"] == "disabled"
    assert record("keys", "expire", name, "never")["state"] == "disabled"


def test_a_key_that_has_leaked_is_disabled_as_it_is() -> None:
    """Whoever finds one somewhere need not take it apart first."""
    act("tenants", "create", "acme")
    secret = record("keys", "create", "acme", "--name", "ann")["secret"]
    ended = act("keys", "disable", secret)

    assert (ended.code, record("keys", "list")["keys"][0]["state"]) == (Exit.OK, "disabled")
    assert secret not in ended.out + ended.err


def test_a_tenants_life() -> None:
    """Limits, classes, and all of its keys at once."""
    assert record("tenants", "create", "acme", "--limit", "cost=2.50/1d")["limits"] == ["cost=2.5/1d"]
    key = record("keys", "create", "acme", "--name", "ann")["key"]
    assert record("tenants", "limit", "acme", "requests=1/1m", "concurrency=3")["limits"] == [
        "requests=1/1m",
        "concurrency=3",
    ]
    assert record("tenants", "allow", "acme", "batch")["classes"] == ["batch"]
    assert record("tenants", "allow", "acme")["classes"] is None
    assert record("tenants", "disable", "acme")["disabled"] == NOW.isoformat()
    assert record("tenants", "enable", "acme")["disabled"] is None
    assert record("tenants", "list")["tenants"][0] == {
        "tenant": "acme",
        "classes": None,
        "limits": ["requests=1/1m", "concurrency=3"],
        "keys": [key],
        "active_keys": 1,
        "created": NOW.isoformat(),
        "disabled": None,
    }


def test_tables_are_for_people() -> None:
    """Nothing yet says what to do; one tenant's keys can be asked for."""
    assert "unmask tenants create" in act("tenants", "list").err
    assert "unmask keys create" in act("keys", "list").err
    for name in ("acme", "globex"):
        act("tenants", "create", name)
        act("keys", "create", name, "--name", f"of {name}")
    shown = act("keys", "list", "--tenant", "globex").out

    assert "of globex" in shown
    assert "of acme" not in shown
    assert "globex" in act("tenants", "list").out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("keys", "create", "nix", "--name", "x"), "tenant is 'nix', allowed: a tenant's name"),
        (("keys", "list", "--tenant", "nix"), "tenant is 'nix'"),
        (("keys", "disable", "nix"), "key is 'nix', allowed: the 12 characters"),
        (("keys", "expire", "nix", "soon"), "is no time, allowed:"),
        (("keys", "limit", "nix", "requests=1"), "limit is 'requests=1', allowed: a window"),
        (("tenants", "create", "platform"), "tenant is 'platform', allowed: another name"),
        (("tenants", "create", "a b"), "tenant is 'a b', allowed: 1 to 64 letters"),
        (("tenants", "create", "a", "--limit", "x=1"), "limit is 'x=1', allowed: one of requests"),
        (("tenants", "list", "--database", "mysql://x"), "database is of kind 'mysql'"),
    ],
)
def test_what_does_not_fit_is_told(argv: tuple[str, ...], said: str) -> None:
    """One line that names the value, what is allowed and what to do; the exit code is that of wrong usage."""
    ended = act(*argv)

    assert (ended.code, ended.out) == (Exit.USAGE, "")
    assert said in ended.err


def test_the_database_and_the_pepper_may_be_named(tmp_path: Path) -> None:
    """Nothing is then written where they would be otherwise."""
    database, pepper = str(tmp_path / "a" / "keys.db"), str(tmp_path / "b" / "pepper")
    act("tenants", "create", "acme", "--database", database)
    made = act("keys", "create", "acme", "--name", "x", "--database", database, "--pepper-file", pepper)

    assert made.code == Exit.OK
    assert len(record("keys", "list", "--database", database)["keys"]) == 1
    assert Path(pepper).stat().st_size == 32
    assert not (tmp_path / "unmask").exists()


def test_a_report_of_nothing_names_nobody() -> None:
    """An empty ledger has no traffic to judge."""
    ended = act("tenants", "report")

    assert (ended.code, ended.out) == (Exit.OK, "")
    assert "0 requests in 7 days: 0 of 0 comparisons name a tenant" in ended.err
    assert record("tenants", "report", "--days", "30") == {"days": 30, "requests": 0, "compared": []}


def test_a_tenants_name_is_ascii_and_a_keys_is_anything() -> None:
    """Hangul can be written composed and in parts, which must not be two tenants; people read the name of a key."""
    refused = act("tenants", "create", "서울")
    act("tenants", "create", "seoul")
    made = record("keys", "create", "seoul", "--name", "고객 지원")

    assert refused.code == Exit.USAGE
    assert all(part in refused.err for part in ("서울", "A to Z", "Spell it in ASCII", "--name"))
    assert made["name"] == "고객 지원"


def test_a_tenant_may_use_no_class_that_there_is_not() -> None:
    """Its keys could be made for none of them; what it could use before stays."""
    refused = act("tenants", "create", "seoul", "--class", "야간")
    record("tenants", "create", "acme", "--class", "batch")
    ended = act("tenants", "allow", "acme", "nightly")

    assert (refused.code, ended.code) == (Exit.USAGE, Exit.USAGE)
    assert "class is '야간', allowed: " in refused.err
    assert all(part in ended.err for part in ("class is 'nightly'", "interactive", "Promote the policy"))
    assert [(one["tenant"], one["classes"]) for one in record("tenants", "list")["tenants"]] == [("acme", ["batch"])]


@pytest.mark.parametrize(("option", "known"), [("--class", "interactive"), ("--task", "lookup")])
def test_a_key_for_what_there_is_not_is_refused(option: str, known: str) -> None:
    """With the names that there are; nothing is made."""
    act("tenants", "create", "acme")
    ended = act("keys", "create", "acme", "--name", "ann", option, "nightly")

    assert ended.code == Exit.USAGE
    assert "nightly" in ended.err
    assert known in ended.err
    assert record("keys", "list") == {"keys": []}
