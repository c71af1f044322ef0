"""Behaviour of `unmask.policy.file`: what is read, and what is said about what is not."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.policy.drawn import EXAMPLES, policies
from unmask.errors import ConfigError
from unmask.policy.file import LARGEST_FILE, parse_policy, policy_text, read_policy
from unmask.policy.policy import BucketSteps, Policy
from unmask.testing.budget_policies import make_policy, make_task_policy
from unmask.types import Bucket

TEXT = policy_text(make_policy())


def refused(content: str | bytes) -> ConfigError:
    """Return the error that a file meets."""
    with pytest.raises(ConfigError) as caught:
        parse_policy(content if isinstance(content, bytes) else content.encode())
    return caught.value


@settings(max_examples=EXAMPLES)
@given(policies())
def test_what_is_written_reads_back(policy: Policy) -> None:
    """A policy written as YAML is the same policy again, field by field and in the same order."""
    assert parse_policy(policy_text(policy).encode()) == policy


def test_json_is_read_too(tmp_path: Path) -> None:
    """JSON is a part of YAML."""
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"model": "x"}), encoding="utf-8")

    with pytest.raises(ConfigError, match=r"p\.json: model_digest is missing"):
        read_policy(path)


def test_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(ConfigError, match=r"none\.yaml: No such file"):
        read_policy(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("old", "new", "param", "said"),
    [
        ("floor: 2", "flor: 2", "tasks.default.floor", "is missing"),
        ("alpha: 0.01", "alpha: 0.01\n    colour: 1", "tasks.default.colour", "is no field"),
        ("patience", "patients", "tasks.sort.exit.patients", "did you mean patience?"),
        ("mode: fixed", "mode: wild", "tasks.default.mode", "'wild', allowed: fixed, adaptive"),
        ("floor: 2", "floor: 2.5", "tasks.default.floor", "2.5, allowed: a whole number from 1 to 1000000"),
        ("floor: 2", "floor: '2'", "tasks.default.floor", "'2', allowed: a whole number"),
        ("floor: 2", "floor: true", "tasks.default.floor", "True, allowed: a whole number"),
        ("floor: 2", "floor: 0", "tasks.default.floor", "0, allowed: a whole number from 1"),
        ("floor: 2", f"floor: {10**40}", "tasks.default.floor", "allowed: a whole number"),
        ("alpha: 0.01", "alpha: 0", "tasks.default.alpha", "0, allowed: a number above 0 and below 1"),
        ("alpha: 0.01", "alpha: 1", "tasks.default.alpha", "1, allowed: a number above 0 and below 1"),
        ("alpha: 0.01", "alpha: .nan", "tasks.default.alpha", "nan, allowed: a number above 0"),
        ("shift: 0.0", "shift: .inf", "tasks.default.shift", "inf, allowed: a number from -20 to 20"),
        ("limit: 0.01", "limit: 1.5", "tasks.sort.exit.misjudgement_limit", "1.5, allowed: a number above 0"),
        ("flips: 0.0", "flops: 0.0", "tasks.sort.exit.conditions", "the name 'flops', allowed: flips, kl"),
        ("flips: 0.0", "flips: .nan", "tasks.sort.exit.conditions.flips", "nan, allowed: a number"),
        ("XL: 32", "XXL: 32", "buckets", "the name 'XXL', allowed: XS, S, M, L, XL"),
        ("model: tiny", "model: 'a b'", "model", "'a b', allowed: a name"),
        ("model_digest: 0123456789abcdef", "model_digest: 1234567890123456", "model_digest", "in quotes"),
        ("prefers: deadline", "prefers: [deadline]", "classes.interactive.prefers", "allowed: deadline, quality"),
        ("control:\n", "control: 1\nx:\n", "control", "1, allowed: fields of its own"),
    ],
)
def test_wrong_field_is_named(old: str, new: str, param: str, said: str) -> None:
    """Path, value, what is allowed and a fix; unknown names and wrong types among them."""
    assert old in TEXT
    error = refused(TEXT.replace(old, new, 1))

    assert error.param == param
    assert error.message.startswith(param)
    assert said in error.message
    assert "llowed: " in error.message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds None, allowed: the fields of a policy"),
        ("- model", "allowed: the fields of a policy"),
        ("model: [", "no YAML"),
        ("[" * 5_000, "no YAML"),
        ("1" * 5_000 + ": 1", "no YAML"),
        ("model: " + "1" * 5_000, "no YAML"),
        ("model: a\nmodel: b", "model is there twice"),
        ("a: &a [x]\nmodel: *a", "alias"),
        (b"model: \xff\xfe", "UTF-8"),
        ("model: tiny\nx: !!binary aGk=", "without tags"),
        ("model: tiny\nx: !!set {a}", "without tags"),
        (b"#" * (LARGEST_FILE + 1), "larger than a policy may be"),
    ],
)
def test_no_policy_at_all_is_told(content: str | bytes, said: str) -> None:
    """Bombs, aliases, other encodings and other files end in one message, never in a traceback."""
    assert said in refused(content).message


def test_byte_order_mark_is_no_part_of_a_name() -> None:
    """Some editors write one."""
    assert parse_policy(b"\xef\xbb\xbf" + TEXT.encode()) == make_policy()


@pytest.mark.parametrize("changes", [{"floor": 0}, {"ceiling": 10**9}, {"floor": 2.5}, {"alpha": float("nan")}])
def test_value_made_elsewhere_is_checked_as_well(changes: dict[str, Any]) -> None:
    """What could not be read is not written."""
    policy = make_policy(tasks=(make_task_policy(**changes),), buckets=(BucketSteps(bucket=Bucket.M, max_steps=10**9),))

    with pytest.raises(ConfigError):
        policy_text(policy)
