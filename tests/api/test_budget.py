"""Behaviour of `unmask.api.budget`."""

from typing import Any

import pytest

from tests.api.client import chat_body, completion_body
from unmask.api.budget import AskedBudget, asked_budget
from unmask.api.effort import Effort
from unmask.api.errors import UnsupportedFieldError
from unmask.api.validate import validate_chat, validate_completion
from unmask.errors import InvalidRequestError
from unmask.testing.builders import make_model
from unmask.types import Bucket, StepBudget


def ask(**changes: Any) -> AskedBudget:  # noqa: ANN401 - any field, of any type
    """Return what a body asks of a model of canvases 8, 16, 32, 16 steps by default and 32 at most."""
    return asked_budget(validate_chat(chat_body(**changes)), make_model())


def refused(**changes: Any) -> InvalidRequestError:  # noqa: ANN401 - as above
    """Return the error of a body that contradicts itself or asks for too much."""
    with pytest.raises(InvalidRequestError) as caught:
        ask(**changes)
    return caught.value


ALIASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("num_denoising_steps", {"num_denoising_steps": 4}),
    ("vllm_xargs.diffusion_max_steps", {"vllm_xargs": {"diffusion_max_steps": 4}}),
)


def test_silence_leaves_everything_to_the_model() -> None:
    """Whoever asks for nothing gets what the model takes by default."""
    silent = AskedBudget(budget=None, canvas_length=None, bucket=None)

    assert ask() == silent
    assert ask(diffusion={}, vllm_xargs={}) == silent
    assert ask(diffusion={"max_steps": None, "min_steps": 1}, num_denoising_steps=None) == silent


@pytest.mark.parametrize(("param", "alias"), ALIASES)
def test_alias_sets_the_budget(param: str, alias: dict[str, Any]) -> None:
    """Every alias is ``diffusion.max_steps``; both may say the same, and may not differ."""
    expected = StepBudget(max_steps=4)

    assert ask(**alias).budget == expected
    assert ask(**alias, diffusion={"max_steps": 4}).budget == expected
    error = refused(**alias, diffusion={"max_steps": 8})
    assert error.param == param
    assert "8, as diffusion.max_steps says" in str(error)


def test_aliases_may_not_differ_from_one_another() -> None:
    """Of two aliases that differ the second is named."""
    same = ask(num_denoising_steps=4, vllm_xargs={"diffusion_max_steps": 4})
    error = refused(num_denoising_steps=4, vllm_xargs={"diffusion_max_steps": 5})

    assert same.budget == StepBudget(max_steps=4)
    assert error.param == "vllm_xargs.diffusion_max_steps"
    assert "4, as num_denoising_steps says" in str(error)


@pytest.mark.parametrize(
    ("param", "changes"),
    [
        ("diffusion.max_steps", {"diffusion": {"max_steps": 33}}),
        ("num_denoising_steps", {"num_denoising_steps": 33}),
        ("num_denoising_steps", {"num_denoising_steps": 1e15}),
        ("vllm_xargs.diffusion_max_steps", {"vllm_xargs": {"diffusion_max_steps": 33}}),
    ],
)
def test_steps_stay_within_the_model(param: str, changes: dict[str, Any]) -> None:
    """More steps than the model takes are refused under the name the client used."""
    error = refused(**changes)

    assert error.param == param
    assert "1 to 32" in str(error)


def test_total_alone_keeps_the_models_steps() -> None:
    """A total without a cap per canvas takes the model's default for it, never more than a canvas has positions."""
    short = ask(diffusion={"max_total_steps": 3, "canvas_length": 8})

    assert ask(diffusion={"max_total_steps": 3}).budget == StepBudget(max_steps=16, max_total_steps=3)
    assert short.budget == StepBudget(max_steps=8, max_total_steps=3)


def test_canvas_length_has_two_names() -> None:
    """Clients of vLLM name it differently; both may say the same, and may not differ."""
    assert ask(vllm_xargs={"diffusion_canvas_length": 8}).canvas_length == 8
    assert ask(vllm_xargs={"diffusion_canvas_length": 8}, diffusion={"canvas_length": 8}).canvas_length == 8
    error = refused(vllm_xargs={"diffusion_canvas_length": 8}, diffusion={"canvas_length": 16})
    assert error.param == "vllm_xargs.diffusion_canvas_length"


@pytest.mark.parametrize(
    ("param", "changes"),
    [
        ("diffusion.canvas_length", {"diffusion": {"canvas_length": 12}}),
        ("vllm_xargs.diffusion_canvas_length", {"vllm_xargs": {"diffusion_canvas_length": 12}}),
    ],
)
def test_canvas_length_is_one_of_the_models(param: str, changes: dict[str, Any]) -> None:
    """A length the model was not trained on is refused with those it was."""
    error = refused(**changes)

    assert error.param == param
    assert "8, 16, 32" in str(error)


@pytest.mark.parametrize(
    ("effort", "bucket", "steps"),
    [
        ("none", Bucket.XS, 2),
        ("minimal", Bucket.XS, 2),
        ("low", Bucket.S, 4),
        ("medium", Bucket.M, 8),
        ("high", Bucket.L, 12),
        ("xhigh", Bucket.XL, 16),
        ("max", Bucket.XL, 16),
    ],
)
def test_effort_is_a_bucket_of_steps(effort: str, bucket: Bucket, steps: int) -> None:
    """A word stands for a share of the model's 16 default steps, and the bucket is noted."""
    asked = ask(reasoning_effort=effort)

    assert asked == AskedBudget(budget=StepBudget(max_steps=steps), canvas_length=None, bucket=bucket)


def test_effort_goes_by_the_canvas_asked_for() -> None:
    """Half of the steps of a short canvas is fewer; a total stays what it is."""
    asked = ask(reasoning_effort="medium", diffusion={"canvas_length": 8, "max_total_steps": 9})

    assert asked.budget == StepBudget(max_steps=4, max_total_steps=9)


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize(("param", "changes"), [("diffusion.max_steps", {"diffusion": {"max_steps": 4}}), *ALIASES])
def test_effort_and_steps_contradict(effort: Effort, param: str, changes: dict[str, Any]) -> None:
    """Both set the budget, so the field with the steps is refused, even where they come to the same."""
    error = refused(reasoning_effort=effort.value, **changes)

    assert error.param == param
    assert f"reasoning_effort is '{effort}'" in str(error)


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        ({"diffusion": {"max_steps": 4, "min_steps": 8}}, 4),
        ({"num_denoising_steps": 4, "diffusion": {"min_steps": 8}}, 4),
        ({"reasoning_effort": "low", "diffusion": {"min_steps": 8}}, 4),
        ({"diffusion": {"min_steps": 17}}, 16),
    ],
)
def test_fewest_steps_are_not_above_the_most(changes: dict[str, Any], most: int) -> None:
    """The contradiction is what the message is about, not what is supported."""
    error = refused(**changes)

    assert error.param == "diffusion.min_steps"
    assert f"at most {most}" in str(error)
    assert "not supported" not in str(error)


def test_fewest_steps_are_not_supported_yet() -> None:
    """A floor within the budget is understood and refused; 1 is what there is without it."""
    with pytest.raises(UnsupportedFieldError, match="not supported yet") as caught:
        ask(diffusion={"max_steps": 8, "min_steps": 4})

    assert caught.value.param == "diffusion.min_steps"
    assert ask(diffusion={"max_steps": 8, "min_steps": 1}).budget == StepBudget(max_steps=8)


def test_older_endpoint_has_the_same_budget() -> None:
    """Both bodies are read in the same way."""
    asked = asked_budget(validate_completion(completion_body(vllm_xargs={"diffusion_max_steps": 4})), make_model())

    assert asked.budget == StepBudget(max_steps=4)
