"""Behaviour of `unmask.tune.paired_run`."""

from dataclasses import replace

import pytest

from tests.tune.paired import make_settings
from unmask.backend import ExitRecord, Request
from unmask.control.sources import Estimate
from unmask.policy.policy import BudgetMode
from unmask.tasks.item import Split
from unmask.testing.budget_policies import make_exit, make_task_policy
from unmask.testing.builders import make_generation, make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.policies import FakeEstimator, make_active
from unmask.tune.errors import CurveRunError
from unmask.tune.items import draw_items
from unmask.tune.paired_run import Arm, PairedRecord, Side, admitted, run_paired
from unmask.types import ExitAction, Outcome

MODEL = make_model("tiny")
ITEMS = {"sort": draw_items("sort", 3, 0, Split.TEST)}
ANSWERS = {item.messages: item.answer for item in ITEMS["sort"]}
EXITING = make_active(make_task_policy("sort", default=6, exit=make_exit(enabled=True)))
SIDES = {Arm.BEFORE: Side(active=None), Arm.AFTER: Side(active=EXITING)}


def answer(request: Request) -> str:
    """Answer rightly."""
    return ANSWERS[request.messages]


async def run(backend: FakeBackend, done: set[tuple[str, str, str]] | None = None) -> list[PairedRecord]:
    """Run, and return what was noted."""
    records: list[PairedRecord] = []
    await run_paired(backend, MODEL, make_settings(), SIDES, ITEMS, done or set(), records.append)
    return records


async def test_both_policies_answer_the_same_items() -> None:
    """Each as the server would admit it; no side finds the other's prompts in the cache."""
    backend = FakeBackend(answer)
    records = await run(backend)
    budgets = {(r.tenant, None if r.budget is None else r.budget.max_steps) for r in backend.requests}

    assert {record.key for record in records} == {(arm, "sort", item.digest) for arm in Arm for item in ITEMS["sort"]}
    assert all(record.correct for record in records)
    assert budgets == {("recalibrate-before", None), ("recalibrate-after", 6)}


async def test_misjudgement_is_measured_on_the_full_run() -> None:
    """The exit stops one request, and only observes its twin; wrong there and right in full is misjudged."""
    backend = FakeBackend(answer, exit=lambda _: ExitRecord(steps=2, text="wrong"))
    records = {record.key: record for record in await run(backend)}
    after = [records[Arm.AFTER, "sort", item.digest] for item in ITEMS["sort"]]
    before = [records[Arm.BEFORE, "sort", item.digest] for item in ITEMS["sort"]]
    actions = [request.exit.action for request in backend.requests if request.exit is not None]

    assert [(record.correct, record.steps, record.misjudged) for record in after] == [(False, 2, True)] * 3
    assert [record.misjudged for record in before] == [None] * 3
    assert sorted(actions) == sorted([ExitAction.STOP, ExitAction.OBSERVE] * 3)


@pytest.mark.parametrize(("full", "at_exit"), [("?", "?"), ("?", None), (None, None)])
async def test_only_a_right_full_run_tells_a_misjudgement(full: str | None, at_exit: str | None) -> None:
    """Both wrong, the reverse flip and both right are none."""

    def met(request: Request) -> ExitRecord:
        return ExitRecord(steps=2, text=at_exit or ANSWERS[request.messages])

    records = await run(FakeBackend(lambda request: full or ANSWERS[request.messages], exit=met))

    assert {record.misjudged for record in records if record.arm is Arm.AFTER} == {False}


async def test_what_is_done_is_not_done_again() -> None:
    """A run that goes on asks only for what is missing."""
    backend = FakeBackend(answer)
    done = {(Arm.BEFORE.value, "sort", item.digest) for item in ITEMS["sort"]}
    records = await run(backend, done)

    assert {record.arm for record in records} == {Arm.AFTER}


async def test_a_failed_request_ends_the_run() -> None:
    """A policy is not judged by what a backend failed to do."""
    failed = make_generation(outcome=Outcome.FAILED, error="no memory")

    with pytest.raises(CurveRunError, match="no memory"):
        await run(FakeBackend(generation=failed))


def test_an_estimate_gives_the_budget_of_an_adaptive_task_type() -> None:
    """By the rule that serves."""
    item = ITEMS["sort"][0]
    active = make_active(make_task_policy("sort", mode=BudgetMode.ADAPTIVE))
    estimator = FakeEstimator({item.messages[-1].content: Estimate(score=2.0, bin=0, is_sure=True)})
    request, given = admitted(MODEL, Side(active=active, estimator=estimator), item, tenant="t")
    unknown, _ = admitted(MODEL, Side(active=active, estimator=FakeEstimator({})), item, tenant="t")

    assert given.service_class is not None
    assert (request.budget and request.budget.max_steps, unknown.budget and unknown.budget.max_steps) == (4, 16)
    assert replace(request, budget=None) == replace(unknown, budget=None)
