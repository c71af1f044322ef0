"""Behaviour of `unmask.api.validate` and the tables it reads."""

from typing import Any

import pytest

from tests.api.client import chat_body, user
from unmask.api.errors import UnknownFieldError, UnsupportedFieldError
from unmask.api.refusals import BODY, DIFFUSION, MESSAGE
from unmask.api.rules import RULES
from unmask.api.schema import LARGEST_SEED, LEAST_SEED, ChatBody, ChatMessage, DiffusionOptions, TextPart
from unmask.api.validate import validate_body
from unmask.errors import InvalidRequestError

WHOLE = ("max_tokens", "max_completion_tokens", "num_denoising_steps", "seed")
WHOLE_DIFFUSION = ("max_steps", "max_total_steps", "canvas_length")
NOT_WHOLE: tuple[object, ...] = ("8", 8.0, 8.5, True, [8], {"n": 8})

BAD_FIELDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("model", {"model": None}),
    ("model", {"model": 3}),
    ("messages", {"messages": None}),
    ("messages", {"messages": "add 1 + 1"}),
    ("messages", {"messages": []}),
    ("messages[0]", {"messages": ["add 1 + 1"]}),
    ("messages[1]", {"messages": [*user("a"), None]}),
    ("messages[0].role", {"messages": [{"content": "a"}]}),
    ("messages[0].role", {"messages": [{"role": "tool", "content": "a"}]}),
    ("messages[0].role", {"messages": [{"role": 1, "content": "a"}]}),
    ("messages[0].content", {"messages": [{"role": "user"}]}),
    ("messages[0].content", {"messages": user(None)}),
    ("messages[0].content", {"messages": user(3)}),
    ("messages[0].content[0]", {"messages": user(["a"])}),
    ("messages[0].content[0].type", {"messages": user([{"text": "a"}])}),
    ("messages[0].content[0].type", {"messages": user([{"type": "image_url", "text": "a"}])}),
    ("messages[0].content[1].text", {"messages": user([{"type": "text", "text": "a"}, {"type": "text"}])}),
    ("messages[0].content[0].text", {"messages": user([{"type": "text", "text": 1}])}),
    ("max_tokens", {"max_tokens": 0}),
    ("max_completion_tokens", {"max_completion_tokens": -1}),
    ("temperature", {"temperature": -0.1}),
    ("temperature", {"temperature": 2.1}),
    ("temperature", {"temperature": "1"}),
    ("temperature", {"temperature": True}),
    ("top_p", {"top_p": 0}),
    ("top_p", {"top_p": 1.01}),
    ("seed", {"seed": LARGEST_SEED + 1}),
    ("seed", {"seed": LEAST_SEED - 1}),
    ("stop", {"stop": ""}),
    ("stop", {"stop": 3}),
    ("stop", {"stop": []}),
    ("stop", {"stop": ["a", ""]}),
    ("stop", {"stop": ["a", 1]}),
    ("stop", {"stop": ["a", "b", "c", "d", "e"]}),
    ("diffusion", {"diffusion": []}),
    ("diffusion", {"diffusion": 8}),
    ("diffusion.max_steps", {"diffusion": {"max_steps": 0}}),
    ("diffusion.max_total_steps", {"diffusion": {"max_total_steps": 0}}),
    ("diffusion.canvas_length", {"diffusion": {"canvas_length": -8}}),
    ("diffusion.strategy", {"diffusion": {"strategy": "magic"}}),
    ("diffusion.strategy", {"diffusion": {"strategy": 1}}),
    ("diffusion.threshold", {"diffusion": {"threshold": -0.1}}),
    ("diffusion.threshold", {"diffusion": {"threshold": "0.9"}}),
    ("diffusion.threshold", {"diffusion": {"threshold": True}}),
    ("num_denoising_steps", {"num_denoising_steps": 0}),
    ("user", {"user": 1}),
    ("metadata", {"metadata": "note"}),
    ("metadata", {"metadata": {"a": 1}}),
    ("metadata", {"metadata": {"<text>": 1}}),
    ("metadata", {"metadata": {str(number): "" for number in range(17)}}),
)


@pytest.mark.parametrize(("param", "changes"), BAD_FIELDS)
def test_bad_field_is_named(param: str, changes: dict[str, Any]) -> None:
    """The error names the field, and says what is allowed there and what to do."""
    with pytest.raises(InvalidRequestError) as caught:
        validate_body(chat_body(**changes))

    assert caught.value.param == param
    assert f"{param} is " in str(caught.value)
    assert "allowed: " in str(caught.value)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", NOT_WHOLE)
def test_whole_numbers_are_strict(name: str, value: object) -> None:
    """Text, fractions and booleans are no whole numbers."""
    with pytest.raises(InvalidRequestError) as caught:
        validate_body(chat_body(**{name: value}))

    assert caught.value.param == name


@pytest.mark.parametrize("name", WHOLE_DIFFUSION)
@pytest.mark.parametrize("value", NOT_WHOLE)
def test_whole_numbers_of_diffusion_are_strict(name: str, value: object) -> None:
    """Text, fractions and booleans are no whole numbers below ``diffusion`` either."""
    with pytest.raises(InvalidRequestError) as caught:
        validate_body(chat_body(diffusion={name: value}))

    assert caught.value.param == f"diffusion.{name}"


@pytest.mark.parametrize("name", ["model", "messages"])
def test_missing_field_is_named(name: str) -> None:
    """A required field that is not there is called missing."""
    body = chat_body()
    del body[name]

    with pytest.raises(InvalidRequestError, match=f"^{name} is missing, allowed: ") as caught:
        validate_body(body)

    assert caught.value.param == name


@pytest.mark.parametrize(
    ("param", "known", "changes"),
    [
        ("top_k", "temperature", {"top_k": 5}),
        ("<text>", "temperature", {"<text>": 5}),
        ("diffusion.steps", "max_steps", {"diffusion": {"steps": 4}}),
        ("diffusion.<parts>", "max_steps", {"diffusion": {"<parts>": 4}}),
        ("messages[0].weight", "role", {"messages": user("a", weight=1)}),
        ("messages[0].content[0].cache", "text", {"messages": user([{"type": "text", "text": "a", "cache": 1}])}),
    ],
)
def test_unknown_field_is_named_with_the_known_ones(param: str, known: str, changes: dict[str, Any]) -> None:
    """A field that does not exist is refused, never ignored, and the message lists those that do."""
    with pytest.raises(UnknownFieldError) as caught:
        validate_body(chat_body(**changes))

    assert caught.value.param == param
    assert known in caught.value.allowed


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"max_tokens": True}, "max_tokens is true, "),
        ({"model": None}, "model is null, "),
        ({"stop": [False]}, "stop is false, "),
        ({"tools": {"strict": True}}, "tools is {'strict': true}, "),
        ({"no_such": False}, "no_such is false, "),
        ({"user": ["x" * 1000]}, "..."),
    ],
)
def test_values_are_repeated_as_json(changes: dict[str, Any], told: str) -> None:
    """Whoever wrote ``true`` and ``null`` reads them so, shortened as ever."""
    with pytest.raises(InvalidRequestError) as caught:
        validate_body(chat_body(**changes))

    assert told in str(caught.value)
    assert len(str(caught.value)) < 400


def test_unknown_fields_name_is_cut() -> None:
    """A name as long as the body does not come back whole."""
    with pytest.raises(UnknownFieldError) as caught:
        validate_body(chat_body(**{"x" * 100_000: 1}))

    assert len(str(caught.value)) < 1000


def test_unknown_diffusion_field_lists_what_is_planned() -> None:
    """Whoever tries a planned field's wrong name learns its right one."""
    with pytest.raises(UnknownFieldError) as caught:
        validate_body(chat_body(diffusion={"reexpansions": 2}))

    assert "max_reexpansions" in str(caught.value)


NEUTRAL = [(name, value) for name, values in BODY.items() for value in (None, *values)]


@pytest.mark.parametrize(("name", "value"), NEUTRAL)
def test_neutral_value_is_taken(name: str, value: object) -> None:
    """A field that is not supported yet may be sent with the value that asks for nothing."""
    validate_body(chat_body(**{name: value}))


def test_zero_may_be_written_with_a_point() -> None:
    """The neutral penalty is a number, and 0.0 is the same number."""
    validate_body(chat_body(frequency_penalty=0.0, presence_penalty=-0.0))


@pytest.mark.parametrize("name", BODY)
@pytest.mark.parametrize("value", [3, "other", ["x"], {"type": "json_object"}])
def test_unsupported_field_is_refused_by_name(name: str, value: object) -> None:
    """Anything a field could ask for is refused, naming it."""
    with pytest.raises(UnsupportedFieldError, match="not supported yet") as caught:
        validate_body(chat_body(**{name: value}))

    assert caught.value.param == name


@pytest.mark.parametrize(
    ("name", "value"), [("n", True), ("n", 2), ("stream", True), ("stream", 0), ("logprobs", True), ("n", 1.5)]
)
def test_truth_and_numbers_are_told_apart(name: str, value: object) -> None:
    """``true`` is not 1 and 0 is not ``false``, although Python says so."""
    with pytest.raises(UnsupportedFieldError) as caught:
        validate_body(chat_body(**{name: value}))

    assert caught.value.param == name


@pytest.mark.parametrize("name", DIFFUSION)
def test_planned_diffusion_field_is_refused_unless_null(name: str) -> None:
    """A planned field is refused by its full name, and ``null`` asks for nothing."""
    validate_body(chat_body(diffusion={name: None}))
    with pytest.raises(UnsupportedFieldError) as caught:
        validate_body(chat_body(diffusion={name: 1}))

    assert caught.value.param == f"diffusion.{name}"


@pytest.mark.parametrize("name", MESSAGE)
def test_message_field_is_refused_unless_null(name: str) -> None:
    """The empty fields of an earlier answer may be sent back; filled ones are refused by place and name."""
    validate_body(chat_body(messages=[*user("a", **{name: None}), *user("b")]))
    with pytest.raises(UnsupportedFieldError) as caught:
        validate_body(chat_body(messages=[*user("a"), *user("b", **{name: "x"})]))

    assert caught.value.param == f"messages[1].{name}"


def test_every_field_can_be_sent() -> None:
    """A body with every supported field is valid."""
    body = validate_body(
        chat_body(
            max_tokens=8,
            max_completion_tokens=8,
            temperature=1,
            top_p=0.5,
            seed=-1,
            stop=["a", "b"],
            diffusion={
                "max_steps": 4,
                "max_total_steps": 8,
                "canvas_length": 8,
                "strategy": "entropy_bound",
                "threshold": 1.5,
            },
            num_denoising_steps=4,
            user="u",
            metadata={"a": "b"},
        )
    )

    assert body.model_fields_set == set(ChatBody.model_fields)


def test_every_field_has_a_rule() -> None:
    """Whatever pydantic may complain of has its words in the table."""
    fields = {
        *ChatBody.model_fields,
        *(f"diffusion.{name}" for name in DiffusionOptions.model_fields),
        *(f"messages[].{name}" for name in ChatMessage.model_fields),
        *(f"messages[].content[].{name}" for name in TextPart.model_fields),
    }

    assert set(RULES) == fields | {"messages[]", "messages[].content[]"}


def test_no_field_is_both_supported_and_refused() -> None:
    """The tables of refusals and the schema share no name."""
    assert not set(BODY) & set(ChatBody.model_fields)
    assert not set(DIFFUSION) & set(DiffusionOptions.model_fields)
    assert not set(MESSAGE) & set(ChatMessage.model_fields)
