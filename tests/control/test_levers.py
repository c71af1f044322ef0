"""Requests to models that lack levers: control gives them nothing that their servers would refuse."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from unmask.backend import Generation, Lever, Request
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.asked import Asked
from unmask.control.budget import assign
from unmask.control.check import AnswerCheck
from unmask.control.reexpand import conclude
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.numeric import Numeric
from unmask.testing.attempts import Attempts, make_admitted, make_expansion, say
from unmask.testing.budget_policies import make_exit, make_task_policy
from unmask.testing.builders import make_model
from unmask.testing.policies import DIGEST, make_active
from unmask.types import Message, Role, Sampling

ENTROPY = StrategyChoice(name=StrategyName.ENTROPY_BOUND, threshold=0.5)
SORT = make_task_policy("sort", strategy=ENTROPY, exit=make_exit(enabled=True))
ASK = Request(model="far", messages=(Message(role=Role.USER, content="sort 3 , 1"),))


def given(*levers: Lever) -> Any:  # noqa: ANN401 - an assignment
    """Return what a policy gives a request to a model of these levers."""
    return assign(make_active(SORT), ASK, Asked(), make_model("far", levers=levers), task="sort", estimate=None)


def test_class_without_a_budget() -> None:
    """Service class, terms and policy are ours and hold; there is no budget, and nothing that hangs on one."""
    found = given()

    assert (found.service_class.name, found.terms.name, found.policy) == ("interactive", "interactive", DIGEST)
    assert (found.budget, found.bucket, found.rule, found.exit, found.smaller) == (None, None, None, None, ())
    assert found.strategy == StrategyChoice()


@pytest.mark.parametrize(
    ("levers", "has_exit", "strategy"),
    [
        ((Lever.BUDGET,), False, StrategyChoice()),
        ((Lever.BUDGET, Lever.STRATEGY), False, ENTROPY),
        (tuple(Lever), True, ENTROPY),
    ],
)
def test_budget_without_other_levers(
    levers: tuple[Lever, ...],
    has_exit: bool,
    strategy: StrategyChoice,
) -> None:
    """A model with a budget gets one; exits and strategies only where it can be told of them."""
    found = given(*levers)

    assert found.budget is not None
    assert (found.exit is not None, found.strategy) == (has_exit, strategy)


def far(*levers: Lever, sampling: Sampling) -> Admitted:
    """Return a request to a model of these levers, held to numbers from 10 on, with further attempts."""
    found = make_admitted()
    request = replace(
        found.request,
        sampling=sampling,
        budget=found.request.budget if Lever.BUDGET in levers else None,
        canvas_length=None,
    )
    model = make_model("far", levers=levers, max_steps=16 if Lever.BUDGET in levers else 1, default_canvas_length=1)
    check = AnswerCheck(messages=request.messages, task=None, answer_format=None, verifiers=(Numeric(minimum=10),))
    return replace(found, request=request, model=model, check=check, expansion=make_expansion(), max_total_steps=None)


async def told(admitted: Admitted, *texts: str) -> tuple[Answered, list[Request]]:
    """Answer a request with texts, one an attempt."""

    def answer(_: Request, number: int) -> Generation:
        return say(list(texts[number + 1]))

    backend = Attempts(answer)
    first = backend.timed(say(list(texts[0])), admitted.request)
    async with asyncio.timeout(10):
        return await conclude(admitted, first, backend), backend.requests


async def test_failed_answer_is_asked_for_again() -> None:
    """Without budgets and drafts another attempt is the same request with another seed."""
    answered, (again,) = await told(far(sampling=Sampling(temperature=0.7, seed=3)), "5", "12")

    assert answered.generation.text == "12"
    assert (again.budget, again.bucket, again.draft, again.canvas_length) == (None, None, None, None)
    assert again.sampling.seed != 3


async def test_nothing_is_tried_that_could_only_repeat_itself() -> None:
    """At temperature 0 the same request has the same answer, and no limit of steps is to blame for it."""
    answered, requests = await told(far(sampling=Sampling()), "5", "12")

    assert (answered.generation.text, answered.cap, requests) == ("5", None, [])


async def test_budget_grows_where_there_is_one() -> None:
    """A model that takes budgets and no drafts is given a larger one in place of a span to mend."""
    answered, (again,) = await told(far(Lever.BUDGET, sampling=Sampling()), "5", "12")

    assert answered.generation.text == "12"
    assert again.budget is not None
    assert (again.budget.max_steps, again.draft) == (8, None)


@pytest.mark.parametrize(("levers", "asked"), [((), None), ((Lever.BUDGET,), None), (tuple(Lever), 0)])
def test_log_probabilities_are_asked_for_where_an_answer_may_be_reopened(
    levers: tuple[Lever, ...], asked: int | None
) -> None:
    """They say which span to reopen; a model without drafts is not bothered."""
    assert far(*levers, sampling=Sampling()).opening.top_logprobs == asked
