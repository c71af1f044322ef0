"""Judges at Bedrock, through boto3 against a real local server."""

import sys
from random import Random

import pytest

from tests.gate.judges.fake_judge import Answered, serving
from unmask.clock import SystemWallClock
from unmask.gate.judges.errors import JudgeError
from unmask.gate.judges.opening import open_judge
from unmask.gate.judges.prompt import judge_prompt
from unmask.gate.judges.reply import Reply, Stop
from unmask.gate.judges.rubric import load_rubric
from unmask.gate.judges.settings import Api, JudgeSettings
from unmask.gate.patience import FaultError
from unmask.testing.worlds import gate_response, gate_scenario, gate_world


def settings(url: str) -> JudgeSettings:
    """Return a judge at Bedrock, at an address of ours."""
    return JudgeSettings(
        name="aws",
        api=Api.BEDROCK,
        model="anthropic.claude",
        url=url,
        key_env=None,
        region="ap-northeast-2",
        max_tokens=99,
        token_field="max_tokens",
        temperature=None,
        timeout_s=5.0,
        in_flight=2,
    )


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")


async def asked(url: str) -> Reply:
    """Ask once."""
    judge = open_judge(settings(url), {}, SystemWallClock())
    scenario = gate_scenario("Where?")
    prompt = judge_prompt(load_rubric().criteria[1], scenario, gate_world(), gate_response("Here."), Random(0))
    try:
        return await judge.ask(prompt)
    finally:
        await judge.close()


async def test_a_model_is_invoked_with_the_body_of_the_messages_api() -> None:
    """The model is in the path, signed by AWS's own credentials."""
    with serving(lambda _: Answered(text="fine", stop="length")) as server:
        assert await asked(server.url) == Reply(text="fine", stop=Stop.LENGTH)

    (path, headers, body) = server.asked[0]
    assert path == "/model/anthropic.claude/invoke"
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256")
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert set(body) == {"anthropic_version", "max_tokens", "system", "messages"}


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (429, "ThrottlingException", FaultError),
        (503, "ServiceUnavailableException", FaultError),
        (403, "AccessDeniedException", JudgeError),
        (400, "ValidationException", JudgeError),
    ],
)
async def test_errors_are_faults_or_mistakes_of_whoever_set_it_up(
    status: int, code: str, error: type[Exception]
) -> None:
    """Throttling is tried again by us; what is refused is not."""
    answered = Answered(status=status, headers=(("x-amzn-errortype", code),), raw=b'{"message": "no"}')
    with serving(lambda _: answered) as server, pytest.raises(error):
        await asked(server.url)

    assert len(server.asked) == 1


def test_without_boto3_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "boto3", None)

    with pytest.raises(JudgeError, match=r"unmask\[aws\]"):
        open_judge(settings("http://127.0.0.1:1"), {}, SystemWallClock())
