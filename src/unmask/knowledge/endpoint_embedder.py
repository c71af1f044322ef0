"""Vectors from a server that speaks the OpenAI API's ``POST /v1/embeddings``."""

from collections.abc import Sequence

import httpx
import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.knowledge.embedding import Vectors
from unmask.knowledge.retrieval_errors import EmbedderError

LARGEST_BATCH = 256
"""Texts in one request."""


class _Row(BaseModel):
    # Servers add fields of their own, which say nothing about the vectors.
    model_config = ConfigDict(extra="ignore", strict=True)
    index: int
    embedding: list[float | int]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    data: list[_Row]


class EndpointEmbedder:
    """Asks a server for vectors.

    Attributes:
        url: of the API, such as ``http://localhost:8000/v1``; ``/embeddings`` is added to it.
        timeout_s: seconds to connect, and between two pieces of an answer.
    """

    def __init__(self, url: str, model: str, *, key: str | None = None, timeout_s: float = 10.0) -> None:
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(timeout=timeout_s, headers=headers)

    @property
    def name(self) -> str:
        """Return what vectors are kept under."""
        return f"{self._url}#{self._model}"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the server's vectors, normalised.

        Raises:
            EmbedderError: no answer in time, an error status, or not one vector of one length for each text.
        """
        rows: list[list[float | int]] = []
        for start in range(0, len(texts), LARGEST_BATCH):
            rows += self._ask(texts[start : start + LARGEST_BATCH])
        if len({len(row) for row in rows}) > 1 or any(not row for row in rows):
            raise EmbedderError(f"{self._url} returned vectors of different lengths; ask one model only")
        found = np.asarray(rows, np.float32).reshape(len(rows), -1) if rows else np.zeros((0, 1), np.float32)
        if not np.isfinite(found).all():
            raise EmbedderError(f"{self._url} returned numbers that are not finite")
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return (found / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _ask(self, texts: Sequence[str]) -> list[list[float | int]]:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            response = self._client.post(self._url, json=body)
        except httpx.HTTPError as error:
            raise EmbedderError(f"{self._url} did not answer: {type(error).__name__} {error}; is it up?") from error
        if response.status_code != httpx.codes.OK:
            raise EmbedderError(f"{self._url} answered {response.status_code}: {response.text[:200]!r}")
        try:
            answer = _Answer.model_validate_json(response.content)
        except ValidationError as error:
            raise EmbedderError(f"{self._url} answered with something that is no list of embeddings") from error
        rows = {row.index: row.embedding for row in answer.data}
        if sorted(rows) != list(range(len(texts))):
            raise EmbedderError(f"{self._url} returned {len(answer.data)} vectors for {len(texts)} texts")
        return [rows[at] for at in range(len(texts))]
