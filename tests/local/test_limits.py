"""What a request may ask of a model, and what it gets where it asks for nothing."""

from dataclasses import replace
from typing import Any

import pytest

from unmask.backend import ALL_LEVERS, Lever, Request
from unmask.errors import ContextLengthError, InvalidRequestError
from unmask.local.limits import check_draft_tokens, make_submission
from unmask.sequence import Submission
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.builders import make_model
from unmask.testing.exits import make_plan, make_rule
from unmask.testing.learned import make_choice, make_finality_model
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import ApproximateCache, ApproximateKv, Draft, Mode, Sampling, StepBudget

MODEL = make_model()
TOKENIZER = packaged_tokenizer()
PROMPT = tuple(range(10, 20))
PLACES = "positions of the draft, 0 to 1"
REQUEST = Request(model="tiny", messages=())


def submission_of(prompt: tuple[int, ...] = PROMPT, **fields: Any) -> Submission:  # noqa: ANN401 - any field
    """Return the submission of a request."""
    return make_submission(replace(REQUEST, **fields), MODEL, prompt)


def test_defaults_come_from_the_model() -> None:
    """Canvas, steps and length are the model's; the total is steps times canvases."""
    submission = submission_of()

    assert (submission.canvas_length, submission.max_tokens, submission.context_length) == (16, 64, 256)
    assert submission.budget == StepBudget(max_steps=16, max_total_steps=64)
    assert submission.prompt == PROMPT


def test_everything_asked_for_is_passed_on() -> None:
    """What a request says is what the engine gets."""
    fields: dict[str, Any] = {
        "max_tokens": 30,
        "canvas_length": 8,
        "strategy": StrategyChoice(threshold=0.5),
        "sampling": Sampling(temperature=1.0, top_p=0.5, seed=7),
        "stop": ("a", "b"),
        "tenant": "someone",
        "draft": Draft(tokens=(9, None), frozen=frozenset({0})),
        "snapshots": True,
        "trace": True,
        "top_logprobs": 3,
        "exit": make_plan(),
        "check": str.isdigit,
    }
    submission = submission_of(budget=StepBudget(max_steps=5, max_total_steps=11), **fields)

    assert {name: getattr(submission, name) for name in fields} == fields
    assert submission.budget == StepBudget(max_steps=5, max_total_steps=11)


@pytest.mark.parametrize(
    ("fields", "steps", "total"),
    [
        ({"canvas_length": 8}, 8, 64),
        ({"canvas_length": 32}, 16, 32),
        ({"max_tokens": 17}, 16, 32),
        ({"budget": StepBudget(max_steps=3), "max_tokens": 1}, 3, 3),
        ({"budget": StepBudget(max_steps=32)}, 32, 128),
        ({"budget": StepBudget(max_steps=3, max_total_steps=1)}, 3, 1),
        ({"mode": Mode.AUTOREGRESSIVE}, 16, 64),
        ({"mode": Mode.SPECULATIVE}, 8, 64),
        ({"mode": Mode.AUTOREGRESSIVE, "budget": StepBudget(max_steps=2, max_total_steps=9)}, 2, 9),
    ],
)
def test_steps_left_open_are_filled_in(fields: dict[str, Any], steps: int, total: int) -> None:
    """No more steps than positions by default; the total allows every canvas its own, or every token its step."""
    assert submission_of(**fields).budget == StepBudget(max_steps=steps, max_total_steps=total)


@pytest.mark.parametrize(
    ("fields", "param", "value", "allowed"),
    [
        ({"canvas_length": 12}, "diffusion.canvas_length", 12, "8, 16, 32"),
        ({"canvas_length": 0}, "diffusion.canvas_length", 0, "8, 16, 32"),
        ({"max_tokens": 0}, "max_tokens", 0, "1 or more"),
        ({"max_tokens": -3}, "max_tokens", -3, "1 or more"),
        ({"budget": StepBudget(max_steps=0)}, "diffusion.max_steps", 0, "1 to 32"),
        ({"budget": StepBudget(max_steps=33)}, "diffusion.max_steps", 33, "1 to 32"),
        (
            {"budget": StepBudget(max_steps=4, max_total_steps=0)},
            "diffusion.max_total_steps",
            0,
            "1 or more",
        ),
        ({"sampling": Sampling(temperature=-0.1)}, "temperature", -0.1, "0 to 2"),
        ({"sampling": Sampling(temperature=2.5)}, "temperature", 2.5, "0 to 2"),
        ({"sampling": Sampling(top_p=0.0)}, "top_p", 0.0, "above 0, at most 1"),
        ({"sampling": Sampling(top_p=1.01)}, "top_p", 1.01, "above 0, at most 1"),
        ({"top_logprobs": -1}, "top_logprobs", -1, "0 to 20"),
        ({"top_logprobs": 21}, "top_logprobs", 21, "0 to 20"),
        ({"strategy": StrategyChoice(threshold=-1.0)}, "diffusion.threshold", -1.0, "0 or more"),
        ({"stop": ("a", "")}, "stop", ("a", ""), "up to 4 texts, none empty"),
        ({"stop": tuple("abcde")}, "stop", tuple("abcde"), "up to 4 texts, none empty"),
        ({"draft": Draft(tokens=(9,) * 17)}, "draft.tokens", "17 tokens", "at most 16 tokens"),
        (
            {"draft": Draft(tokens=(9, 9), frozen=frozenset({1, 2}))},
            "draft.frozen",
            2,
            "positions of the draft, 0 to 1",
        ),
        ({"draft": Draft(tokens=(9, 9), frozen=frozenset({-1}))}, "draft.frozen", -1, "positions of the draft, 0 to 1"),
        (
            {"draft": Draft(tokens=(9,)), "mode": Mode.AUTOREGRESSIVE},
            "draft",
            "given with mode autoregressive",
            "a draft with mode diffusion",
        ),
        (
            {"mode": Mode.SPECULATIVE, "sampling": Sampling(temperature=0.5)},
            "temperature",
            0.5,
            "0 with mode speculative",
        ),
    ],
)
def test_values_out_of_range_are_refused(fields: dict[str, Any], param: str, value: object, allowed: str) -> None:
    """The error names the field, the value, what is allowed and how to put it right."""
    with pytest.raises(InvalidRequestError) as caught:
        submission_of(**fields)

    error = caught.value
    assert (error.param, error.value, error.allowed) == (param, value, allowed)
    assert allowed in error.message
    assert error.fix
    assert error.message.endswith(error.fix)


@pytest.mark.parametrize(
    ("fields", "param", "said"),
    [
        ({"exit": make_plan(rule=make_rule(flips=None))}, "exit.kinds", "at least 2 of change, confidence, format"),
        ({"exit": make_plan(rule=make_rule(patience=0))}, "exit.patience", "1 or more"),
        ({"exit": make_plan(), "mode": Mode.AUTOREGRESSIVE}, "exit", "an exit rule with mode diffusion"),
        ({"strategy": StrategyChoice(name=StrategyName.FINALITY)}, "strategy.finality", "a finality model"),
        ({"strategy": StrategyChoice(finality=make_finality_model())}, "strategy.finality", "with strategy finality"),
        (
            {"strategy": replace(make_choice(StrategyName.FINALITY), finality=make_finality_model(threshold=2.0))},
            "strategy.finality",
            "is no probability",
        ),
    ],
)
def test_exits_and_learned_strategies_are_checked(fields: dict[str, Any], param: str, said: str) -> None:
    """A rule of one kind, a rule without canvases, and a strategy without what it goes by are typed errors."""
    with pytest.raises(InvalidRequestError, match=said) as caught:
        submission_of(**fields)
    assert caught.value.param == param


@pytest.mark.parametrize("name", StrategyName)
def test_a_threshold_that_is_a_probability_ends_at_one(name: StrategyName) -> None:
    """More than 1 is refused where the threshold is a probability; nats and logits may be more."""
    submission_of(strategy=make_choice(name, 1.0))
    if name in {StrategyName.ENTROPY_BOUND, StrategyName.PROPHET}:
        submission_of(strategy=make_choice(name, 5.0))
        return
    with pytest.raises(InvalidRequestError, match=f"0 to 1. With {name} it is a probability") as caught:
        submission_of(strategy=make_choice(name, 1.01))
    assert caught.value.param == "diffusion.threshold"


@pytest.mark.parametrize(
    "fields",
    [
        {"sampling": Sampling(temperature=float("nan"))},
        {"sampling": Sampling(top_p=float("nan"))},
        {"strategy": StrategyChoice(threshold=float("nan"))},
    ],
)
def test_numbers_that_are_none_are_refused(fields: dict[str, Any]) -> None:
    """NaN compares with nothing, and is still out of range."""
    with pytest.raises(InvalidRequestError, match="nan"):
        submission_of(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"sampling": Sampling(temperature=2.0, top_p=1e-9)},
        {"strategy": StrategyChoice(threshold=0.0)},
        {"stop": tuple("abcd")},
        {"top_logprobs": 0},
        {"top_logprobs": 20},
        {"budget": StepBudget(max_steps=1, max_total_steps=1)},
        {"draft": Draft(tokens=(9,) * 16, frozen=frozenset(range(16)))},
        {"draft": Draft(tokens=())},
    ],
)
def test_the_ends_of_ranges_are_allowed(fields: dict[str, Any]) -> None:
    """A bound that a message names is itself allowed."""
    submission_of(**fields)


def test_prompt_and_output_may_fill_the_context_exactly() -> None:
    """One token more than fits is refused, with all three numbers."""
    prompt = tuple(range(200))

    assert submission_of(prompt, max_tokens=56).max_length == 256
    with pytest.raises(ContextLengthError, match=r"200 prompt tokens \+ 57 output tokens.*at most 256"):
        submission_of(prompt, max_tokens=57)


def test_the_default_length_shrinks_to_what_fits() -> None:
    """Without ``max_tokens`` a long prompt gets the room that is left, as long as there is any."""
    assert submission_of(tuple(range(220))).max_tokens == 36
    assert submission_of(tuple(range(255))).max_tokens == 1
    with pytest.raises(ContextLengthError):
        submission_of(tuple(range(256)))


@pytest.mark.parametrize("token", [8, 1, 1279, None])
def test_drafts_may_hold_text_end_and_open_positions(token: int | None) -> None:
    """Every id of the vocabulary that stands for text, the end token, and ``None``."""
    check_draft_tokens(Draft(tokens=(token,)), TOKENIZER)


@pytest.mark.parametrize("token", [-1, 0, 2, 7, 1280])
def test_drafts_hold_no_other_ids(token: int) -> None:
    """Ids outside the vocabulary would fail the forward for everyone in it; special ones stand for no text."""
    with pytest.raises(InvalidRequestError, match="ids of text below 1280, an end token, or None where open") as caught:
        check_draft_tokens(Draft(tokens=(9, token)), TOKENIZER)
    assert (caught.value.param, caught.value.value) == ("draft.tokens", token)


def test_models_without_modes_write_canvases() -> None:
    """A checkpoint has no autoregressive mode, and says so before anything runs."""
    model = replace(MODEL, levers=tuple(lever for lever in ALL_LEVERS if lever is not Lever.MODE))
    for mode in (Mode.AUTOREGRESSIVE, Mode.SPECULATIVE):
        with pytest.raises(InvalidRequestError, match=f"mode is '{mode}', allowed: diffusion"):
            make_submission(replace(REQUEST, mode=mode), model, PROMPT)


def test_models_without_drafts_start_from_masks() -> None:
    """Where a canvas may be shorter than a draft, drafts are refused and not cut."""
    model = replace(MODEL, levers=tuple(lever for lever in ALL_LEVERS if lever is not Lever.DRAFT))
    with pytest.raises(InvalidRequestError, match="draft is 'given', allowed: none"):
        make_submission(replace(REQUEST, draft=Draft(tokens=(9,))), model, PROMPT)


def test_a_canvas_more_is_paid_for_on_a_grid() -> None:
    """Where the first canvas may be short, the total allows the canvas that this may take more."""
    kept = ApproximateKv(cache=ApproximateCache.DUAL)
    model = replace(MODEL, on_grid=True, reads_whole=True, approximate=kept)
    submission = make_submission(replace(REQUEST, max_tokens=32), model, PROMPT)

    assert submission.on_grid
    assert submission.reads_whole
    assert submission.approximate == kept
    assert submission.max_canvases == 3
    assert submission.budget == StepBudget(max_steps=16, max_total_steps=48)
