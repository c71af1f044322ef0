"""Behaviour of `unmask.api.translate`."""

from typing import Any

import pytest

from tests.api.client import DRAWN_SEED, chat_body, user
from unmask.api.translate import to_request
from unmask.api.validate import validate_body
from unmask.backend import Request
from unmask.errors import InvalidRequestError
from unmask.testing.builders import make_model
from unmask.types import Message, Role, Sampling, StepBudget, StrategyChoice, StrategyName


def translate(**changes: Any) -> Request:  # noqa: ANN401 - any field, of any type
    """Validate and translate a body for a model of canvases 8, 16, 32, up to 32 steps and 256 tokens."""
    return to_request(validate_body(chat_body(**changes)), make_model(), lambda: DRAWN_SEED)


def test_short_body_leaves_the_rest_to_the_model() -> None:
    """What the client does not say is not decided here."""
    assert translate() == Request(model="tiny", messages=(Message(role=Role.USER, content="add 12 + 30"),))


def test_every_field_arrives() -> None:
    """Each field of the body is found in the request."""
    request = translate(
        max_tokens=40,
        temperature=0.5,
        top_p=0.9,
        seed=3,
        stop=["a", "b"],
        diffusion={
            "max_steps": 4,
            "max_total_steps": 9,
            "canvas_length": 8,
            "strategy": "entropy_bound",
            "threshold": 1.5,
        },
    )

    assert request == Request(
        model="tiny",
        messages=(Message(role=Role.USER, content="add 12 + 30"),),
        max_tokens=40,
        budget=StepBudget(max_steps=4, max_total_steps=9),
        canvas_length=8,
        strategy=StrategyChoice(name=StrategyName.ENTROPY_BOUND, threshold=1.5),
        sampling=Sampling(temperature=0.5, top_p=0.9, seed=3),
        stop=("a", "b"),
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


@pytest.mark.parametrize("content", ["", [], [{"type": "text", "text": ""}]])
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


def test_alias_sets_the_budget() -> None:
    """``num_denoising_steps`` is ``diffusion.max_steps``; both may say the same."""
    expected = StepBudget(max_steps=4)

    assert translate(num_denoising_steps=4).budget == expected
    assert translate(num_denoising_steps=4, diffusion={"max_steps": 4}).budget == expected


def test_alias_may_not_contradict() -> None:
    """The alias is refused where it differs."""
    with pytest.raises(InvalidRequestError) as caught:
        translate(num_denoising_steps=4, diffusion={"max_steps": 8})

    assert caught.value.param == "num_denoising_steps"


@pytest.mark.parametrize(
    ("param", "changes"),
    [
        ("diffusion.max_steps", {"diffusion": {"max_steps": 33}}),
        ("num_denoising_steps", {"num_denoising_steps": 33}),
    ],
)
def test_steps_stay_within_the_model(param: str, changes: dict[str, Any]) -> None:
    """More steps than the model takes are refused under the name the client used."""
    with pytest.raises(InvalidRequestError, match="1 to 32") as caught:
        translate(**changes)

    assert caught.value.param == param


def test_total_alone_keeps_the_models_steps() -> None:
    """A total without a cap per canvas takes the model's default for it, never more than a canvas has positions."""
    short = translate(diffusion={"max_total_steps": 3, "canvas_length": 8})

    assert translate(diffusion={"max_total_steps": 3}).budget == StepBudget(max_steps=16, max_total_steps=3)
    assert short.budget == StepBudget(max_steps=8, max_total_steps=3)


def test_canvas_length_is_one_of_the_models() -> None:
    """A length the model was not trained on is refused with those it was."""
    assert translate(diffusion={"canvas_length": 16}).canvas_length == 16
    with pytest.raises(InvalidRequestError, match="8, 16, 32") as caught:
        translate(diffusion={"canvas_length": 12})

    assert caught.value.param == "diffusion.canvas_length"


def test_seed_is_drawn_where_it_matters() -> None:
    """Without a seed two drawn answers differ; the likeliest tokens need none."""
    assert translate(temperature=0.7).sampling.seed == DRAWN_SEED
    assert translate(temperature=0.7, seed=0).sampling.seed == 0
    assert translate().sampling == Sampling()


def test_stop_may_be_one_text() -> None:
    """A single stop sequence needs no list."""
    assert translate(stop="x").stop == ("x",)
