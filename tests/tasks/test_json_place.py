"""Behaviour of `unmask.tasks.json_place` and `unmask.tasks.form`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.verified import faulty, judged
from unmask.tasks.failure import FailureKind
from unmask.tasks.form import Form
from unmask.tasks.formats import JsonObject, JsonSchema
from unmask.tasks.json_place import syntax_fault, value_at

PERSON = JsonSchema(
    {
        "type": "object",
        "required": ["age"],
        "properties": {"age": {"type": "integer"}, "names": {"items": {"type": "string"}}},
    }
)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"age": 3}', None),
        ('{"age": "x", "names": []}', '"x"'),
        ('{"names" : [ "a" , {"b": [1]} ], "age": 1}', '{"b": [1]}'),
        ('{"names": []}', '{"names": []}'),
        ('{"age": 3,, "names": []}', ', "names": []}'),
        ('{"age": 3', "3"),
        ("age 3", "age 3"),
    ],
)
def test_fault_of_a_schema(text: str, fault: str | None) -> None:
    """The value that is not allowed; of what is no JSON, all from where it ceases to be."""
    assert faulty(Form(form=PERSON), text) == fault
    assert judged(Form(form=PERSON), text) is (None if fault is None else FailureKind.FORMAT)


def test_fault_of_an_object() -> None:
    """JSON that is no object is at fault nowhere in particular."""
    assert faulty(Form(form=JsonObject()), "{1}") == "1}"
    assert judged(Form(form=JsonObject()), "[]") is FailureKind.FORMAT
    assert faulty(Form(form=JsonObject()), "[]") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.sampled_from([None, 1]), st.data())
def test_values_are_found_where_they_are(value: object, indent: int | None, data: st.DataObject) -> None:
    """Whatever is around them."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    path: list[str | int] = []
    here = value
    while isinstance(here, list | dict) and here and data.draw(st.booleans()):
        step = data.draw(st.sampled_from(list(here) if isinstance(here, dict) else list(range(len(here)))))
        path.append(step)
        here = here[step]

    span = value_at(text, path)
    assert span is not None
    assert json.loads(text[span.start : span.end]) == here


@given(st.text(max_size=30))
def test_any_text_has_a_fault_or_none(text: str) -> None:
    """Never an error, and a fault is a part of the text."""
    span = syntax_fault(text)
    assert span is None or 0 <= span.start <= span.end == len(text)
    value_at(text, ("a", 1))


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 10_000])
def test_what_json_readers_give_up_on_is_a_fault_as_a_whole(text: str) -> None:
    """Nesting and digits beyond what is followed."""
    assert value_at(text, ()) is None or syntax_fault(text) is None
