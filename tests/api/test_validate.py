"""Behaviour of `unmask.api.validate` and the tables it reads."""

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest
from openai.resources.chat.completions import Completions
from openai.resources.completions import Completions as TextCompletions
from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionContentPartTextParam,
    ChatCompletionStreamOptionsParam,
)
from pydantic import ValidationError

from tests.api.client import chat_body, completion_body, json_schema, user
from unmask.api.body import parse_object
from unmask.api.chat_schema import MOST_MESSAGES, MOST_PARTS, ChatBody, ChatMessage, TextPart
from unmask.api.completion_schema import CompletionBody
from unmask.api.errors import UnknownFieldError, UnsupportedFieldError
from unmask.api.format_schema import NamedSchema
from unmask.api.refusals import CHAT, COMPLETION, MESSAGE, NAMED_SCHEMA, STREAM_OPTIONS, TEXT_PART
from unmask.api.rules import CHAT_RULES, COMPLETION_RULES
from unmask.api.schema import MOST_METADATA, DiffusionOptions, StreamOptions, VllmArguments
from unmask.api.seeds import LARGEST_SEED, LEAST_SEED
from unmask.api.validate import validate_chat, validate_completion
from unmask.api.verify_schema import VERIFIERS
from unmask.errors import InvalidRequestError

WHOLE = ("max_tokens", "max_completion_tokens", "n", "num_denoising_steps", "seed", "top_logprobs")
WHOLE_DIFFUSION = ("max_steps", "max_total_steps", "min_steps", "canvas_length")
NOT_WHOLE: tuple[object, ...] = ("8", 8.5, True, [8], {"n": 8})

BAD_FIELDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("model", {"model": None}),
    ("model", {"model": 3}),
    ("messages", {"messages": None}),
    ("messages", {"messages": "add 1 + 1"}),
    ("messages", {"messages": []}),
    ("messages", {"messages": user("a") * (MOST_MESSAGES + 1)}),
    ("messages[0]", {"messages": ["add 1 + 1"]}),
    ("messages[1]", {"messages": [*user("a"), None]}),
    ("messages[0].role", {"messages": [{"content": "a"}]}),
    ("messages[0].role", {"messages": [{"role": "tool", "content": "a"}]}),
    ("messages[0].role", {"messages": [{"role": 1, "content": "a"}]}),
    ("messages[0].content", {"messages": [{"role": "user"}]}),
    ("messages[0].content", {"messages": user(None)}),
    ("messages[0].content", {"messages": user(3)}),
    ("messages[1].content", {"messages": [*user("a"), *user("")]}),
    ("messages[0].content", {"messages": user([])}),
    ("messages[0].content", {"messages": user([{"type": "text", "text": "a"}] * (MOST_PARTS + 1))}),
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
    ("n", {"n": 0}),
    ("n", {"n": 17}),
    ("stream", {"stream": 0}),
    ("stream", {"stream": "true"}),
    ("stream_options", {"stream_options": True}),
    ("stream_options.include_usage", {"stream_options": {"include_usage": 1}}),
    ("response_format", {"response_format": "json_object"}),
    ("response_format.type", {"response_format": {}}),
    ("response_format.type", {"response_format": {"type": "grammar"}}),
    ("response_format.type", {"response_format": {"type": ["text"]}}),
    ("response_format.json_schema", {"response_format": {"type": "json_schema"}}),
    ("response_format.json_schema", {"response_format": {"type": "json_schema", "json_schema": "{}"}}),
    ("response_format.json_schema.name", json_schema({}, name=None)),
    ("response_format.json_schema.name", json_schema({}, name="")),
    ("response_format.json_schema.name", json_schema({}, name="a b")),
    ("response_format.json_schema.name", json_schema({}, name="a\n")),
    ("response_format.json_schema.name", json_schema({}, name="x" * 65)),
    ("response_format.json_schema.description", json_schema({}, description=1)),
    ("response_format.json_schema.description", json_schema({}, description="x" * 1025)),
    ("response_format.json_schema.schema", json_schema(None)),
    ("response_format.json_schema.schema", json_schema(True)),
    ("response_format.json_schema.schema", json_schema([])),
    ("service_tier", {"service_tier": "turbo"}),
    ("service_tier", {"service_tier": 1}),
    ("reasoning_effort", {"reasoning_effort": "huge"}),
    ("reasoning_effort", {"reasoning_effort": 3}),
    ("logprobs", {"logprobs": 1}),
    ("top_logprobs", {"top_logprobs": -1}),
    ("top_logprobs", {"top_logprobs": 21}),
    ("vllm_xargs", {"vllm_xargs": 4}),
    ("vllm_xargs.diffusion_max_steps", {"vllm_xargs": {"diffusion_max_steps": "4"}}),
    ("vllm_xargs.diffusion_max_steps", {"vllm_xargs": {"diffusion_max_steps": 0}}),
    ("vllm_xargs.diffusion_canvas_length", {"vllm_xargs": {"diffusion_canvas_length": [8]}}),
    ("diffusion.segment_weights", {"diffusion": {"segment_weights": []}}),
    ("diffusion.segment_weights", {"diffusion": {"segment_weights": 2}}),
    ("diffusion.segment_weights", {"diffusion": {"segment_weights": [1] * 65}}),
    ("diffusion.segment_weights[1]", {"diffusion": {"segment_weights": [1, 0]}}),
    ("diffusion.segment_weights[0]", {"diffusion": {"segment_weights": [1001]}}),
    ("diffusion.segment_weights[0]", {"diffusion": {"segment_weights": ["1"]}}),
    ("diffusion", {"diffusion": []}),
    ("diffusion", {"diffusion": 8}),
    ("diffusion.max_steps", {"diffusion": {"max_steps": 0}}),
    ("diffusion.max_total_steps", {"diffusion": {"max_total_steps": 0}}),
    ("diffusion.max_total_steps", {"diffusion": {"max_total_steps": 1_000_000_001}}),
    ("diffusion.min_steps", {"diffusion": {"min_steps": 0}}),
    ("diffusion.canvas_length", {"diffusion": {"canvas_length": -8}}),
    ("diffusion.stream", {"diffusion": {"stream": True}}),
    ("diffusion.stream", {"diffusion": {"stream": "accepted"}}),
    ("diffusion.strategy", {"diffusion": {"strategy": "magic"}}),
    ("diffusion.strategy", {"diffusion": {"strategy": 1}}),
    ("diffusion.threshold", {"diffusion": {"threshold": -0.1}}),
    ("diffusion.threshold", {"diffusion": {"threshold": "0.9"}}),
    ("diffusion.threshold", {"diffusion": {"threshold": True}}),
    ("num_denoising_steps", {"num_denoising_steps": 0}),
    ("user", {"user": 1}),
    ("user", {"user": "x" * 513}),
    ("prompt_cache_key", {"prompt_cache_key": "x" * 513}),
    ("safety_identifier", {"safety_identifier": 7}),
    ("metadata", {"metadata": "note"}),
    ("metadata", {"metadata": {"a": 1}}),
    ("metadata", {"metadata": {"<text>": 1}}),
    ("metadata", {"metadata": {str(number): "" for number in range(17)}}),
    ("metadata", {"metadata": {"x" * 65: ""}}),
    ("metadata", {"metadata": {"a": "x" * 513}}),
)


@pytest.mark.parametrize(("param", "changes"), BAD_FIELDS)
def test_bad_field_is_named(param: str, changes: dict[str, Any]) -> None:
    """The error names the field, and says what is allowed there and what to do."""
    with pytest.raises(InvalidRequestError) as caught:
        validate_chat(chat_body(**changes))

    assert caught.value.param == param
    assert f"{param} is " in str(caught.value)
    assert "allowed: " in str(caught.value)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", NOT_WHOLE)
def test_whole_numbers_are_strict(name: str, value: object) -> None:
    """Text, fractions and booleans are no whole numbers."""
    with pytest.raises(InvalidRequestError) as caught:
        validate_chat(chat_body(**{name: value}))

    assert caught.value.param == name


@pytest.mark.parametrize("name", WHOLE_DIFFUSION)
@pytest.mark.parametrize("value", NOT_WHOLE)
def test_whole_numbers_of_diffusion_are_strict(name: str, value: object) -> None:
    """Text, fractions and booleans are no whole numbers below ``diffusion`` either."""
    with pytest.raises(InvalidRequestError) as caught:
        validate_chat(chat_body(diffusion={name: value}))

    assert caught.value.param == f"diffusion.{name}"


@pytest.mark.parametrize("name", ["max_tokens", "n", "seed"])
def test_whole_number_may_be_written_with_a_point(name: str) -> None:
    """JSON does not tell 8.0 from 8, and neither do the clients that send it."""
    value = getattr(validate_chat(chat_body(**{name: 8.0})), name)

    assert (value, type(value)) == (8, int)


@pytest.mark.parametrize("written", ["-9223372036854775809", "9007199254740993.0", "1e18"])
def test_whole_number_that_may_have_been_rounded_is_refused(written: str) -> None:
    """A number that arrives as a float too large to be exact is not taken for its neighbour."""
    body = parse_object(json.dumps(chat_body(seed="SEED")).replace('"SEED"', written).encode())
    with pytest.raises(InvalidRequestError) as caught:
        validate_chat(body)

    assert caught.value.param == "seed"


@pytest.mark.parametrize("name", ["model", "messages"])
def test_missing_field_is_named(name: str) -> None:
    """A required field that is not there is called missing."""
    body = chat_body()
    del body[name]

    with pytest.raises(InvalidRequestError, match=f"^{name} is missing, allowed: ") as caught:
        validate_chat(body)

    assert caught.value.param == name


@pytest.mark.parametrize(
    ("param", "known", "changes"),
    [
        ("top_a", "temperature", {"top_a": 5}),
        ("<text>", "temperature", {"<text>": 5}),
        ("diffusion.steps", "max_steps", {"diffusion": {"steps": 4}}),
        ("diffusion.<parts>", "max_steps", {"diffusion": {"<parts>": 4}}),
        ("messages[0].weight", "role", {"messages": user("a", weight=1)}),
        ("stream_options.continuous", "include_usage", {"stream_options": {"continuous": True}}),
        ("vllm_xargs.steps", "diffusion_max_steps", {"vllm_xargs": {"steps": 4}}),
        (
            "response_format.schema",
            "json_schema",
            {"response_format": {**json_schema({})["response_format"], "schema": 1}},
        ),
        ("response_format.json_schema", "type", {"response_format": {"type": "text", "json_schema": {}}}),
        ("response_format.json_schema.scheme", "schema", json_schema({}, scheme={})),
        ("messages[0].content[0].cache", "text", {"messages": user([{"type": "text", "text": "a", "cache": 1}])}),
    ],
)
def test_unknown_field_is_named_with_the_known_ones(param: str, known: str, changes: dict[str, Any]) -> None:
    """A field that does not exist is refused, never ignored, and the message lists those that do."""
    with pytest.raises(UnknownFieldError) as caught:
        validate_chat(chat_body(**changes))

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
        validate_chat(chat_body(**changes))

    assert told in str(caught.value)
    assert len(str(caught.value)) < 400


def test_unknown_fields_name_is_cut() -> None:
    """A name as long as the body does not come back whole."""
    with pytest.raises(UnknownFieldError) as caught:
        validate_chat(chat_body(**{"x" * 100_000: 1}))

    assert len(str(caught.value)) < 1000


def test_unknown_diffusion_field_lists_what_is_planned() -> None:
    """Whoever tries a planned field's wrong name learns its right one."""
    with pytest.raises(UnknownFieldError) as caught:
        validate_chat(chat_body(diffusion={"reexpansions": 2}))

    assert "max_reexpansions" in str(caught.value)


NEUTRAL = [(name, value) for name, values in CHAT.items() for value in (None, *values)]


@pytest.mark.parametrize(("name", "value"), NEUTRAL)
def test_neutral_value_is_taken(name: str, value: object) -> None:
    """A field that is not supported yet may be sent with the value that asks for nothing."""
    validate_chat(chat_body(**{name: value}))


def test_zero_may_be_written_with_a_point() -> None:
    """The neutral penalty is a number, and 0.0 is the same number."""
    validate_chat(chat_body(frequency_penalty=0.0, presence_penalty=-0.0))


@pytest.mark.parametrize("name", CHAT)
@pytest.mark.parametrize("value", [3, "other", ["x"], {"type": "json_object"}])
def test_unsupported_field_is_refused_by_name(name: str, value: object) -> None:
    """Anything a field could ask for is refused, naming it."""
    with pytest.raises(UnsupportedFieldError, match="not supported yet") as caught:
        validate_chat(chat_body(**{name: value}))

    assert caught.value.param == name


@pytest.mark.parametrize(
    ("name", "value"), [("frequency_penalty", False), ("store", 0), ("parallel_tool_calls", 1), ("store", True)]
)
def test_truth_and_numbers_are_told_apart(name: str, value: object) -> None:
    """``true`` is not 1 and 0 is not ``false``, although Python says so."""
    with pytest.raises(UnsupportedFieldError) as caught:
        validate_chat(chat_body(**{name: value}))

    assert caught.value.param == name


@pytest.mark.parametrize("name", MESSAGE)
def test_message_field_is_refused_unless_null(name: str) -> None:
    """The empty fields of an earlier answer may be sent back; filled ones are refused by place and name."""
    validate_chat(chat_body(messages=[*user("a", **{name: None}), *user("b")]))
    with pytest.raises(UnsupportedFieldError) as caught:
        validate_chat(chat_body(messages=[*user("a"), *user("b", **{name: "x"})]))

    assert caught.value.param == f"messages[1].{name}"


def test_field_of_a_part_is_refused_unless_null() -> None:
    """So is what a text part could ask for."""
    part = {"type": "text", "text": "a"}
    validate_chat(chat_body(messages=user([part | {"prompt_cache_breakpoint": None}])))
    with pytest.raises(UnsupportedFieldError) as caught:
        validate_chat(chat_body(messages=user([part, part | {"prompt_cache_breakpoint": {"mode": "explicit"}}])))

    assert caught.value.param == "messages[0].content[1].prompt_cache_breakpoint"


@pytest.mark.parametrize(
    ("param", "neutral", "other"),
    [
        (
            "stream_options.include_obfuscation",
            {"stream_options": {"include_obfuscation": False}},
            {"stream_options": {"include_obfuscation": True}},
        ),
        ("response_format.json_schema.strict", json_schema({}, strict=False), json_schema({}, strict=True)),
    ],
)
def test_field_further_below_is_refused_unless_neutral(
    param: str, neutral: dict[str, Any], other: dict[str, Any]
) -> None:
    """Below other fields the rule is the same."""
    validate_chat(chat_body(**neutral))
    with pytest.raises(UnsupportedFieldError) as caught:
        validate_chat(chat_body(**other))

    assert caught.value.param == param
    assert "strict" not in param or "No format can be guaranteed yet" in str(caught.value)


def test_every_field_can_be_sent() -> None:
    """A body with every supported field is valid."""
    body = validate_chat(
        chat_body(
            max_tokens=8,
            max_completion_tokens=8,
            n=2,
            temperature=1,
            top_p=0.5,
            seed=-1,
            stop=["a", "b"],
            stream=True,
            stream_options={"include_usage": True},
            **json_schema({"type": "integer"}, description="A sum.", strict=None),
            service_tier="flex",
            reasoning_effort="low",
            diffusion={
                "max_steps": 4,
                "max_total_steps": 8,
                "min_steps": 1,
                "canvas_length": 8,
                "strategy": "entropy_bound",
                "threshold": 1.5,
                "stream": "snapshots",
            },
            num_denoising_steps=4,
            vllm_xargs={"diffusion_max_steps": 4, "diffusion_canvas_length": 8},
            logprobs=True,
            top_logprobs=20,
            user="u",
            metadata={"a": "b"},
            prompt_cache_key="k",
            safety_identifier="s",
        )
    )

    assert body.model_fields_set == set(ChatBody.model_fields)


def test_every_field_has_a_rule() -> None:
    """Whatever pydantic may complain of has its words in the tables."""
    shared = {
        *(f"diffusion.{name}" for name in DiffusionOptions.model_fields),
        *(f"stream_options.{name}" for name in StreamOptions.model_fields),
        *(f"vllm_xargs.{name}" for name in VllmArguments.model_fields),
        *(f"diffusion.verify[].{name}" for verifier in VERIFIERS for name in verifier.model_fields),
        *(f"diffusion.verify[].{name}[]" for name in ("same_items", "required", "forbidden")),
        "diffusion.verify[]",
        "diffusion.segment_weights[]",
        *(f"response_format.json_schema.{field.alias or name}" for name, field in NamedSchema.model_fields.items()),
        "response_format.type",
        "response_format.json_schema",
    }
    chat = {
        *(f"messages[].{name}" for name in ChatMessage.model_fields),
        *(f"messages[].content[].{name}" for name in TextPart.model_fields),
        "messages[]",
        "messages[].content[]",
    }

    assert set(CHAT_RULES) == shared | chat | set(ChatBody.model_fields)
    assert set(COMPLETION_RULES) == shared | {"prompt[]"} | set(CompletionBody.model_fields)


def test_no_field_is_both_supported_and_refused() -> None:
    """The tables of refusals and the schemas share no name."""
    assert not set(CHAT) & set(ChatBody.model_fields)
    assert not set(COMPLETION) & set(CompletionBody.model_fields)
    assert not set(MESSAGE) & set(ChatMessage.model_fields)
    assert not set(TEXT_PART) & set(TextPart.model_fields)
    assert not set(STREAM_OPTIONS) & set(StreamOptions.model_fields)
    assert not set(NAMED_SCHEMA) & set(NamedSchema.model_fields)


BAD_COMPLETIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("prompt", {"prompt": None}),
    ("prompt", {"prompt": ""}),
    ("prompt", {"prompt": 3}),
    ("prompt", {"prompt": []}),
    ("prompt", {"prompt": ["a"] * 65}),
    ("prompt[1]", {"prompt": ["a", ""]}),
    ("prompt[1]", {"prompt": ["a", 1]}),
    ("prompt[0]", {"prompt": [True]}),
    ("echo", {"echo": "yes"}),
    ("logprobs", {"logprobs": True}),
    ("logprobs", {"logprobs": 6}),
    ("logprobs", {"logprobs": -1}),
    ("best_of", {"best_of": 0}),
    ("best_of", {"best_of": "1"}),
    ("max_tokens", {"max_tokens": 0}),
    ("stop", {"stop": [""]}),
    ("diffusion.max_steps", {"diffusion": {"max_steps": "8"}}),
    ("messages", {"messages": []}),
    ("max_completion_tokens", {"max_completion_tokens": 4}),
)


@pytest.mark.parametrize(("param", "changes"), BAD_COMPLETIONS)
def test_bad_field_of_a_completion_is_named(param: str, changes: dict[str, Any]) -> None:
    """The older endpoint names what is wrong in the same way."""
    with pytest.raises(InvalidRequestError, match="allowed: ") as caught:
        validate_completion(completion_body(**changes))

    assert caught.value.param == param


@pytest.mark.parametrize("prompt", [[1, 2], [[1, 2], [3]]])
def test_token_ids_are_refused(prompt: object) -> None:
    """A prompt in tokens of some tokenizer is not taken for text."""
    with pytest.raises(UnsupportedFieldError, match="Token ids are not supported") as caught:
        validate_completion(completion_body(prompt=prompt))

    assert caught.value.param == "prompt"


@pytest.mark.parametrize("name", COMPLETION)
def test_field_of_a_completion_is_refused_unless_neutral(name: str) -> None:
    """What asks for nothing is taken, and the rest refused by name."""
    for value in (None, *COMPLETION[name]):
        validate_completion(completion_body(**{name: value}))
    with pytest.raises(UnsupportedFieldError) as caught:
        validate_completion(completion_body(**{name: "x"}))

    assert caught.value.param == name


def openai_parameters(create: Callable[..., object]) -> set[str]:
    """Return what a method of the official client sends in a body; the rest is for the client itself."""
    return set(inspect.signature(create).parameters) - {"self", "extra_headers", "extra_query", "extra_body", "timeout"}


def test_every_parameter_of_the_official_client_is_decided() -> None:
    """Nothing that the `openai` package can send is unknown here: it is supported, or refused by name."""
    assert openai_parameters(Completions.create) <= set(ChatBody.model_fields) | set(CHAT)
    assert openai_parameters(TextCompletions.create) <= set(CompletionBody.model_fields) | set(COMPLETION)


def test_every_field_of_the_official_clients_messages_is_decided() -> None:
    """The same holds of what it can put into a message, a text part or the options of a stream."""
    message = set(ChatCompletionAssistantMessageParam.__annotations__)

    assert message <= set(ChatMessage.model_fields) | set(MESSAGE)
    assert set(ChatCompletionContentPartTextParam.__annotations__) <= set(TextPart.model_fields) | set(TEXT_PART)
    assert set(ChatCompletionStreamOptionsParam.__annotations__) <= set(StreamOptions.model_fields) | set(
        STREAM_OPTIONS
    )


COSTLY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a0", {f"a{number}": 1 for number in range(1000)}),
    ("diffusion.a0", {"diffusion": {f"a{number}": 1 for number in range(1000)}}),
    ("messages[0].a0", {"messages": [{**user("x")[0], **{f"a{number}": 1 for number in range(1000)}}]}),
    ("messages[0]", {"messages": [1] * MOST_MESSAGES}),
    ("messages[0].content[0]", {"messages": user([1] * MOST_PARTS) * 3}),
    ("metadata", {"metadata": dict.fromkeys(map(str, range(1000)), 1)}),
    ("stop", {"stop": [1] * 1000}),
)


@pytest.mark.parametrize(("param", "changes"), COSTLY)
def test_first_fault_is_enough(param: str, changes: dict[str, Any]) -> None:
    """However much is wrong, little of it is written down: that would hold up everybody else."""
    with pytest.raises(ValidationError) as found:
        ChatBody.model_validate(chat_body(**changes))
    with pytest.raises(InvalidRequestError) as told:
        validate_chat(chat_body(**changes))

    assert found.value.error_count() <= MOST_METADATA + 1
    assert told.value.param == param
