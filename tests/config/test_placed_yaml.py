"""Behaviour of YAML whose parts know their lines."""

import pytest

from unmask.config.placed_yaml import DEEPEST, read_placed


def test_every_part_knows_its_line() -> None:
    """A value of a mapping is where its name is, an item where it begins, and what is not there where its holder is."""
    root = read_placed("a:\n  b: 1\n  c:\n    - x\n    - y: z\n").root

    assert root is not None
    assert root.plain == {"a": {"b": 1, "c": ["x", {"y": "z"}]}}
    assert root.line_at(("a", "b")) == 2
    assert root.line_at(("a", "c", 1, "y")) == 5
    assert root.line_at(("a", "missing", "deeper")) == 1


def test_plain_words_are_texts() -> None:
    """What YAML 1.1 would take for a truth, an octal number or a date stays as it is written."""
    root = read_placed("[no, 0777, 1e-3, 2024-01-01, ~, true, '7']").root

    assert root is not None
    assert root.plain == ["no", "0777", 0.001, "2024-01-01", None, True, "7"]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\na: 2\n", 2, "'a' is there twice, first on line 1"),
        ("a: 1\n3: x\n", 2, "'3' is no name"),
        ("? [1]\n: y\n", 1, "is no name"),
        ("a: &x [1]\nb: *x\n", 2, "an alias (*) is not allowed"),
        ("a:\n  !!python/object:os.system x\n", 1, "the tag tag:yaml.org,2002:python/object:os.system is not allowed"),
        ("a: !!set {x}\n", 1, "the tag"),
        ("a: b: c\n", 1, "it is no YAML"),
        ("- x\n---\n- y\n", 2, "another document"),
        ("a: " + "9" * 6000, 1, "no number that can be held"),
        ("a: !!int x", 1, "no number that can be held"),
        ("[" * 100_000, 1, "it is no YAML"),
        ("[" * (DEEPEST + 5) + "]" * (DEEPEST + 5), 1, "nested deeper"),
    ],
)
def test_what_no_document_may_hold_is_told_with_its_line(text: str, line: int, said: str) -> None:
    """Nothing is taken for something else, and no alias is followed."""
    faults = read_placed(text).faults

    assert [fault.line for fault in faults] == [line]
    assert said in faults[0].message


def test_faults_of_one_document_come_together() -> None:
    """Reading goes on after a fault, and the first of two parts of one name is kept."""
    read = read_placed("a: 1\na: 2\nb: !!set {x}\nc: 3\n")

    assert [fault.line for fault in read.faults] == [2, 3]
    assert read.root is not None
    assert read.root.plain == {"a": 1, "b": None, "c": 3}


def test_a_bomb_of_aliases_does_not_go_off() -> None:
    """Thirty lines that stand for a billion items are thirty faults."""
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 31)]

    read = read_placed("\n".join(lines))

    assert len(read.faults) == 60


def test_json_is_read_as_it_is() -> None:
    """Minified, with tabs, and with characters written as two escapes."""
    root = read_placed('{\t"a":"\\ud83d\\ude00 \\\\ud83d","b":{"c":[1,2]}}', is_json=True).root

    assert root is not None
    assert root.plain == {"a": "😀 \\ud83d", "b": {"c": [1, 2]}}


def test_an_empty_document_has_no_root() -> None:
    """Nothing was read, and nothing is wrong with it."""
    assert read_placed("# a comment\n").root is None
