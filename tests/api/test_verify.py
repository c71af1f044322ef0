"""Verified answers and further attempts over HTTP."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.api.client import CHAT, chat_body, client_of, json_schema, make_app
from tests.api.sse_events import parse_stream
from unmask.api.event_stream import StreamPace
from unmask.backend import DoneEvent, Event, Request
from unmask.control.parts import ControlParts
from unmask.policy.policy import AtCap
from unmask.testing.budget_policies import make_class_policy, make_task_policy
from unmask.testing.policies import FakePolicies, make_active
from unmask.testing.scripted_backend import Line, ScriptedBackend
from unmask.testing.speech import STEPS, speak
from unmask.types import ExitReason

NUMBER = {"kind": "numeric", "minimum": 10}


class Site:
    """An application whose backend gives one answer after the other, the last of them for ever."""

    def __init__(self, *texts: str, policy: bool = True, silent_s: float = 0.0, **changes: Any) -> None:  # noqa: ANN401 - any field of the class
        self._texts = texts
        self._silent_s = silent_s
        self.backend = ScriptedBackend(self._script)
        service_class = make_class_policy(max_steps=16, **changes)
        active = make_active(make_task_policy("sort"), difficulty=None, classes=(service_class,)) if policy else None
        parts = ControlParts(policies=FakePolicies(active))
        self.app = make_app(self.backend, parts=parts, pace=StreamPace(comment_s=0.02))

    def _script(self, request: Request, number: int) -> Sequence[Line]:
        text = self._texts[min(number, len(self._texts) - 1)]
        return [*([self._silent_s] if self._silent_s else []), *self.events(request, text)]

    def events(self, request: Request, text: str) -> list[Event]:
        """Return what is said of a request."""
        return speak(request, text)

    async def chat(self, content: str = "go", *, verify: Sequence[object] = (), **changes: Any) -> httpx.Response:  # noqa: ANN401 - any field
        """Send a chat request."""
        options = changes.pop("diffusion", {}) | ({"verify": list(verify)} if verify else {})
        body = chat_body(messages=[{"role": "user", "content": content}], diffusion=options, **changes)
        async with client_of(self.app) as client:
            return await client.post(CHAT, json=body)


def spent(response: httpx.Response) -> dict[str, Any]:
    """Return what an answer says it cost in steps."""
    assert response.status_code == 200, response.text
    return dict(response.json()["usage"]["diffusion"])


def text_of(response: httpx.Response) -> str:
    """Return the text of an answer."""
    return str(response.json()["choices"][0]["message"]["content"])


async def test_failed_answer_is_expanded_and_the_cost_is_told() -> None:
    """The client gets the attempt that passes, with the steps of both."""
    site = Site("7", "12")
    response = await site.chat(verify=[NUMBER])
    found = spent(response)

    assert text_of(response) == "12"
    assert (found["verify"], found["reexpansions"], found["steps_reexpansion"]) == ("pass", 1, STEPS)
    assert (found["steps_used"], found["steps_verify"], found["cap_applied"]) == (2 * STEPS, 0, None)
    assert response.headers["x-unmask-steps"] == str(2 * STEPS)
    assert [request.budget.max_steps for request in site.backend.requests if request.budget] == [8, 16]


async def test_best_attempt_is_answered_where_all_fail() -> None:
    """The limit that was met is named."""
    site = Site("7", "8")
    found = spent(await site.chat(verify=[NUMBER]))

    assert (found["verify"], found["reexpansions"], found["cap_applied"]) == ("fail", 1, "re_expansions")
    assert len(site.backend.requests) == 2


async def test_without_a_policy_answers_are_verified_and_stand() -> None:
    """Further attempts are a class's to allow."""
    site = Site("7", "12", policy=False)
    found = spent(await site.chat(verify=[NUMBER]))

    assert (found["verify"], found["reexpansions"], found["policy"]) == ("fail", 0, "fixed")
    assert len(site.backend.requests) == 1


async def test_task_types_own_verifier_is_asked() -> None:
    """Where the client names the task type; one that cannot read the request has nothing to say."""
    site = Site("3, 1", "1, 3")
    sort = spent(await site.chat("sort 3 , 1", diffusion={"task": "sort"}))
    unread = spent(await Site("3, 1").chat("hello", diffusion={"task": "sort"}))

    assert (sort["verify"], sort["reexpansions"]) == ("pass", 1)
    assert (unread["verify"], unread["reexpansions"]) == ("skipped", 0)


async def test_client_switches_further_attempts_off() -> None:
    """By number, or by a stream that sends what it cannot take back."""
    none = spent(await Site("7", "12").chat(verify=[NUMBER], diffusion={"max_reexpansions": 0}))
    assert (none["verify"], none["reexpansions"]) == ("fail", 0)

    for kind in ("committed", "snapshots"):
        site = Site("7", "12")
        response = await site.chat(
            verify=[NUMBER], stream=True, diffusion={"stream": kind}, stream_options={"include_usage": True}
        )
        found = parse_stream(response.content)
        assert found.text() == "7"
        assert found.chunks[-1]["usage"]["diffusion"]["verify"] == "fail"
        assert len(site.backend.requests) == 1


async def test_stream_holds_accepted_text_by_default() -> None:
    """Nothing of an attempt that failed; comments keep the connection alive meanwhile."""
    site = Site("7", "12", silent_s=0.05)
    response = await site.chat(verify=[NUMBER], stream=True, stream_options={"include_usage": True})
    found = parse_stream(response.content)

    assert found.text() == "12"
    assert found.done
    assert b": still working" in response.content
    assert found.chunks[-1]["usage"]["diffusion"]["reexpansions"] == 1


async def test_stream_without_a_verifier_comes_canvas_by_canvas() -> None:
    """There is nothing that could be taken back."""
    found = parse_stream((await Site("123456").chat(stream=True)).content)

    assert sum(bool(chunk["choices"][0]["delta"].get("content")) for chunk in found.chunks) == 2


async def test_verified_stream_may_be_asked_for() -> None:
    """Also where nothing would be attempted again."""
    response = await Site("123456", policy=False).chat(stream=True, diffusion={"stream": "verified"})
    found = parse_stream(response.content)

    assert found.text() == "123456"
    assert sum(bool(chunk["choices"][0]["delta"].get("content")) for chunk in found.chunks) == 1


async def test_log_probabilities_are_those_asked_for() -> None:
    """That an answer may be reopened is no reason to send them."""
    site = Site('{"a": 1', '{"a": 1}')
    silent = await site.chat(**json_schema({"type": "object"}))
    asked = await Site('{"a": 1', '{"a": 1}').chat(**json_schema({"type": "object"}), logprobs=True)

    assert site.backend.requests[0].top_logprobs == 0
    assert silent.json()["choices"][0]["logprobs"] is None
    assert len(asked.json()["choices"][0]["logprobs"]["content"]) == len('{"a": 1}')


async def test_class_that_fails_at_its_cap_says_what_was_spent() -> None:
    """422 with the usage of all attempts; on a stream an error event in place of its end."""
    whole = await Site("7", "8", at_cap=AtCap.FAIL).chat(verify=[NUMBER])
    late = Site("7", "8", silent_s=0.05, at_cap=AtCap.FAIL)
    stream = parse_stream((await late.chat(verify=[NUMBER], stream=True)).content)

    assert whole.status_code == 422
    assert whole.json()["error"]["code"] == "verification_failed"
    assert whole.json()["error"]["param"] == "diffusion.max_reexpansions"
    usage = whole.json()["usage"]
    assert (usage["diffusion"]["steps_used"], usage["diffusion"]["cap_applied"]) == (2 * STEPS, "re_expansions")
    assert stream.events[-1].value["usage"] == usage
    assert stream.text() == ""
    assert not stream.done


async def test_late_failure_of_a_stream_is_an_error_event() -> None:
    """What was sent stands, and no end follows."""

    class Unconverged(Site):
        def events(self, request: Request, text: str) -> list[Event]:
            *events, done = super().events(request, text)
            assert isinstance(done, DoneEvent)
            spent = replace(done.generation.usage, exit_reason=ExitReason.MAX_STEPS)
            return [*events, DoneEvent(generation=replace(done.generation, usage=spent))]

    site = Unconverged("12", at_cap=AtCap.FAIL)
    found = parse_stream((await site.chat(stream=True)).content)

    assert found.events[-1].value["error"]["code"] == "budget_spent"
    assert found.events[-1].value["usage"]["diffusion"]["cap_applied"] == "max_steps"
    assert not found.done


async def test_samples_are_booked_apart() -> None:
    """They are no further attempts, and cost steps all the same."""
    site = Site("7")
    found = spent(await site.chat(verify=[{"kind": "self_consistency", "samples": 3}]))

    assert (found["verify"], found["steps_verify"], found["reexpansions"]) == ("pass", 3 * STEPS, 0)
    assert found["steps_used"] == 4 * STEPS
    assert len({request.sampling.seed for request in site.backend.requests[1:]}) == 3


@pytest.mark.parametrize(
    ("verify", "param"),
    [
        ([], "diffusion.verify"),
        ([NUMBER] * 9, "diffusion.verify"),
        ([{"kind": "python"}], "diffusion.verify[0]"),
        (["regex"], "diffusion.verify[0]"),
        ([NUMBER, {"kind": "regex"}], "diffusion.verify[1].pattern"),
        ([{"kind": "regex", "pattern": "(?=a)"}], "diffusion.verify[0].pattern"),
        ([{"kind": "regex", "pattern": "a" * 4097}], "diffusion.verify[0].pattern"),
        ([{"kind": "regex", "pattern": "a", "flags": "i"}], "diffusion.verify[0].flags"),
        ([{"kind": "numeric", "minimum": 3, "maximum": 2}], "diffusion.verify[0].maximum"),
        ([{"kind": "numeric", "minimum": "3"}], "diffusion.verify[0].minimum"),
        ([{"kind": "length"}], "diffusion.verify[0]"),
        ([{"kind": "length", "unit": "pages", "maximum": 1}], "diffusion.verify[0].unit"),
        ([{"kind": "length", "maximum": -1}], "diffusion.verify[0].maximum"),
        ([{"kind": "constraint", "order": "as_given"}], "diffusion.verify[0].order"),
        ([{"kind": "constraint", "same_items": ["a,b"]}], "diffusion.verify[0].same_items"),
        ([{"kind": "constraint", "same_items": [""]}], "diffusion.verify[0].same_items[0]"),
        ([{"kind": "constraint", "min_items": 3, "max_items": 2}], "diffusion.verify[0].max_items"),
        ([{"kind": "facts"}], "diffusion.verify[0]"),
        ([{"kind": "facts", "required": []}], "diffusion.verify[0].required"),
        ([{"kind": "self_consistency", "samples": 2, "agree": 3}], "diffusion.verify[0].agree"),
        ([{"kind": "self_consistency", "samples": 9}], "diffusion.verify[0].samples"),
        ([{"kind": "self_consistency"}] * 2, "diffusion.verify[1]"),
    ],
)
async def test_verifiers_that_make_no_sense_are_refused(verify: list[object], param: str) -> None:
    """By the name of the field, before anything is generated."""
    site = Site("7")
    response = await site.chat(diffusion={"verify": verify})

    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert site.backend.requests == []


@pytest.mark.parametrize(
    ("changes", "policy"),
    [
        ({"diffusion": {"max_reexpansions": 2}}, True),
        ({"diffusion": {"max_reexpansions": 1}}, False),
        ({"diffusion": {"max_reexpansions": 1, "stream": "committed"}, "stream": True}, True),
        ({"diffusion": {"max_reexpansions": 17}}, True),
        ({"diffusion": {"max_reexpansions": "1"}}, True),
    ],
)
async def test_attempts_beyond_the_class_are_refused(changes: dict[str, Any], *, policy: bool) -> None:
    """As steps beyond it are."""
    response = await Site("7", policy=policy).chat(verify=[NUMBER], **changes)

    assert (response.status_code, response.json()["error"]["param"]) == (400, "diffusion.max_reexpansions")
