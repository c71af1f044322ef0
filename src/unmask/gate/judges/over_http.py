"""Judges that are spoken to over HTTP: the APIs of OpenAI and of Anthropic."""

from collections.abc import Callable, Mapping
from typing import assert_never

import httpx

from unmask.clock import WallClock
from unmask.gate.judges.envelope import anthropic_body, anthropic_reply, openai_body, openai_reply
from unmask.gate.judges.errors import JudgeError
from unmask.gate.judges.prompt import JudgePrompt
from unmask.gate.judges.reply import Reply
from unmask.gate.judges.settings import Api, JudgeSettings
from unmask.gate.patience import FaultError
from unmask.remote.key import Key
from unmask.remote.retrying import retry_after_s

ANTHROPIC_VERSION = "2023-06-01"
LARGEST_REPLY = 4 << 20
LONGEST_EXCERPT = 200
_BUSY = frozenset({408, 409, 425, 429})


class HttpJudge:
    """A judge over HTTP. The key goes into a header and nowhere else.

    Args:
        settings: which judge; of the OpenAI or Anthropic API.
        key: empty where it wants none.
        clock: the time of day, which servers may tell by when to come back.
    """

    def __init__(self, settings: JudgeSettings, key: Key, clock: WallClock) -> None:
        self._settings = settings
        self._key = key
        self._clock = clock
        self._path, self._headers, self._body, self._read = _speech(settings, key)
        self._client = httpx.AsyncClient(base_url=(settings.url or "").rstrip("/"), timeout=settings.timeout_s)

    async def ask(self, prompt: JudgePrompt) -> Reply:
        """Return what it replies; see `JudgeClient`."""
        try:
            answer = await self._client.post(self._path, json=self._body(prompt), headers=dict(self._headers))
        except httpx.HTTPError as error:
            raise FaultError(f"{type(error).__name__}: {self._key.hidden_in(str(error))}", may_retry=True) from error
        if answer.is_success:
            if len(answer.content) > LARGEST_REPLY:
                raise FaultError(f"a reply of {len(answer.content)} bytes", may_retry=False)
            return self._read(answer.content)
        excerpt = self._key.hidden_in(" ".join(answer.text[:LONGEST_EXCERPT].split()))
        said = f"judge {self._settings.name} answers {answer.status_code}: {excerpt}"
        if answer.status_code in _BUSY or answer.is_server_error:
            after_s = retry_after_s(answer.headers.get("retry-after"), self._clock.time())
            raise FaultError(said, may_retry=True, after_s=after_s)
        raise JudgeError(f"{said}. Correct its url, model or key in the judge file.")

    async def close(self) -> None:
        """Let go of its connections."""
        await self._client.aclose()


def _speech(
    settings: JudgeSettings, key: Key
) -> tuple[str, Mapping[str, str], Callable[[JudgePrompt], dict[str, object]], Callable[[bytes], Reply]]:
    """Return path, headers, and how bodies are written and answers read."""
    match settings.api:
        case Api.OPENAI:
            return "/v1/chat/completions", key.headers(), lambda prompt: openai_body(settings, prompt), openai_reply
        case Api.ANTHROPIC:
            headers = {**key.as_header("x-api-key"), "anthropic-version": ANTHROPIC_VERSION}
            return (
                "/v1/messages",
                headers,
                lambda prompt: {"model": settings.model, **anthropic_body(settings, prompt)},
                anthropic_reply,
            )
        case Api.BEDROCK:
            raise ValueError("Bedrock is not spoken to like this")
        case _:
            assert_never(settings.api)
