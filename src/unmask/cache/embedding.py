"""Which embedder compares a text, and how alike two texts have to be by its vectors."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import orjson

from unmask.cache.entry import Meaning
from unmask.cache.guard import tokens_of
from unmask.clock import Clock
from unmask.errors import UnmaskError
from unmask.knowledge.embedding import Embedder, default_embedder

LONGEST_COMPARED = 4_000
"""Characters of a text that is compared by its vector; longer ones are found by the very same words only."""
RETRY_S = 10.0
"""Seconds for which an embedder that has failed is left alone."""
THREADS = 4

_LOG = logging.getLogger(__name__)
_THRESHOLDS = Path(__file__).parent / "thresholds.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A text that can be compared: its meaning, and the cosine from which on another one is alike."""

    meaning: Meaning
    least: float


class Embeddings(Protocol):
    """Makes texts comparable; asked on the event loop, which it never holds up for long."""

    async def compared(self, text: str) -> Compared | None:
        """Return a text as it is compared; nothing where it cannot be at present, or is too long."""
        ...

    @property
    def is_up(self) -> bool:
        """Whether the last text was embedded."""
        ...

    @property
    def failures(self) -> int:
        """Times that there was no vector to be had."""
        ...

    def close(self) -> None:
        """Let go of threads and connections."""
        ...


@cache
def thresholds() -> Mapping[str, float]:
    """Return the calibrated cosine by embedder; see `unmask.cache.calibrate`."""
    found: Mapping[str, float] = orjson.loads(_THRESHOLDS.read_bytes())["thresholds"]
    return found


class OfflineEmbeddings:
    """Word vectors for texts in ASCII, where they are installed, and character n-grams for all others.

    ``least`` stands in for the calibrated cosines.
    """

    def __init__(self, least: float | None = None) -> None:
        self._english = default_embedder("en").embedder
        self._other = default_embedder("").embedder
        self._least = least
        self._thresholds = thresholds()

    async def compared(self, text: str) -> Compared | None:
        """Return a text with its vector, made at once."""
        if len(text) > LONGEST_COMPARED:
            return None
        embedder = self._english if text.isascii() else self._other
        least = self._thresholds[embedder.name] if self._least is None else self._least
        return Compared(meaning=_meaning(embedder, text), least=least)

    @property
    def is_up(self) -> bool:
        """There is nothing that could be down."""
        return True

    @property
    def failures(self) -> int:
        """There are none."""
        return 0

    def close(self) -> None:
        """There is nothing to let go of."""


class ServerEmbeddings:
    """Vectors of a server, asked for in threads; while it does not answer, texts are not compared.

    Args:
        embedder: asks it, and gives up by itself.
        least: cosine from which on texts are alike.
        clock: of waiting before it is asked again.
        close: lets go of its connections.
    """

    def __init__(
        self,
        embedder: Embedder,
        least: float,
        clock: Clock,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._embedder = embedder
        self._least = least
        self._clock = clock
        self._failures = 0
        self._close = close
        self._down_since: float | None = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="unmask-embeddings")

    async def compared(self, text: str) -> Compared | None:
        """Return a text with its vector, or nothing while there are none to be had."""
        if len(text) > LONGEST_COMPARED or not self._may_ask():
            return None
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, _meaning, self._embedder, text)
        except UnmaskError as error:
            self._note_failure(error)
            return None
        self._down_since = None
        return Compared(meaning=found, least=self._least)

    @property
    def is_up(self) -> bool:
        """Whether the server answered when it was last asked."""
        return self._down_since is None

    @property
    def failures(self) -> int:
        """Times that the server did not answer, or not with a vector."""
        return self._failures

    def close(self) -> None:
        """Let go of threads and connections."""
        self._threads.shutdown(cancel_futures=True)
        self._close()

    def _may_ask(self) -> bool:
        """Tell whether the server may be asked; one that was down is asked by one request after a while."""
        now = self._clock.now()
        if self._down_since is None:
            return True
        if now - self._down_since < RETRY_S:
            return False
        self._down_since = now
        return True

    def _note_failure(self, error: UnmaskError) -> None:
        if self._down_since is None:
            _LOG.warning("answers are looked up by the very same words only: %s", error)
        self._down_since = self._clock.now()
        self._failures += 1


def _meaning(embedder: Embedder, text: str) -> Meaning:
    return Meaning(embedder=embedder.name, vector=embedder.embed([text])[0], tokens=tokens_of(text))
