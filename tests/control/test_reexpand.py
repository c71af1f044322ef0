"""Behaviour of `unmask.control.reexpand`: further attempts after a failed verification."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.backend import Generation, Request
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, Cap
from unmask.control.attempt import AttemptReason
from unmask.control.check import AnswerCheck
from unmask.control.reexpand import conclude
from unmask.control.worst import most_steps
from unmask.errors import DeadlineError, QueueFullError
from unmask.policy.policy import BucketSteps
from unmask.search.plan import WARM
from unmask.tasks.consistency import SelfConsistency
from unmask.tasks.criteria import Response
from unmask.tasks.failure import FailureKind
from unmask.tasks.numeric import Numeric
from unmask.tasks.patterns import Pattern
from unmask.tasks.verifier import Verifier
from unmask.testing.attempts import Attempts, make_admitted, make_expansion, say
from unmask.testing.builders import make_usage
from unmask.types import Bucket, ExitReason, Mode, Outcome, Sampling, StepBudget, Verification

FIRST, REOPEN, AGAIN, _, CONSISTENCY, SEARCH, *_others = AttemptReason
FORM = Pattern("good")
RANGE = Numeric(minimum=10)


def held_to(
    *verifiers: Verifier,
    sampling: Sampling | None = None,
    mode: Mode = Mode.DIFFUSION,
    **changes: Any,  # noqa: ANN401 - any field
) -> Admitted:
    """Return a request that is held to verifiers."""
    found = make_admitted(**changes)
    check = AnswerCheck(messages=found.request.messages, task=None, answer_format=None, verifiers=verifiers)
    request = replace(found.request, sampling=sampling or Sampling(), mode=mode)
    return replace(found, request=request, check=check if verifiers else None)


class Told:
    """An answered request, and what was asked of the backend."""

    def __init__(self, answered: Answered, backend: Attempts) -> None:
        self.answered = answered
        self.requests = backend.requests

    @property
    def reasons(self) -> list[AttemptReason]:
        """Why each generation was made."""
        return [attempt.reason for attempt in self.answered.attempts]


async def told(
    admitted: Admitted,
    texts: Sequence[str | Exception | Generation],
    **changes: Any,  # noqa: ANN401 - any field of the first
) -> Told:
    """Answer a request with texts, the last of them for ever."""

    def answer(_: Request, number: int) -> Generation | Exception:
        found = texts[min(number + 1, len(texts) - 1)]
        return say(list(found)) if isinstance(found, str) else found

    backend = Attempts(answer)
    first = texts[0]
    assert isinstance(first, str)
    opened = backend.timed(replace(say(list(first)), **changes), admitted.request)
    return Told(await conclude(admitted, opened, backend), backend)


async def test_answer_that_passes_is_the_answer() -> None:
    """Nothing more is asked of the backend."""
    found = await told(held_to(FORM), ["good"])

    assert found.requests == []
    assert found.answered.generation.text == "good"
    assert found.answered.verdict.verification is Verification.PASS
    assert (found.answered.reexpansions, found.answered.steps_reexpansion, found.answered.cap) == (0, 0, None)


async def test_without_a_class_that_allows_it_a_failed_answer_stands() -> None:
    """It is verified all the same."""
    found = await told(replace(held_to(FORM), expansion=None), ["bad", "good"])

    assert found.requests == []
    assert found.answered.verdict.verification is Verification.FAIL
    assert found.answered.cap is None


async def test_broken_form_has_its_span_reopened() -> None:
    """With a larger budget, what stands frozen, the first one's arrival, and no exit."""
    found = await told(held_to(FORM), ["goad", "good"])

    assert found.reasons == [FIRST, REOPEN]
    (request,) = found.requests
    assert request.draft is not None
    assert request.budget == StepBudget(max_steps=8)
    assert (request.exit, request.check, request.snapshots) == (None, None, False)
    assert request.arrived == 0.0
    assert found.answered.generation.text == "good"
    assert found.answered.generation.usage.steps_used == 4 + 8
    assert (found.answered.reexpansions, found.answered.steps_reexpansion) == (1, 8)


async def test_wrong_content_is_generated_again_with_the_next_bucket() -> None:
    """From masks; the bucket is the next that holds the larger budget."""
    buckets = tuple(
        BucketSteps(bucket=bucket, max_steps=steps) for bucket, steps in zip(Bucket, (2, 4, 12, 16), strict=False)
    )
    found = await told(held_to(RANGE, expansion=make_expansion(buckets=buckets)), ["7", "12"])

    assert found.reasons == [FIRST, AGAIN]
    assert found.requests[0].draft is None
    assert (found.requests[0].budget, found.requests[0].bucket) == (StepBudget(max_steps=12), Bucket.M)


async def test_limit_of_the_class_holds_and_the_best_is_kept() -> None:
    """By verifiers first, then by confidence."""
    better = say(list("9"), [-0.01])
    found = await told(held_to(RANGE), ["7", better, "8"])

    assert len(found.requests) == 2
    assert found.answered.generation.text == "9"
    assert found.answered.cap is Cap.RE_EXPANSIONS
    assert found.answered.verdict.verification is Verification.FAIL


async def test_attempt_that_fails_less_is_better_than_a_surer_one() -> None:
    """Verifiers come before confidence."""
    texts = [say(["7", "0"], [-3.0, -3.0]), say(["7"], [-0.01])]
    found = await told(held_to(RANGE, Pattern("x.*")), ["7", *texts])

    assert found.answered.generation.text == "70"


async def test_steps_of_all_attempts_stay_under_the_total() -> None:
    """A further attempt has what is left of it; with nothing left there is none."""
    expansion = make_expansion(limit=5, max_total_steps=10)
    found = await told(held_to(RANGE, expansion=expansion), ["7", "8", "9"])

    assert [request.budget for request in found.requests] == [StepBudget(max_steps=8, max_total_steps=6)]
    assert found.answered.generation.usage.steps_used == 10
    assert found.answered.cap is Cap.MAX_TOTAL_STEPS


@pytest.mark.parametrize(("deadline_s", "attempts"), [(11.9, 1), (12.0, 2), (100.0, 3)])
async def test_no_attempt_begins_that_would_end_past_the_deadline(deadline_s: float, attempts: int) -> None:
    """Going by the time that the latest attempt's steps took, a second each."""
    found = await told(held_to(RANGE, expansion=make_expansion(deadline_s=deadline_s)), ["7", "8", "9"])

    assert len(found.answered.attempts) == attempts
    assert found.answered.cap is (Cap.RE_EXPANSIONS if attempts == 3 else Cap.DEADLINE)


async def test_at_the_cap_an_answer_is_reopened_rather_than_made_again() -> None:
    """At temperature 0 the same steps from masks would end in the same text; the second time it is opened further."""
    found = await told(held_to(RANGE, expansion=make_expansion(most_steps=4)), ["it is 7", "it is 8", "it is 9"])

    assert found.reasons == [FIRST, REOPEN, REOPEN]
    first, second = (request.draft for request in found.requests)
    assert first is not None
    assert second is not None
    assert second.tokens.count(None) > 0
    assert all(request.budget == StepBudget(max_steps=4) for request in found.requests)


async def test_at_the_cap_a_sampled_answer_is_made_again() -> None:
    """With a seed of its own, the same one every time."""
    admitted = held_to(RANGE, sampling=Sampling(temperature=1.0, seed=3), expansion=make_expansion(most_steps=4))
    one, two = await told(admitted, ["7", "8"]), await told(admitted, ["7", "8"])

    seeds = [request.sampling.seed for request in one.requests]
    assert one.reasons == [FIRST, AGAIN, AGAIN]
    assert len({3, *seeds}) == 3
    assert seeds == [request.sampling.seed for request in two.requests]


async def test_early_exit_is_undone_first() -> None:
    """The answer may have failed for it: at the same cap it runs to its end."""
    admitted = held_to(RANGE, expansion=make_expansion(most_steps=4, limit=1))
    found = await told(admitted, ["7", "12"], usage=make_usage(exit_reason=ExitReason.EARLY_EXIT))

    assert found.reasons == [FIRST, AGAIN]


async def test_larger_budget_that_changes_nothing_is_not_made_larger_still() -> None:
    """The answer is reopened instead."""
    found = await told(held_to(RANGE), ["7", "7", "12"])

    assert found.reasons == [FIRST, AGAIN, REOPEN]
    assert found.answered.verdict.verification is Verification.PASS


async def test_what_only_a_person_helps_is_left_as_it_is() -> None:
    """No further attempt, and no limit that would be to blame."""
    responses = dict.fromkeys(FailureKind, Response.HAND_TO_PERSON)
    found = await told(held_to(FORM, expansion=make_expansion(responses=responses)), ["bad"])

    assert (found.requests, found.answered.cap) == ([], None)


async def test_text_token_by_token_is_never_reopened() -> None:
    """It has no canvas."""
    found = await told(held_to(FORM, mode=Mode.AUTOREGRESSIVE), ["bad", "good"])

    assert found.reasons == [FIRST, AGAIN]


@pytest.mark.parametrize(
    ("mode", "temperature"), [(Mode.AUTOREGRESSIVE, 0.0), (Mode.SPECULATIVE, 0.0), (Mode.AUTOREGRESSIVE, 0.2)]
)
async def test_text_token_by_token_is_drawn_for_another_one(mode: Mode, temperature: float) -> None:
    """Its likeliest tokens are the same whatever the budget; one that was drawn is drawn as the client asks."""
    admitted = held_to(FORM, mode=mode, sampling=Sampling(temperature=temperature, seed=3))
    found, again = await told(admitted, ["bad", "bad", "good"]), await told(admitted, ["bad", "bad", "good"])

    assert found.reasons == [FIRST, AGAIN, AGAIN]
    assert [request.sampling.temperature for request in found.requests] == [temperature or WARM] * 2
    assert len({3, *(request.sampling.seed for request in found.requests)}) == 3
    assert {request.mode for request in found.requests} == {Mode.AUTOREGRESSIVE}
    assert found.requests == again.requests


async def test_what_is_drawn_is_no_better_for_being_drawn() -> None:
    """Where it fails as well the surer answer stands, which the likeliest tokens mostly are."""
    admitted = held_to(FORM, mode=Mode.AUTOREGRESSIVE, expansion=make_expansion(limit=1))
    drawn = say(["맞지 않음"], [-1.0])
    found = await told(admitted, ["bad", drawn], logprobs=say(["bad"], [-0.1]).logprobs)

    assert found.answered.generation.text == "bad"


@pytest.mark.parametrize("broken", [QueueFullError("full"), replace(say(["x"]), outcome=Outcome.FAILED)])
async def test_attempt_that_cannot_be_made_leaves_the_answer_there_is(broken: Exception | Generation) -> None:
    """An answer that failed its verifier is better than an error; steps that were taken are counted."""
    found = await told(held_to(FORM), ["bad", broken, "good"])

    assert len(found.requests) == 1
    assert found.answered.generation.text == "bad"
    assert found.answered.generation.usage.steps_used == (4 if isinstance(broken, Exception) else 12)


async def test_first_attempt_that_did_not_complete_is_no_answer() -> None:
    """Nobody verifies it, and nothing follows."""
    found = await told(held_to(FORM), ["bad", "good"], outcome=Outcome.ABORTED)

    assert (found.requests, found.answered.verdict.verification) == ([], Verification.SKIPPED)


async def test_cancelling_aborts_what_runs() -> None:
    """A client that leaves during a further attempt leaves nothing behind."""
    begun, cancelled = asyncio.Event(), []

    async def generate(_request: Request, _reason: AttemptReason) -> Generation:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        raise AssertionError

    task = asyncio.ensure_future(conclude(held_to(FORM), say(["bad"]), generate))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == [True]


async def test_log_probabilities_of_canvases_that_stand_are_kept() -> None:
    """The answer has one of each of its tokens."""
    words = [chr(97 + place) for place in range(12)]
    first = say(words, [-place / 10 for place in range(12)])
    admitted = held_to(Pattern("abcdefgh.*z"))
    again = say(list("ijkz"))

    backend = Attempts(lambda request, number: replace(again, text="abcdefghijkz"))
    found = await conclude(admitted, first, backend)

    assert backend.requests[0].draft is not None
    kept = backend.requests[0].draft.before
    assert found.generation.logprobs == first.logprobs[: len(kept)] + again.logprobs


async def agreed(samples: Sequence[str], answers: Sequence[str] = ("7",), **asked: Any) -> Told:  # noqa: ANN401 - any field
    """Compare an answer with samples."""
    consistency = SelfConsistency(**({"samples": len(samples), "agree": len(samples)} | asked))
    left, further = list(samples), list(answers[1:])

    def answer(request: Request, _: int) -> Generation:
        is_sample = request.sampling.temperature > 0
        return say([left.pop(0) if is_sample and left else further.pop(0) if further else answers[0]])

    backend = Attempts(answer)
    admitted = replace(held_to(), consistency=consistency)
    first = backend.timed(say([answers[0]]), admitted.request)
    return Told(await conclude(admitted, first, backend), backend)


async def test_samples_that_agree_pass_an_answer() -> None:
    """Whatever their case and blanks; each has a seed of its own and is booked."""
    found = await agreed(["It  is", "it is"], ["it is"])

    assert found.answered.verdict.verification is Verification.PASS
    assert found.reasons == [FIRST, CONSISTENCY, CONSISTENCY]
    assert (found.answered.steps_verify, found.answered.reexpansions) == (8, 0)
    assert found.answered.generation.usage.steps_used == 12
    assert len({request.sampling.seed for request in found.requests}) == 2


async def test_samples_of_a_speculative_answer_are_drawn_token_by_token() -> None:
    """Speculation draws nothing: a sample would be refused, and the answer held to none."""
    consistency = SelfConsistency(samples=2)
    plain = replace(held_to(), consistency=consistency)
    admitted = replace(plain, request=replace(plain.request, mode=Mode.SPECULATIVE))
    backend = Attempts(lambda *_: say(["7"]))
    found = await conclude(admitted, backend.timed(say(["7"]), admitted.request), backend)

    assert [(request.mode, request.canvas_length) for request in backend.requests] == [(Mode.AUTOREGRESSIVE, None)] * 2
    assert found.verdict.verification is Verification.PASS


async def test_samples_that_disagree_fail_an_answer() -> None:
    """It is made again, and compared again."""
    found = await agreed(["8", "9"], ["7", "12"])

    assert found.reasons[:4] == [FIRST, CONSISTENCY, CONSISTENCY, AGAIN]
    assert found.answered.attempts[3].answers is not None
    assert "samples agree" in found.answered.attempts[3].answers.reason


async def test_samples_share_what_is_left_of_the_total() -> None:
    """Where nothing is left, nothing is said."""
    consistency = SelfConsistency(samples=2)
    backend = Attempts(lambda request, number: say(["7"]))
    admitted = replace(held_to(), consistency=consistency, expansion=None, max_total_steps=5)
    found = await conclude(admitted, backend.timed(say(["7"]), admitted.request), backend)

    assert backend.requests == []
    assert found.verdict.verification is Verification.SKIPPED


def budgets(requests: Sequence[Request]) -> list[StepBudget]:
    """Return the budgets of requests, which all have one."""
    return [request.budget for request in requests if request.budget is not None]


@given(
    texts=st.lists(st.sampled_from(["good", "goad", "7", "12", "", "x 3"]), min_size=1, max_size=6),
    limit=st.integers(1, 4),
    factor=st.floats(1.0, 8.0),
    cap=st.integers(4, 40),
    total=st.none() | st.integers(4, 60),
    temperature=st.sampled_from([0.0, 1.0]),
    verifier=st.sampled_from([FORM, RANGE]),
)
def test_law_of_bounded_re_expansion(
    texts: list[str],
    limit: int,
    factor: float,
    cap: int,
    total: int | None,
    temperature: float,
    verifier: Verifier,
) -> None:
    """Never more attempts than the class allows, nor steps than the caps; an answer that passes is never lost."""
    expansion = make_expansion(limit=limit, factor=factor, most_steps=cap, max_total_steps=total)
    admitted = held_to(verifier, sampling=Sampling(temperature=temperature), expansion=expansion, max_total_steps=total)

    found = asyncio.run(told(admitted, texts))

    given_out = budgets(found.requests)
    assert len(found.requests) == len(given_out) <= limit
    assert all(budget.max_steps <= cap for budget in given_out)
    assert total is None or found.answered.generation.usage.steps_used <= total
    assert found.answered.generation.usage.steps_used <= most_steps(admitted)
    assert {request.arrived for request in found.requests} <= {0.0}
    is_right = found.answered.verdict.verification is Verification.PASS
    assert is_right is any(not attempt.verdict.failures for attempt in found.answered.attempts)
    assert sum(attempt.steps for attempt in found.answered.attempts) == found.answered.generation.usage.steps_used


async def test_a_further_attempt_that_the_engine_refuses_as_late_met_the_deadline() -> None:
    """The best answer so far is kept, and the limit is named."""
    found = await told(held_to(FORM), ["bad", DeadlineError("too late")])

    assert (found.answered.cap, found.answered.generation.text) == (Cap.DEADLINE, "bad")
