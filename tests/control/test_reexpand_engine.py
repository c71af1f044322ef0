"""Further attempts on our own engine with a shipped model: drafts are taken as they are meant."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest_asyncio

from unmask.backend import Generation, ModelInfo, Request
from unmask.control.admitted import Admitted
from unmask.control.attempt import AttemptReason
from unmask.control.check import AnswerCheck
from unmask.control.reexpand import Generate, conclude
from unmask.local.backend import LocalBackend
from unmask.local.build import build_local_backend
from unmask.sched.settings import SchedSettings
from unmask.tasks.consistency import SelfConsistency
from unmask.tasks.patterns import Pattern
from unmask.tasks.registry import all_tasks
from unmask.testing.attempts import make_expansion
from unmask.testing.policies import make_assignment
from unmask.types import Message, Mode, Role, StepBudget, Verification

SUM = (Message(role=Role.USER, content="add 12 + 30 + 45"),)


@pytest_asyncio.fixture(name="backend")
async def _backend() -> AsyncIterator[LocalBackend]:
    backend = build_local_backend(("nano",), SchedSettings(pages=64, page_size=16))
    yield backend
    await backend.drain()


def admitted(model: ModelInfo, check: AnswerCheck, **changes: object) -> Admitted:
    """Return a request of two steps a canvas, which is too few for anything."""
    request = Request(model="nano", messages=SUM, max_tokens=48, canvas_length=8, budget=StepBudget(max_steps=2))
    fields = {"expansion": make_expansion(limit=3, most_steps=8)} | changes
    return Admitted(request=request, model=model, assignment=make_assignment(), check=check, **fields)  # type: ignore[arg-type]


def never() -> AnswerCheck:
    """Return a check of form that nothing passes, and that points nowhere."""
    return AnswerCheck(messages=SUM, task=None, answer_format=None, verifiers=(Pattern("x{99}"),))


def running(backend: LocalBackend) -> Generate:
    """Return what runs attempts on a backend."""
    return lambda request, _: backend.generate(request)


async def test_what_stands_stays_and_what_is_open_is_filled(backend: LocalBackend) -> None:
    """The engine takes each draft, keeps what is frozen in it, and ends in a text of the tokens that are told."""
    (model,) = backend.models()
    asked = admitted(model, never())
    sent: list[Request] = []

    async def generate(request: Request, _: AttemptReason) -> Generation:
        sent.append(request)
        return await backend.generate(request)

    found = await conclude(asked, await backend.generate(asked.opening), generate)

    reopened = [attempt for attempt in found.attempts if attempt.reason is AttemptReason.REOPEN]
    assert len(reopened) == 2
    for attempt, request in zip(found.attempts[1:], sent, strict=True):
        draft = request.draft
        if draft is None:
            continue
        tokens = attempt.generation.tokens
        first = len(draft.before)
        assert tokens[:first] == draft.before
        stood = [(place, token) for place, token in enumerate(draft.tokens) if token is not None]
        ended = len(tokens) - first
        assert all(tokens[first + place] == token for place, token in stood if place < ended)
        assert len(attempt.generation.logprobs) >= len(tokens) - 1
    assert {attempt.generation.timing.arrived for attempt in found.attempts} == {found.first.timing.arrived}
    assert found.generation.usage.steps_used == sum(attempt.steps for attempt in found.attempts)
    assert found.verdict.verification is Verification.FAIL


async def test_text_token_by_token_is_another_one_each_time(backend: LocalBackend) -> None:
    """The likeliest tokens are the same at any budget, so further attempts are drawn; the engine takes them so."""
    (model,) = backend.models()
    asked = admitted(model, never())
    asked = replace(asked, request=replace(asked.request, mode=Mode.SPECULATIVE, canvas_length=None))
    found = await conclude(asked, await backend.generate(asked.opening), running(backend))

    texts = [attempt.generation.text for attempt in found.attempts]
    assert len(texts) == 4
    assert len(set(texts)) > 1


async def test_task_types_verifier_decides(backend: LocalBackend) -> None:
    """Attempts end with the first that it passes."""
    (model,) = backend.models()
    check = AnswerCheck(messages=SUM, task=all_tasks()["arithmetic"], answer_format=None)
    asked = admitted(model, check)
    found = await conclude(asked, await backend.generate(asked.opening), running(backend))

    passed = [attempt for attempt in found.attempts if not attempt.verdict.failures]
    assert len(passed) == (found.verdict.verification is Verification.PASS)
    assert passed in ([], [found.attempts[-1]])


async def test_samples_are_drawn_on_the_engine(backend: LocalBackend) -> None:
    """Side by side, and the same ones every time."""
    (model,) = backend.models()
    check = AnswerCheck(messages=SUM, task=None, answer_format=None, verifiers=(Pattern("(?s).*"),))
    asked = admitted(model, check, consistency=SelfConsistency(samples=3, agree=1), expansion=None)
    one, two = [await conclude(asked, await backend.generate(asked.opening), running(backend)) for _ in range(2)]

    texts = [attempt.generation.text for attempt in one.attempts]
    assert len(texts) == 4
    assert texts == [attempt.generation.text for attempt in two.attempts]
