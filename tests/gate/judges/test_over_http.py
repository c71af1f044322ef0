"""Judges over HTTP, against a real server."""

from random import Random

import pytest

from tests.gate.judges.fake_judge import Answered, serving
from unmask.clock import SystemWallClock
from unmask.gate.judges.errors import JudgeError
from unmask.gate.judges.opening import open_judge
from unmask.gate.judges.prompt import JudgePrompt, judge_prompt
from unmask.gate.judges.reply import Reply, Stop
from unmask.gate.judges.rubric import load_rubric
from unmask.gate.judges.settings import Api, JudgeSettings
from unmask.gate.patience import FaultError
from unmask.testing.worlds import gate_response, gate_scenario, gate_world

SECRET = "sk-very-secret"
APIS = (Api.OPENAI, Api.ANTHROPIC)


def settings(url: str, api: Api, timeout_s: float = 5.0) -> JudgeSettings:
    """Return a judge at an address."""
    return JudgeSettings(
        name="judge",
        api=api,
        model="grader",
        url=url,
        key_env="KEY",
        region=None,
        max_tokens=99,
        token_field="max_tokens",
        temperature=0.5,
        timeout_s=timeout_s,
        in_flight=2,
    )


def prompt() -> JudgePrompt:
    """Return a prompt."""
    scenario = gate_scenario("Where?")
    return judge_prompt(load_rubric().criteria[1], scenario, gate_world(), gate_response("Here."), Random(0))


async def asked(url: str, api: Api, timeout_s: float = 5.0) -> Reply:
    """Ask once."""
    judge = open_judge(settings(url, api, timeout_s), {"KEY": SECRET}, SystemWallClock())
    try:
        return await judge.ask(prompt())
    finally:
        await judge.close()


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stop", Stop)
async def test_both_apis_tell_the_text_and_why_it_ended(api: Api, stop: Stop) -> None:
    """Truncation and refusal are told apart from an end."""
    with serving(lambda _: Answered(text="나쁘지 않다", stop=stop.value)) as server:
        assert await asked(server.url, api) == Reply(text="나쁘지 않다", stop=stop)


@pytest.mark.parametrize(
    ("api", "path", "header"),
    [
        (Api.OPENAI, "/v1/chat/completions", ("authorization", f"Bearer {SECRET}")),
        (Api.ANTHROPIC, "/v1/messages", ("x-api-key", SECRET)),
    ],
)
async def test_requests_are_what_the_apis_take(api: Api, path: str, header: tuple[str, str]) -> None:
    """Path, key, model, tokens and temperature."""
    with serving(lambda _: Answered()) as server:
        await asked(server.url, api)

    (at, headers, body) = server.asked[0]
    assert at == path
    assert headers[header[0]] == header[1]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("grader", 99, 0.5)
    assert SECRET not in str(body)
    if api is Api.ANTHROPIC:
        assert headers["anthropic-version"] == "2023-06-01"
        assert "between a line" in body["system"]


@pytest.mark.parametrize("api", APIS)
async def test_busy_servers_are_tried_again_when_they_say(api: Api) -> None:
    """429 and 5xx are faults of the infrastructure, with when to come back."""
    answered = Answered(status=429, headers=(("retry-after", "7"),))
    with serving(lambda _: answered) as server, pytest.raises(FaultError) as caught:
        await asked(server.url, api)

    assert (caught.value.may_retry, caught.value.after_s) == (True, 7.0)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 301])
async def test_refused_requests_are_errors_and_do_not_show_the_key(status: int) -> None:
    """A wrong key must not leave everything unscored with exit code 0; nor be printed where a server echoes it."""
    raw = f"bad key {SECRET}".encode()
    with serving(lambda _: Answered(status=status, raw=raw)) as server, pytest.raises(JudgeError) as caught:
        await asked(server.url, Api.OPENAI)

    assert str(status) in caught.value.message
    assert SECRET not in caught.value.message


@pytest.mark.parametrize("raw", [b"<html>proxy</html>", b"{}", b'{"choices": []}'])
@pytest.mark.parametrize("api", APIS)
async def test_what_is_no_answer_of_the_api_is_a_fault(api: Api, raw: bytes) -> None:
    """A proxy's page is nobody's vote."""
    with serving(lambda _: Answered(raw=raw)) as server, pytest.raises(FaultError):
        await asked(server.url, api)


async def test_nobody_there_is_a_fault() -> None:
    """A closed port may open again."""
    with serving(lambda _: Answered()) as server:
        url = server.url

    with pytest.raises(FaultError) as caught:
        await asked(url, Api.OPENAI)
    assert caught.value.may_retry
