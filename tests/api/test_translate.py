"""Behaviour of `unmask.api.translate`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.client import DRAWN_SEED, chat_body, completion_body, json_schema, user
from unmask.api.call import Call, Delivery
from unmask.api.completion_schema import MOST_ANSWERS
from unmask.api.errors import UnsupportedFieldError
from unmask.api.schema import ServiceTier
from unmask.api.seeds import choice_seeds
from unmask.api.translate import to_call
from unmask.api.validate import validate_chat, validate_completion
from unmask.backend import Request
from unmask.control.asked import Asked
from unmask.errors import InvalidRequestError
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.formats import JsonObject
from unmask.testing.builders import make_model
from unmask.types import Message, Role, Sampling, StepBudget, Verification


def call_of(**changes: Any) -> Call:  # noqa: ANN401 - any field, of any type
    """Validate and translate a body for a model of canvases 8, 16, 32, up to 32 steps and 256 tokens."""
    return to_call(validate_chat(chat_body(**changes)), make_model(), lambda: DRAWN_SEED)


def translate(**changes: Any) -> Request:  # noqa: ANN401 - as above
    """Return the one request of a call."""
    (request,) = call_of(**changes).requests
    return request


def completion_of(**changes: Any) -> Call:  # noqa: ANN401 - as above
    """Do the same for the older endpoint."""
    return to_call(validate_completion(completion_body(**changes)), make_model(), lambda: DRAWN_SEED)


def asked(content: str = "add 12 + 30") -> tuple[Message, ...]:
    """Return a chat of one user message."""
    return (Message(role=Role.USER, content=content),)


def test_short_body_leaves_the_rest_to_the_model() -> None:
    """What the client does not say is not decided here."""
    expected = Request(model="tiny", messages=asked())

    assert call_of() == Call(model=make_model(), requests=(expected,), echoes=("",))


def test_every_field_arrives() -> None:
    """Each field of the body is found in the call."""
    call = call_of(
        max_tokens=40,
        temperature=0.5,
        top_p=0.9,
        seed=3,
        stop=["a", "b"],
        stream=True,
        stream_options={"include_usage": True},
        response_format={"type": "json_object"},
        service_tier="flex",
        logprobs=True,
        top_logprobs=4,
        prompt_cache_key="대화 7",
        diffusion={
            "max_steps": 4,
            "max_total_steps": 9,
            "canvas_length": 8,
            "strategy": "entropy_bound",
            "threshold": 1.5,
            "stream": "snapshots",
            "task": "sort",
            "service_class": "batch",
            "early_exit": False,
        },
    )

    assert call == Call(
        model=make_model(),
        requests=(
            Request(
                model="tiny",
                messages=asked(),
                max_tokens=40,
                budget=StepBudget(max_steps=4, max_total_steps=9),
                canvas_length=8,
                strategy=StrategyChoice(name=StrategyName.ENTROPY_BOUND, threshold=1.5),
                sampling=Sampling(temperature=0.5, top_p=0.9, seed=3),
                stop=("a", "b"),
                snapshots=True,
                top_logprobs=4,
                session="대화 7",
            ),
        ),
        echoes=("",),
        delivery=Delivery.SNAPSHOTS,
        answer_format=JsonObject(),
        include_usage=True,
        asked=Asked(
            task="sort",
            service_class="batch",
            max_steps=4,
            has_strategy=True,
            early_exit=False,
            may_wait=False,
            service_tier="flex",
        ),
        service_tier="flex",
    )


def test_roles_are_translated() -> None:
    """``developer`` is another word for ``system``."""
    roles = ["system", "developer", "assistant", "user"]
    request = translate(messages=[{"role": role, "content": "x"} for role in roles])

    assert [message.role for message in request.messages] == [Role.SYSTEM, Role.SYSTEM, Role.ASSISTANT, Role.USER]


def test_text_parts_are_joined_as_they_are() -> None:
    """Nothing comes between the parts of a message."""
    parts = [{"type": "text", "text": text} for text in ("add 12", "", " + 30")]

    assert translate(messages=user(parts)).messages[0].content == "add 12 + 30"


@pytest.mark.parametrize("content", [[{"type": "text", "text": ""}], [{"type": "text", "text": ""}] * 3])
def test_empty_content_is_refused(content: object) -> None:
    """A message without text is refused by its place."""
    with pytest.raises(InvalidRequestError) as caught:
        translate(messages=[*user("a"), *user(content)])

    assert caught.value.param == "messages[1].content"


@pytest.mark.parametrize("role", ["assistant", "system"])
def test_last_message_is_the_users(role: str) -> None:
    """An answer cannot be continued: a chat that does not end with the user is refused."""
    with pytest.raises(InvalidRequestError) as caught:
        translate(messages=[*user("a"), {"role": role, "content": "b"}])

    assert caught.value.param == "messages"


@pytest.mark.parametrize("given", [{"max_tokens": 5}, {"max_completion_tokens": 5}])
def test_max_tokens_has_two_names(given: dict[str, int]) -> None:
    """Either name sets the limit, and both may say the same."""
    assert translate(**given).max_tokens == 5
    assert translate(max_tokens=5, max_completion_tokens=5).max_tokens == 5


def test_max_tokens_may_not_contradict() -> None:
    """Two names with two values are refused."""
    with pytest.raises(InvalidRequestError) as caught:
        translate(max_tokens=5, max_completion_tokens=6)

    assert caught.value.param == "max_tokens"


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_max_tokens_fits_the_context(name: str) -> None:
    """More tokens than the context holds are refused under the name the client used."""
    assert translate(**{name: 256}).max_tokens == 256
    with pytest.raises(InvalidRequestError) as caught:
        translate(**{name: 257})

    assert caught.value.param == name


def test_seed_is_drawn_where_it_matters() -> None:
    """Without a seed two drawn answers differ; the likeliest tokens need none."""
    assert translate(temperature=0.7).sampling.seed == DRAWN_SEED
    assert translate(temperature=0.7, seed=0).sampling.seed == 0
    assert translate().sampling == Sampling()


def test_stop_may_be_one_text() -> None:
    """A single stop sequence needs no list."""
    assert translate(stop="x").stop == ("x",)


@pytest.mark.parametrize(
    ("changes", "delivery"),
    [
        ({}, Delivery.WHOLE),
        ({"stream": False}, Delivery.WHOLE),
        ({"stream": True}, Delivery.STREAM),
        ({"stream": True, "diffusion": {"max_steps": 4}}, Delivery.STREAM),
        ({"stream": True, "diffusion": {"stream": "verified"}}, Delivery.VERIFIED),
        ({"stream": True, "diffusion": {"stream": "committed"}}, Delivery.COMMITTED),
        ({"stream": True, "diffusion": {"stream": "snapshots"}}, Delivery.SNAPSHOTS),
    ],
)
def test_delivery_is_chosen(changes: dict[str, Any], delivery: Delivery) -> None:
    """A stream brings finished canvases unless it is asked for drafts as well."""
    call = call_of(**changes)

    assert call.delivery is delivery
    assert call.requests[0].snapshots == (delivery is Delivery.SNAPSHOTS)
    assert not call.include_usage


@pytest.mark.parametrize("stream", [None, False])
@pytest.mark.parametrize(
    ("param", "changes"),
    [
        ("stream_options", {"stream_options": {}}),
        ("stream_options", {"stream_options": {"include_usage": False}}),
        ("diffusion.stream", {"diffusion": {"stream": "committed"}}),
    ],
)
def test_what_is_about_streams_needs_one(stream: object, param: str, changes: dict[str, Any]) -> None:
    """Options of a stream that is not asked for are a mistake, and named."""
    with pytest.raises(InvalidRequestError, match="stream: true") as caught:
        call_of(stream=stream, **changes)

    assert caught.value.param == param


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"logprobs": False, "top_logprobs": 0}, None),
        ({"logprobs": True}, 0),
        ({"logprobs": True, "top_logprobs": 20}, 20),
    ],
)
def test_logprobs_are_asked_for(changes: dict[str, Any], expected: int | None) -> None:
    """Without a number of alternatives a token's own log-probability is all there is."""
    assert translate(**changes).top_logprobs == expected


def test_alternatives_need_logprobs() -> None:
    """A number of alternatives to what is not asked for is a mistake."""
    with pytest.raises(InvalidRequestError, match="logprobs: true") as caught:
        call_of(top_logprobs=3)

    assert caught.value.param == "top_logprobs"


@pytest.mark.parametrize("tier", ServiceTier)
def test_service_tier_is_named(tier: ServiceTier) -> None:
    """The answer names the tier asked for; ``auto`` leaves the choice to admission, which is told of it."""
    call = call_of(service_tier=tier.value)

    assert call.service_tier == ("default" if tier is ServiceTier.AUTO else tier)
    assert call.asked.service_tier == tier.value
    assert call_of().service_tier is None


@given(seed=st.integers(-(1 << 63), (1 << 63) - 1), count=st.integers(1, 16), temperature=st.sampled_from([0, 0.7]))
def test_each_choice_is_a_request(seed: int, count: int, temperature: float) -> None:
    """Choices differ in their seeds alone, and the first is the answer that the call had without the others."""
    alone = call_of(seed=seed, temperature=temperature).requests
    several = call_of(seed=seed, temperature=temperature, n=count)

    assert several.requests[:1] == alone
    assert several.echoes == ("",) * count
    assert tuple(request.sampling.seed for request in several.requests) == choice_seeds(seed, count)
    assert {request.messages for request in several.requests} == {asked()}


def test_choices_share_one_drawn_seed() -> None:
    """Chance is asked once for a call, whatever the number of its choices."""
    drawn = iter([5])
    call = to_call(validate_chat(chat_body(n=3, temperature=1)), make_model(), lambda: next(drawn))

    assert tuple(request.sampling.seed for request in call.requests) == choice_seeds(5, 3)


def test_format_of_text_asks_nothing() -> None:
    """``text`` is what an answer is anyway."""
    assert call_of(response_format={"type": "text"}).answer_format is None


def test_format_of_a_schema_verifies() -> None:
    """The answer is held to the schema that the client sent."""
    found = call_of(**json_schema({"type": "integer"})).answer_format

    assert found is not None
    assert (found.verify("42"), found.verify('"42"')) == (Verification.PASS, Verification.FAIL)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "banana"},
        {"$ref": "http://127.0.0.1:9/x"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "other.json"},
        {"$schema": "http://127.0.0.1:9/x"},
        {"pattern": "(?=a)"},
        {"pattern": "("},
        {"title": "x" * (1 << 16)},
    ],
)
def test_bad_schema_is_named(schema: dict[str, Any]) -> None:
    """What is no schema, or is not taken, is refused by its field with the reason."""
    with pytest.raises(InvalidRequestError) as caught:
        call_of(**json_schema(schema))

    assert caught.value.param == "response_format.json_schema.schema"
    assert "allowed: " in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_prompt_is_a_chat_of_one_message() -> None:
    """The older endpoint's prompt is what a user says; the rest means the same in both."""
    changes: dict[str, Any] = {"max_tokens": 8, "seed": 3, "temperature": 1, "stop": "x", "reasoning_effort": "low"}

    assert completion_of(prompt="a", **changes) == call_of(messages=user("a"), **changes)


def test_each_prompt_has_its_choices() -> None:
    """Choices come prompt by prompt, each the same as if its prompt had been sent alone."""
    call = completion_of(prompt=["a", "b"], n=2, seed=3, temperature=1)

    assert call.requests == (
        *completion_of(prompt="a", n=2, seed=3, temperature=1).requests,
        *completion_of(prompt="b", n=2, seed=3, temperature=1).requests,
    )
    assert call.echoes == ("", "", "", "")


def test_echo_begins_each_choice_with_its_prompt() -> None:
    """The prompt stands before every answer to it."""
    assert completion_of(prompt=["a", "b"], n=2, echo=True).echoes == ("a", "a", "b", "b")
    assert completion_of(prompt="a", echo=False).echoes == ("",)


def test_completions_have_an_upper_number() -> None:
    """Prompts and choices together are bounded, and the message says how many choices there may be."""
    assert len(completion_of(prompt=["a"] * 8, n=8).requests) == MOST_ANSWERS
    with pytest.raises(InvalidRequestError, match="1 to 7 with 9 prompts") as caught:
        completion_of(prompt=["a"] * 9, n=8)

    assert caught.value.param == "n"


@pytest.mark.parametrize(("count", "best_of"), [(None, 2), (1, 3), (3, 1), (2, 4)])
def test_choosing_the_best_is_refused(count: int | None, best_of: int) -> None:
    """``best_of`` may repeat ``n``, and ask for nothing beyond."""
    assert len(completion_of(n=2, best_of=2).requests) == 2
    assert len(completion_of(best_of=1).requests) == 1
    with pytest.raises(UnsupportedFieldError, match="not supported yet") as caught:
        completion_of(n=count, best_of=best_of)

    assert caught.value.param == "best_of"


def test_prompts_have_no_logprobs() -> None:
    """An echo with log-probabilities would have to hold those of the prompt."""
    assert completion_of(logprobs=5).requests[0].top_logprobs == 5
    assert completion_of(logprobs=0, echo=False).requests[0].top_logprobs == 0
    with pytest.raises(InvalidRequestError) as caught:
        completion_of(logprobs=0, echo=True)

    assert caught.value.param == "echo"


def test_max_tokens_of_a_completion_fits_the_context() -> None:
    """The older endpoint has the same limit."""
    with pytest.raises(InvalidRequestError, match="1 to 256") as caught:
        completion_of(max_tokens=257)

    assert caught.value.param == "max_tokens"
