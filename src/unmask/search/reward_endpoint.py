"""A reward endpoint over HTTP.

It is sent ``{"messages": [{"role", "content"}, ...], "candidates": [text, ...]}`` by POST, and answers
``{"scores": [number, ...]}``, one for each candidate in their order, the better the higher.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unmask.remote.address import CheckedTransport
from unmask.remote.errors import UpstreamError
from unmask.remote.key import Key
from unmask.search.reward import RewardEnd, RewardError
from unmask.types import Message

NAME = "reward"
"""What errors of its address call it."""
LARGEST_ANSWER = 65_536
"""Bytes."""
LONGEST_EXCERPT = 200


class _Scores(BaseModel):
    # Servers add fields of their own, which say nothing of the answers.
    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="ignore", frozen=True)

    scores: list[Annotated[float, Field(allow_inf_nan=False)]]


class RewardEndpoint:
    """Asks an endpoint how good answers are. Whoever calls it sets the time that it has.

    Args:
        url: where it is asked; redirects are not followed, nor are proxies of the environment used.
        key: what it is sent to be let in.
        transport: makes the connections; by default one that refuses link-local and metadata addresses.
    """

    def __init__(self, url: str, key: Key, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url = url
        self._key = key
        inner = httpx.AsyncHTTPTransport(trust_env=False)
        self._client = httpx.AsyncClient(
            transport=transport or CheckedTransport(NAME, inner, allow_link_local=False),
            headers={"user-agent": "unmask", "accept-encoding": "identity", **key.headers()},
            timeout=httpx.Timeout(None),
            follow_redirects=False,
            trust_env=False,
        )

    async def __call__(self, messages: Sequence[Message], texts: Sequence[str]) -> Sequence[float]:
        """Return the score of each text.

        Raises:
            RewardError: it cannot be reached, answers with an error, or with something that is no list of scores.
        """
        body = {
            "messages": [{"role": one.role.value, "content": one.content} for one in messages],
            "candidates": list(texts),
        }
        try:
            async with self._client.stream("POST", self._url, json=body) as response:
                content = await _start_of(response)
        except (httpx.HTTPError, httpx.StreamError, UpstreamError) as error:
            said = self._key.hidden_in(str(error) or type(error).__name__)
            raise RewardError(RewardEnd.FAILED, f"cannot be asked: {said}") from error
        if response.status_code != httpx.codes.OK:
            excerpt = self._key.hidden_in(content.decode("utf-8", "replace"))[:LONGEST_EXCERPT]
            raise RewardError(RewardEnd.FAILED, f"answers {response.status_code}: {excerpt!r}")
        try:
            return _Scores.model_validate_json(content).scores
        except ValidationError as error:
            raise RewardError(RewardEnd.NONSENSE, "answers with something that is no list of scores") from error

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.aclose()


async def _start_of(response: httpx.Response) -> bytes:
    """Return an answer's body; of one that is too long the beginning, which is no JSON."""
    content = b""
    async for piece in response.aiter_raw():
        content += piece
        if len(content) > LARGEST_ANSWER:
            break
    return content[:LARGEST_ANSWER]
