"""Behaviour of `unmask.config.strict_yaml`."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from unmask.config.strict_yaml import dump_yaml, load_yaml

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda kinds: st.lists(kinds, max_size=3) | st.dictionaries(st.text(), kinds, max_size=3)
)


@given(VALUES)
def test_what_is_written_reads_back(value: object) -> None:
    """Texts that look like something else are in quotes, and numbers stay what they are."""
    read = load_yaml(dump_yaml({"value": value}))

    assert read == {"value": value}
    assert repr(read) == repr({"value": value})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        (".5", 0.5),
        ("-7", -7),
        ("no", "no"),
        ("1:30", "1:30"),
        ("0777", "0777"),
        ("2026-01-01", "2026-01-01"),
        ("0x1f", "0x1f"),
        ("~", None),
        ("", None),
        ("true", True),
    ],
)
def test_plain_text_is_what_it_looks_like(text: str, value: object) -> None:
    """As in YAML 1.2: no sexagesimal, octal or Norwegian surprises."""
    read = load_yaml(f"x: {text}")

    assert read == {"x": value}


def test_no_number_is_read() -> None:
    """The two that are not finite are read as such, for a schema to refuse by name."""
    read = load_yaml("[.nan, .inf, -.inf]")

    assert isinstance(read, list)
    assert math.isnan(read[0])
    assert read[1:] == [math.inf, -math.inf]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x 1\nb: *x", r"alias.*line 2"),
        ("a: &a [1, 1]\nb: &b [*a, *a]\nc: [*b, *b]", r"alias"),
        ("a: 1\nb: 1\na: 2", r"a is there twice.*line 3"),
        ("x: {a: 1, a: 2}", r"a is there twice"),
        ("1: 2", r"1 is no name, write it in quotes"),
        ("true: 2", r"true is no name"),
        ("? [a]\n: 1", r"a list or mapping is no name"),
        ("a: !!python/object:os.system x", r"os\.system"),
        ("a: 1\n--- \na: 2", r"another document"),
    ],
)
def test_surprise_is_refused(text: str, reason: str) -> None:
    """Each with the line it stands in."""
    with pytest.raises(yaml.YAMLError, match=f"(?s){reason}"):
        load_yaml(text)


def test_merge_key_is_a_name() -> None:
    """``<<`` merges nothing; a schema then refuses it as a name it does not know."""
    assert load_yaml("<<: {a: 1}") == {"<<": {"a": 1}}
