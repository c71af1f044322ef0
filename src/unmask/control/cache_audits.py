"""Hits that were generated again: on record, and what they say of the answers that were not."""

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from unmask.cache.cache import Match
from unmask.control.journal import Journal, Read
from unmask.stats import IntervalResult, wilson

AUDITS = "audits"

_LOG = logging.getLogger(__name__)


class AuditResult(StrEnum):
    """What the cache's answer is beside the one generated again.

    ``same``: word for word. ``accepted``: another text, and the request's verifiers pass both. ``false``: another
    text that nobody vouches for.
    """

    SAME = "same"
    ACCEPTED = "accepted"
    FALSE = "false"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAudit:
    """A hit that was generated again. It was answered with the new text.

    Attributes:
        time: seconds since 1970.
        entry: id of what the cache would have answered with.
        match: how that was found, ``similarity`` and ``age_s`` with it.
        asked, kept_question: the request's question and the one that was answered before.
        answer, kept_answer: the new text and the one that was kept.
    """

    time: float
    request_id: str
    entry: str
    model: str
    tenant: str
    match: Match
    similarity: float
    age_s: float
    result: AuditResult
    asked: str
    kept_question: str
    answer: str
    kept_answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseHits:
    """What comparisons say of the hits of one kind.

    Attributes:
        compared: hits that were generated again.
        accepted: of these, other texts that verifiers pass as well.
        false: of these, other texts that nobody vouches for.
        rate: of false ones, with its Wilson interval.
    """

    match: Match
    compared: int
    accepted: int
    false: int
    rate: IntervalResult


class AuditBook:
    """Writes comparisons into a folder, in a thread of its own; what cannot be written is lost, and said once."""

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder=folder, name=AUDITS)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="unmask-cache-audits")
        self._failing = False

    def keep(self, audit: CacheAudit) -> None:
        """Write a comparison, later."""
        self._thread.submit(self._write, audit)

    def close(self) -> None:
        """Write what waits, and stop."""
        self._thread.shutdown()

    def _write(self, audit: CacheAudit) -> None:
        try:
            self._journal.append(orjson.dumps(audit))
            self._failing = False
        except OSError as error:
            if not self._failing:
                _LOG.warning("comparisons of cached answers are lost, requests go on: %s", error)
            self._failing = True


def read_audits(folder: Path) -> Read[CacheAudit]:
    """Read all comparisons of a folder.

    Raises:
        OSError: a file is there and cannot be read.
    """
    return Journal(folder=folder, name=AUDITS).read(_adapter())


def false_hits(audits: Iterable[CacheAudit]) -> tuple[FalseHits, ...]:
    """Return what comparisons say of exact and of semantic hits."""
    records = tuple(audits)
    return tuple(_of(match, [audit.result for audit in records if audit.match is match]) for match in HITS)


HITS = (Match.EXACT, Match.SEMANTIC)


def _of(match: Match, results: list[AuditResult]) -> FalseHits:
    false = results.count(AuditResult.FALSE)
    return FalseHits(
        match=match,
        compared=len(results),
        accepted=results.count(AuditResult.ACCEPTED),
        false=false,
        rate=wilson(false, len(results)),
    )


@cache
def _adapter() -> TypeAdapter[CacheAudit]:
    return TypeAdapter(CacheAudit)
