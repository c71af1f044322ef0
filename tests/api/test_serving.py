"""Behaviour of calls with several choices, answered at once."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.api.calls import CHAT_CALLS, PATHS, TEXT_CALLS, app_of, make_call
from tests.api.client import client_of
from unmask.api.call import Call
from unmask.api.running import Running
from unmask.backend import Backend, Request
from unmask.control.asked import Asked
from unmask.errors import QueueFullError
from unmask.testing.scripted_backend import Line, ScriptedBackend
from unmask.testing.speech import STEPS, speak
from unmask.testing.waiting import until
from unmask.types import Bucket, Verification


async def post(backend: Backend, call: Call, path: str = CHAT_CALLS, **options: Any) -> httpx.Response:  # noqa: ANN401 - as `app_of` takes them
    """Send one request that is read as a call."""
    async with client_of(app_of(backend, call, **options)) as client, asyncio.timeout(5):
        return await client.post(path, json={})


def texts_of(response: httpx.Response) -> list[str]:
    """Return the texts of an answer in the order of its choices."""
    choices = response.json()["choices"]
    assert [choice["index"] for choice in choices] == list(range(len(choices)))
    return [choice["message"]["content"] if "message" in choice else choice["text"] for choice in choices]


def saying(*texts: str) -> ScriptedBackend:
    """Return a backend that gives each choice the text of its seed."""
    return ScriptedBackend(lambda request, _: speak(request, texts[request.sampling.seed]))


@pytest.mark.parametrize("path", PATHS)
async def test_choices_come_in_the_order_of_the_requests(path: str) -> None:
    """Whichever ends first."""
    response = await post(saying("long " * 20, "short", "middle " * 5), make_call(["a"] * 3), path)

    assert texts_of(response) == ["long " * 20, "short", "middle " * 5]


async def test_choices_run_at_the_same_time() -> None:
    """None waits for another to end."""
    backend = ScriptedBackend(lambda request, _: [Meeting(3, lambda: backend.open), *speak(request, "x")])

    assert texts_of(await post(backend, make_call(["a"] * 3))) == ["x"] * 3


class Meeting(asyncio.Event):
    """Waits until so many are there."""

    def __init__(self, size: int, present: Callable[[], int]) -> None:
        super().__init__()
        self._size = size
        self._present = present

    async def wait(self) -> bool:  # type: ignore[override]
        """Wait for them."""
        await until(lambda: self._present() >= self._size)
        return True


async def test_completion_begins_with_its_echo() -> None:
    """Each text begins with what it is said to, and is verified without it."""
    seen = []

    class Form:
        def verify(self, text: str) -> Verification:
            seen.append(text)
            return Verification.PASS

    call = make_call(["a", "b"], echoes=["a", "b"], answer_format=Form())
    response = await post(saying("1", "2"), call, TEXT_CALLS)

    assert texts_of(response) == ["a1", "b2"]
    assert (response.json()["object"], response.json()["id"]) == ("text_completion", "cmpl-1")
    assert seen == ["1", "2"]


async def test_one_choice_says_nothing_twice() -> None:
    """What a single choice cost is in the usage."""
    assert "diffusion" not in (await post(saying("1"), make_call())).json()["choices"][0]


async def test_several_choices_say_what_each_cost() -> None:
    """Beside the usage of them all."""
    response = await post(saying("1", "12345678"), make_call(["a"] * 2))

    given = {
        "drafted": 0,
        "accepted": 0,
        "accepted_per_round": 0.0,
        "steps_known": True,
        "steps_estimated": False,
        "cap_ignored": False,
        "tokens_known": True,
        "exit_reason": "converged",
        "verify": "skipped",
        "reexpansions": 0,
        "steps_reexpansion": 0,
        "steps_verify": 0,
        "steps_search": 0,
        "search": None,
        "cap_applied": None,
        "bucket": None,
        "task": "default",
        "difficulty": None,
        "budget_source": "model",
        "precision": "float32",
        "control": False,
        "cache": None,
        "quality_level": 0,
    }
    assert [choice["diffusion"] for choice in response.json()["choices"]] == [
        {"steps_used": STEPS, "canvases": 1, **given},
        {"steps_used": 2 * STEPS, "canvases": 2, **given},
    ]
    assert response.headers["x-unmask-steps"] == str(3 * STEPS)


@pytest.mark.parametrize("verdict", Verification)
async def test_verification_is_reported_and_never_an_error(verdict: Verification) -> None:
    """A text of the wrong form is an answer all the same."""

    class Form:
        def verify(self, text: str) -> Verification:
            return verdict

    response = await post(saying("1"), make_call(answer_format=Form()))

    assert response.status_code == 200
    assert response.json()["usage"]["diffusion"]["verify"] == verdict.value


async def test_bucket_and_tier_are_told_where_they_were_asked_for() -> None:
    """And nowhere else."""
    asked = await post(saying("1"), make_call(asked=Asked(bucket=Bucket.XL), service_tier="flex"))
    silent = await post(saying("1"), make_call())

    assert asked.headers["x-unmask-bucket"] == asked.json()["usage"]["diffusion"]["bucket"] == "XL"
    assert asked.json()["service_tier"] == "flex"
    assert "x-unmask-bucket" not in silent.headers
    assert silent.json()["usage"]["diffusion"]["bucket"] is None
    assert "service_tier" not in silent.json()


@pytest.mark.parametrize("at", range(4))
async def test_failure_of_one_choice_ends_all(at: int) -> None:
    """The call fails with the error, whichever choice has it and whenever; the others are stopped."""

    def script(request: Request, _: int) -> list[Line]:
        if request.sampling.seed == 1:
            return [*speak(request, "1234567890")[:at], QueueFullError("late")]
        return [asyncio.Event()]

    backend, running = ScriptedBackend(script), Running(3)
    response = await post(backend, make_call(["a"] * 3), running=running)

    assert (response.status_code, response.json()["error"]["message"]) == (429, "late")
    assert (backend.open, backend.aborted, running.count) == (0, 2, 0)


async def test_call_is_taken_as_a_whole_or_not_at_all() -> None:
    """Without room for every choice none is started."""
    gate = asyncio.Event()
    backend = ScriptedBackend(lambda request, _: [gate, *speak(request, "x")])
    running = Running(4)
    app = app_of(backend, make_call(["a"] * 3), running=running)
    async with client_of(app) as client:
        first = asyncio.create_task(client.post(CHAT_CALLS, json={}))
        await until(lambda: backend.open == 3)
        refused = await client.post(CHAT_CALLS, json={})
        gate.set()
        answered = await first
        later = await client.post(CHAT_CALLS, json={})

    assert (refused.status_code, answered.status_code, later.status_code) == (429, 200, 200)
    assert len(backend.requests) == 6


async def test_call_that_never_fits_is_not_told_to_come_back() -> None:
    """More choices than there will ever be places are the caller's mistake."""
    backend = saying("1")
    response = await post(backend, make_call(["a"] * 3), running=Running(2))

    assert (response.status_code, response.json()["error"]["param"]) == (400, "n")
    assert "at most 2" in response.json()["error"]["message"]
    assert backend.requests == []


async def test_cut_off_ends_every_choice() -> None:
    """A server that waits no longer stops and counts each of them."""
    backend, running = ScriptedBackend(lambda *_: [asyncio.Event()]), Running(3)
    pending = asyncio.create_task(post(backend, make_call(["a"] * 3), running=running))
    await until(lambda: backend.open == 3)
    assert running.cut_off() == 3
    response = await pending

    assert (response.status_code, response.json()["error"]["code"]) == (503, "aborted")
    assert backend.open == 0
