"""Behaviour of `unmask.api.usage`."""

from dataclasses import replace
from typing import Any

import pytest

from tests.api.calls import make_call
from unmask.api.finished import FinishedChoice
from unmask.api.usage import choice_diffusion, usage
from unmask.control.asked import Asked
from unmask.control.budget import BudgetSource
from unmask.control.sources import Estimate
from unmask.testing.attempts import make_admitted, make_answered
from unmask.testing.budget_policies import make_class_policy
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.policies import DIGEST, make_assignment
from unmask.types import ApproximateCache, ApproximateKv, Bucket, ExitReason, Verification


def choice(verify: Verification = Verification.SKIPPED, **spent: Any) -> FinishedChoice:  # noqa: ANN401 - any field of the usage
    """Return a choice that cost something."""
    return FinishedChoice(answered=make_answered(make_generation(usage=make_usage(**spent)), verify))


def diffusion(*choices: FinishedChoice) -> dict[str, Any]:
    """Return the steps' part of the usage of choices of one prompt."""
    found = usage(make_call(["a"] * len(choices)), choices)["diffusion"]
    assert isinstance(found, dict)
    return found


def test_choices_are_added_up() -> None:
    """Tokens, steps and canvases of all of them; the steps each token took are of the sums."""
    choices = (
        choice(completion_tokens=9, steps_allocated=16, steps_used=4, canvases=1),
        choice(completion_tokens=1, steps_allocated=8, steps_used=3, canvases=2),
    )
    found = usage(make_call(["a", "a"], asked=Asked(bucket=Bucket.S)), choices)

    assert found == {
        "prompt_tokens": 7,
        "completion_tokens": 10,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 0},
        "diffusion": {
            "steps_allocated": 24,
            "steps_used": 7,
            "steps_known": True,
            "steps_estimated": False,
            "cap_ignored": False,
            "tokens_known": True,
            "prompt_tokens_saved": 0,
            "canvases": 3,
            "drafted": 0,
            "accepted": 0,
            "accepted_per_round": 0.0,
            "tokens_per_step": round(10 / 7, 4),
            "exit_reason": "converged",
            "verify": "skipped",
            "reexpansions": 0,
            "steps_reexpansion": 0,
            "steps_verify": 0,
            "steps_search": 0,
            "search": None,
            "cap_applied": None,
            "bucket": "S",
            "policy": "fixed",
            "task": "default",
            "service_class": None,
            "difficulty": None,
            "budget_source": "effort",
            "precision": "float32",
            "approximate_cache": None,
            "control": False,
            "cache": None,
            "quality_level": 0,
        },
    }


def test_usage_says_which_keys_and_values_were_kept() -> None:
    """What the model was served with; null above, of a model that does not say."""
    model = make_model(approximate=ApproximateKv(cache=ApproximateCache.PREFIX))
    found = usage(replace(make_call(["a"]), model=model), (choice(),))

    assert isinstance(found["diffusion"], dict)
    assert found["diffusion"]["approximate_cache"] == "prefix"


def test_prompt_counts_once_however_many_choices_it_has() -> None:
    """Different prompts count each; of one prompt, what all of its choices found in the cache counts as cached."""
    choices = (
        choice(prompt_tokens=5, cached_tokens=0),
        choice(prompt_tokens=30, cached_tokens=24),
        choice(prompt_tokens=5, cached_tokens=4),
        choice(prompt_tokens=30, cached_tokens=16),
    )
    found = usage(make_call(["a", "b", "a", "b"]), choices)

    assert (found["prompt_tokens"], found["prompt_tokens_details"]) == (35, {"cached_tokens": 16})


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        ([ExitReason.MAX_STEPS], "max_steps"),
        ([ExitReason.MAX_STEPS] * 2, "max_steps"),
        ([ExitReason.CONVERGED, ExitReason.MAX_STEPS], "mixed"),
    ],
)
def test_exit_reason_is_what_they_share(reasons: list[ExitReason], told: str) -> None:
    """Choices that ended for different reasons have no common one."""
    assert diffusion(*(choice(exit_reason=reason) for reason in reasons))["exit_reason"] == told


PASS, FAIL, SKIPPED = Verification.PASS, Verification.FAIL, Verification.SKIPPED


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [((PASS, PASS), "pass"), ((PASS, FAIL), "fail"), ((SKIPPED, SKIPPED), "skipped"), ((SKIPPED, PASS), "pass")],
)
def test_one_failure_is_told(verdicts: tuple[Verification, ...], told: str) -> None:
    """All is well only where every choice is."""
    assert diffusion(*map(choice, verdicts))["verify"] == told


def test_no_step_is_no_division_by_nothing() -> None:
    """A text that took no step has no tokens of any step."""
    assert diffusion(choice(steps_used=0, completion_tokens=3))["tokens_per_step"] == 0


def test_one_of_several_choices() -> None:
    """What tells choices apart."""
    given = make_assignment(
        task="sort",
        bucket=Bucket.M,
        estimate=Estimate(score=2.123456, bin=3, is_sure=True),
        source=BudgetSource.ESTIMATE,
        is_control=True,
    )
    one = choice(PASS, steps_used=3, canvases=2, exit_reason=ExitReason.EARLY_EXIT)

    assert choice_diffusion(one, make_admitted(assignment=given)) == {
        "steps_used": 3,
        "steps_known": True,
        "steps_estimated": False,
        "cap_ignored": False,
        "tokens_known": True,
        "canvases": 2,
        "drafted": 0,
        "accepted": 0,
        "accepted_per_round": 0.0,
        "exit_reason": "early_exit",
        "verify": "pass",
        "reexpansions": 0,
        "steps_reexpansion": 0,
        "steps_verify": 0,
        "steps_search": 0,
        "search": None,
        "cap_applied": None,
        "bucket": "M",
        "task": "sort",
        "difficulty": {"score": 2.1235, "bin": 3},
        "budget_source": "estimate",
        "precision": None,
        "control": True,
        "cache": None,
        "quality_level": 0,
    }


def test_choices_say_what_they_have_in_common() -> None:
    """What differs is left to each; one control among them is told."""
    call = make_call(["a", "b"])
    first, second = call.admitted
    service_class = make_class_policy("batch")
    given = {"service_class": service_class, "policy": DIGEST, "bucket": Bucket.S}
    admitted = (
        replace(first, assignment=make_assignment(task="sort", is_control=True, **given)),
        replace(second, assignment=make_assignment(task="latin", source=BudgetSource.TASK, **given)),
    )
    found = usage(replace(call, admitted=admitted), (choice(), choice()))["diffusion"]

    assert isinstance(found, dict)
    assert {name: found[name] for name in ("bucket", "policy", "task", "service_class", "difficulty", "control")} == {
        "bucket": "S",
        "policy": DIGEST[:12],
        "task": None,
        "service_class": "batch",
        "difficulty": None,
        "control": True,
    }
    assert found["budget_source"] is None


def test_the_bucket_is_the_one_that_was_served() -> None:
    """A request that would have been late in its own was served in a smaller one, and says so."""
    served = FinishedChoice(answered=make_answered(replace(make_generation(), bucket=Bucket.S)))

    assert diffusion(served)["bucket"] is Bucket.S
    assert choice_diffusion(served, make_admitted(assignment=make_assignment(bucket=Bucket.L)))["bucket"] is Bucket.S
