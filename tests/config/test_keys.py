"""Behaviour of `unmask.config.keys`: what is said about every setting."""

from dataclasses import fields

import pytest

from unmask.config import Settings
from unmask.config.keys import Key, settings_keys
from unmask.config.rules import Group

KEYS = {key.name: key for key in settings_keys()}


def test_every_field_is_a_setting() -> None:
    """The schema is `Settings` and nothing beside it."""
    assert list(KEYS) == [field.name for field in fields(Settings)]


@pytest.mark.parametrize("key", settings_keys(), ids=lambda key: key.name)
def test_setting_is_described(key: Key) -> None:
    """Each says what it does in a sentence, and has a word for being empty if it can be."""
    assert key.setting.meaning.endswith(".")
    assert key.shown(key.default)


def test_groups_are_contiguous() -> None:
    """Settings are listed group by group."""
    groups = [key.group for key in settings_keys()]

    assert groups == sorted(groups, key=list(Group).index)


def test_names_follow_from_the_setting() -> None:
    """Variable and flag are the setting's name; a list's flag takes one."""
    assert (KEYS["max_rows"].variable, KEYS["max_rows"].flag) == ("UNMASK_MAX_ROWS", "--max-rows")
    assert (KEYS["models"].variable, KEYS["models"].flag) == ("UNMASK_MODELS", "--model")


def test_rules_read_as_words() -> None:
    """Each kind of rule says what it allows."""
    assert KEYS["port"].allowed == "a whole number from 0 to 65535"
    assert KEYS["threads"].allowed == "a whole number from 1 to 1024"
    assert KEYS["keep_alive_s"].allowed == "a number from 0.01 to 3600"
    assert KEYS["models"].allowed == "a list of different names, folders or Hub ids"
    assert KEYS["precision"].allowed == "float32, bfloat16, int8 or int4"
    assert KEYS["policy_dir"].allowed == "a path"
    assert KEYS["database"].allowed == "the path of a file, or a URL of PostgreSQL (postgresql://...)"
    assert KEYS["host"].allowed == "127.0.0.1, ::1 or localhost; with keys any address of this machine"
    assert KEYS["keys"].allowed == "off or required"
    assert KEYS["tiers"].allowed == "a list of different pairs such as flex=batch, one a tier"


def test_values_read_as_words() -> None:
    """What is empty is told by what it means."""
    assert KEYS["models"].shown(("a", "b")) == "a, b"
    assert KEYS["models"].shown(()) == "every one in the package"
    assert KEYS["threads"].shown(None) == "torch decides"
    assert KEYS["drain_s"].shown(30.0) == "30"
    assert KEYS["precision"].shown(KEYS["precision"].default) == "float32; of a checkpoint its own"


def test_passwords_are_not_shown() -> None:
    """A URL of the database is shown without its password."""
    key = KEYS["database"]

    assert key.shown("postgresql://ann:s3:c@ret@host/db") == "postgresql://ann:***@host/db"
    assert key.shown("postgresql://ann@host/db") == "postgresql://ann@host/db"
    assert key.shown("/a/b:c@d.db") == "/a/b:c@d.db"
