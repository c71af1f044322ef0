"""Requests over HTTP to a server with a policy."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.client import CHAT, COMPLETIONS, chat_body, client_of, completion_body, make_app
from tests.api.sse_events import parse_stream
from unmask.backend import CommitEvent, DoneEvent, ExitRecord, ModelInfo, Request
from unmask.control.book import RecordBook
from unmask.control.parts import ControlParts
from unmask.control.records import RecordFolder
from unmask.control.sources import Estimate, no_policy
from unmask.policy.policy import AtCap, BudgetMode, ControlPolicy, PrecisionPolicy
from unmask.strategy import StrategyName
from unmask.testing.budget_policies import make_class_policy, make_exit, make_task_policy
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.policies import DIGEST, FakeClassifier, FakeEstimator, FakeEstimators, FakePolicies, make_active
from unmask.testing.scripted_backend import Line, ScriptedBackend
from unmask.types import ExitAction, ExitReason, Precision, StepBudget

EASY, HARD = "sort 3 , 1", "sort 9 , 8 , 7 , 6"
ESTIMATES = {
    EASY: Estimate(score=2.0, bin=0, is_sure=True),
    HARD: Estimate(score=4.0, bin=4, is_sure=True),
}
SORT = make_task_policy("sort", mode=BudgetMode.ADAPTIVE, exit=make_exit(enabled=True))


def exiting(request: Request, _: int) -> list[Line]:
    """Serve as an engine whose every request meets its rule at its third step."""
    allowed = request.budget.max_steps if request.budget else 16
    usage = make_usage(steps_allocated=allowed, steps_used=allowed, exit_reason=ExitReason.MAX_STEPS)
    generation = make_generation("1, 3", usage=usage)
    if request.exit is not None:
        generation = replace(generation, exit=ExitRecord(steps=3, text="3, 1"))
        if request.exit.action is ExitAction.STOP:
            early = replace(usage, steps_used=3, exit_reason=ExitReason.EARLY_EXIT)
            generation = replace(generation, text="3, 1", usage=early)
    return [CommitEvent(text=generation.text), DoneEvent(generation=generation)]


class Site:
    """An application with a policy, and what its backend was asked."""

    def __init__(self, folder: Path, draw: Callable[[], float]) -> None:
        self.folder = RecordFolder(folder)
        self.book = RecordBook(self.folder)
        self.policies = FakePolicies(make_active(SORT))
        self._parts = ControlParts(
            policies=self.policies,
            estimators=FakeEstimators(FakeEstimator(ESTIMATES)),
            classifier=FakeClassifier(lambda text: "sort" if text.startswith("sort") else None),
            book=self.book,
            draw=draw,
        )
        self.serve(make_model())

    def serve(self, model: ModelInfo) -> None:
        """Begin anew with a model."""
        self.backend = ScriptedBackend(exiting, models=(model,))
        self.app = make_app(self.backend, parts=self._parts)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        """Open a client."""
        async with client_of(self.app) as client:
            yield client

    async def chat(self, content: str = EASY, **changes: Any) -> httpx.Response:  # noqa: ANN401 - any field
        """Send a chat request."""
        messages = [{"role": "user", "content": content}]
        async with self.client() as client:
            return await client.post(CHAT, json=chat_body(messages=messages, **changes))


@pytest.fixture(name="site")
def _site(tmp_path: Path) -> Site:
    return Site(tmp_path, lambda: 0.99)


def spent(response: httpx.Response) -> dict[str, Any]:
    """Return what an answer says it cost in steps."""
    assert response.status_code == 200, response.text
    return dict(response.json()["usage"]["diffusion"])


def error(response: httpx.Response, status: int) -> tuple[str, str]:
    """Return which field is at fault, and the message."""
    assert response.status_code == status, response.text
    found = response.json()["error"]
    assert found["type"] == "invalid_request_error"
    return found["param"], found["message"]


async def test_answer_says_what_it_was_given(site: Site) -> None:
    """Everything that decided on its budget, and that it exited."""
    response = await site.chat(HARD)

    assert spent(response) == {
        "steps_allocated": 16,
        "steps_used": 3,
        "steps_known": True,
        "steps_estimated": False,
        "cap_ignored": False,
        "tokens_known": True,
        "prompt_tokens_saved": 0,
        "canvases": 1,
        "drafted": 0,
        "accepted": 0,
        "accepted_per_round": 0.0,
        "tokens_per_step": 2.0,
        "exit_reason": "early_exit",
        "verify": "fail",
        "reexpansions": 0,
        "steps_reexpansion": 0,
        "steps_verify": 0,
        "steps_search": 0,
        "search": None,
        "cap_applied": None,
        "bucket": "L",
        "policy": DIGEST[:12],
        "task": "sort",
        "service_class": "interactive",
        "difficulty": {"score": 4.0, "bin": 4},
        "budget_source": "estimate",
        "precision": "float32",
        "control": False,
        "cache": None,
        "approximate_cache": None,
        "quality_level": 0,
    }
    assert response.headers["x-unmask-bucket"] == "L"
    assert site.backend.requests[0].budget == StepBudget(max_steps=16)


async def test_criticality_chooses_among_approved_precisions(site: Site) -> None:
    """The backend is asked for what the policy has, the answer says what it was, and what is not served is noted."""
    choice = PrecisionPolicy(service_class="interactive", normal=Precision.INT4, low=Precision.INT8)
    site.policies.active = make_active(replace(SORT, precision=(choice,)))
    site.serve(make_model(precisions=(Precision.FLOAT32, Precision.INT8)))
    low = spent(await site.chat(diffusion={"criticality": "low"}))
    normal = spent(await site.chat())
    async with site.client() as client:
        notes = (await client.get("/health")).json()["notes"]

    assert (low["precision"], normal["precision"]) == ("int8", "float32")
    assert [request.precision for request in site.backend.requests] == [Precision.INT8, None]
    assert [note for note in notes if "int4, which is not served" in note]
    assert error(await site.chat(diffusion={"criticality": "vital"}), 400)[0] == "diffusion.criticality"


async def test_policy_may_be_approved_and_withdrawn_meanwhile(site: Site) -> None:
    """What is promoted holds for the next request; without a policy budgets are fixed, and this is said aloud."""
    async with site.client() as client:
        site.policies.active = None
        fixed = spent(await site.chat())
        models = (await client.get("/v1/models")).json()["data"]
        notes = (await client.get("/health")).json()["notes"]
        site.policies.active = make_active(SORT)
        promoted = spent(await site.chat())
        entry = (await client.get("/v1/models/tiny")).json()
        metrics = (await client.get("/metrics")).text

        assert (await client.get("/health")).json()["notes"] == []
    assert (fixed["policy"], fixed["exit_reason"], promoted["policy"]) == ("fixed", "max_steps", DIGEST[:12])
    assert (models[0]["policy"], models[0]["service_classes"]) == ("fixed", [])
    assert notes == [no_policy("tiny")]
    assert (entry["policy"], entry["service_classes"]) == (DIGEST[:12], ["interactive", "batch"])
    assert entry["tasks"] == ["arithmetic", "sort", "default"]
    assert f'unmask_policy_info{{digest="{DIGEST[:12]}",model="tiny"}} 1.0' in metrics


async def test_client_names_type_and_class(site: Site) -> None:
    """Both decide on the budget; a name that is none is refused with those that are."""
    named = spent(await site.chat("hello", diffusion={"task": "sort", "service_class": "batch"}))
    task = error(await site.chat(diffusion={"task": "sorting"}), 400)
    service_class = error(await site.chat(diffusion={"service_class": "bulk"}), 400)

    assert (named["task"], named["service_class"], named["steps_allocated"]) == ("sort", "batch", 16)
    assert task[0] == "diffusion.task"
    assert "'sorting', allowed: arithmetic, sort, default." in task[1]
    assert service_class[0] == "diffusion.service_class"
    assert "allowed: interactive, batch" in service_class[1]


async def test_class_without_a_policy_is_refused(site: Site) -> None:
    """There are none then."""
    site.policies.active = None
    param, message = error(await site.chat(diffusion={"service_class": "batch"}), 400)

    assert (param, "No policy is approved" in message) == ("diffusion.service_class", True)


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"diffusion": {"max_steps": 20}}, "diffusion.max_steps"),
        ({"num_denoising_steps": 20}, "num_denoising_steps"),
        ({"vllm_xargs": {"diffusion_max_steps": 20}}, "vllm_xargs.diffusion_max_steps"),
    ],
)
async def test_steps_beyond_the_class_are_refused(site: Site, changes: dict[str, Any], param: str) -> None:
    """Under the name that they were sent in, with the range; another class may allow them."""
    found, message = error(await site.chat(**changes), 400)

    assert (found, "1 to 16. The service class interactive" in message) == (param, True)
    assert site.backend.requests == []


async def test_client_has_the_last_word_on_steps(site: Site) -> None:
    """A number or an effort is the budget, whatever the request looks like."""
    number = spent(await site.chat(HARD, diffusion={"max_steps": 5}))
    effort = spent(await site.chat(HARD, reasoning_effort="minimal"))

    assert (number["steps_allocated"], number["budget_source"], number["bucket"]) == (5, "client", "M")
    assert (effort["steps_allocated"], effort["budget_source"], effort["bucket"]) == (2, "effort", "XS")


async def test_client_switches_exits_off(site: Site) -> None:
    """By saying so, or by a strategy that the rule was not tuned for."""
    off = spent(await site.chat(diffusion={"early_exit": False}))
    other = spent(await site.chat(diffusion={"strategy": "klass"}))

    assert (off["exit_reason"], other["exit_reason"]) == ("max_steps", "max_steps")
    assert site.backend.requests[1].strategy.name is StrategyName.KLASS
    assert spent(await site.chat(diffusion={"early_exit": True}))["exit_reason"] == "early_exit"


async def test_choices_are_given_budgets_by_themselves(site: Site) -> None:
    """Each prompt by its own difficulty; what differs is left to the choices."""
    async with site.client() as client:
        response = await client.post(COMPLETIONS, json=completion_body(prompt=[EASY, HARD, "hello"]))
    each = [choice["diffusion"] for choice in response.json()["choices"]]
    together = spent(response)

    assert [(one["task"], one["bucket"], one["exit_reason"]) for one in each] == [
        ("sort", "S", "early_exit"),
        ("sort", "L", "early_exit"),
        ("default", "M", "max_steps"),
    ]
    assert [one["difficulty"] for one in each] == [{"score": 2.0, "bin": 0}, {"score": 4.0, "bin": 4}, None]
    assert (together["task"], together["bucket"], together["difficulty"]) == (None, None, None)
    assert (together["exit_reason"], together["service_class"]) == ("mixed", "interactive")
    assert "x-unmask-bucket" not in response.headers


async def test_stream_exits_too(site: Site) -> None:
    """What a stream costs is what the whole answer costs."""
    whole = spent(await site.chat())
    stream = parse_stream((await site.chat(stream=True, stream_options={"include_usage": True})).content)

    assert stream.done
    assert stream.chunks[-1]["usage"]["diffusion"] == whole


@pytest.mark.parametrize("stream", [False, True])
async def test_control_runs_on_and_is_recorded(tmp_path: Path, stream: bool) -> None:
    """Whole or streamed, the answer is the full run's, and says that it was a control."""
    site = Site(tmp_path, lambda: 0.0)
    response = await site.chat(stream=stream)
    site.book.close()
    (record,) = site.folder.controls().records

    if not stream:
        assert (spent(response)["control"], spent(response)["exit_reason"]) == (True, "max_steps")
        assert response.json()["choices"][0]["message"]["content"] == "1, 3"
    assert (record.request_id, record.steps, record.exit_steps) == (response.headers["x-request-id"], 4, 3)
    assert (record.passed, record.exit_passed, record.diverged) == (True, False, True)


async def test_control_is_drawn_before_anything_is_known(site: Site) -> None:
    """The backend is told to observe from the first step on."""
    site.policies.active = make_active(SORT, control=ControlPolicy(fraction=1.0, young_fraction=1.0, young_until=0))
    await site.chat()
    (request,) = site.backend.requests

    assert request.exit is not None
    assert request.exit.action is ExitAction.OBSERVE


async def test_spent_budget_is_an_error_where_the_class_says_so(site: Site) -> None:
    """422, which clients do not try again; on a stream an error event in place of its end."""
    site.policies.active = make_active(
        SORT, classes=(make_class_policy(max_steps=16, at_cap=AtCap.FAIL, re_expansions=0),)
    )
    whole = await site.chat(diffusion={"early_exit": False})
    stream = parse_stream((await site.chat(diffusion={"early_exit": False}, stream=True)).content)

    assert error(whole, 422)[0] == "diffusion.max_steps"
    assert whole.json()["error"]["code"] == "budget_spent"
    assert stream.events[-1].value["error"]["code"] == "budget_spent"
    assert not stream.done
    assert spent(await site.chat())["exit_reason"] == "early_exit"


async def test_abandoned_control_is_counted(tmp_path: Path) -> None:
    """A control whose backend fails has no full run."""
    site = Site(tmp_path, lambda: 0.0)
    site.backend._script = lambda request, _: [RuntimeError("broken")]
    assert (await site.chat()).status_code == 500
    async with site.client() as client:
        metrics = (await client.get("/metrics")).text
    site.book.close()

    assert 'unmask_controls_total{model="tiny",result="unfinished"} 1.0' in metrics
    assert site.folder.controls().records == ()
