"""Judges at Amazon Bedrock, by ``InvokeModel`` with the body of the Messages API.

Documented at https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

import orjson

from unmask.gate.judges.envelope import anthropic_body, anthropic_reply
from unmask.gate.judges.errors import JudgeError
from unmask.gate.judges.prompt import JudgePrompt
from unmask.gate.judges.reply import Reply
from unmask.gate.judges.settings import JudgeSettings
from unmask.gate.patience import FaultError

VERSION = "bedrock-2023-05-31"
_BUSY = frozenset({
    "ThrottlingException",
    "TooManyRequestsException",
    "ModelTimeoutException",
    "ModelNotReadyException",
    "ServiceUnavailableException",
    "InternalServerException",
    "ModelErrorException",
})  # fmt: skip


class Runtime(Protocol):
    """What is used of boto3's ``bedrock-runtime`` client; it is called from threads, which it is made for."""

    def invoke_model(self, **request: Any) -> Mapping[str, Any]:  # noqa: ANN401 - boto3 has no types
        """Send one request."""
        ...

    def close(self) -> None:
        """Let go of its connections."""
        ...


class BedrockJudge:
    """A judge at Bedrock.

    Args:
        settings: which judge; its model is Bedrock's id or the ARN of an inference profile.
        runtime: what requests go through.
    """

    def __init__(self, settings: JudgeSettings, runtime: Runtime) -> None:
        self._settings = settings
        self._runtime = runtime

    async def ask(self, prompt: JudgePrompt) -> Reply:
        """Return what it replies; see `JudgeClient`."""
        body = orjson.dumps({"anthropic_version": VERSION, **anthropic_body(self._settings, prompt)})
        return anthropic_reply(await asyncio.to_thread(self._invoke, body))

    async def close(self) -> None:
        """Let go of its connections."""
        self._runtime.close()

    def _invoke(self, body: bytes) -> bytes:
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError  # noqa: PLC0415 - an extra

        try:
            answer = self._runtime.invoke_model(
                modelId=self._settings.model, body=body, contentType="application/json", accept="application/json"
            )
            return bytes(answer["body"].read())
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            said = f"judge {self._settings.name}: {error}"
            if code in _BUSY:
                raise FaultError(said, may_retry=True) from error
            raise JudgeError(f"{said}. Correct its model, region or AWS credentials.") from error
        except NoCredentialsError as error:
            raise JudgeError(
                f"judge {self._settings.name}: {error}. Give AWS credentials as for any AWS tool."
            ) from error
        except BotoCoreError as error:
            raise FaultError(f"judge {self._settings.name}: {error}", may_retry=True) from error


def bedrock_runtime(settings: JudgeSettings) -> Runtime:
    """Return boto3's client for a judge; retries are ours, so that they are bounded and told of.

    Raises:
        JudgeError: boto3 is not installed.
    """
    try:
        import boto3  # noqa: PLC0415 - an extra
        from botocore.config import Config  # noqa: PLC0415
    except ImportError as error:
        raise JudgeError(f"judge {settings.name} needs boto3: pip install 'unmask[aws]'") from error
    client: Runtime = boto3.client(
        "bedrock-runtime",
        region_name=settings.region,
        endpoint_url=settings.url,
        config=Config(
            connect_timeout=settings.timeout_s,
            read_timeout=settings.timeout_s,
            retries={"total_max_attempts": 1},
            max_pool_connections=settings.in_flight,
        ),
    )
    return client
