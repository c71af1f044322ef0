"""Answers from the cache: which requests may have one, what is kept, and what is generated again to compare."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import sha256

import orjson

from unmask.backend import Generation, ModelInfo, Request, Timing, Usage
from unmask.cache.cache import AnswerCache, Found, Match
from unmask.cache.entry import Entry, Question, Scope
from unmask.cache.flights import Flights
from unmask.clock import Clock
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, Cap
from unmask.control.asked import Asked, CacheUse
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.cache_audits import AuditBook, AuditResult, CacheAudit
from unmask.control.check import HeldTo
from unmask.control.quality import LEVELS
from unmask.control.sources import ActivePolicy
from unmask.control.verdict import Verdict
from unmask.metrics.cache import CacheInstruments
from unmask.search.running import Limit
from unmask.service import ClassTerms
from unmask.tasks.formats import JsonSchema
from unmask.tasks.patterns import Pattern
from unmask.types import Bucket, FinishReason, Outcome, Verification

_SIZES = tuple(Bucket)
VERIFIER = "verifier"
"""What keeps an answer out that the request's verifiers fail."""
LONGEST_WAIT_S = 10.0
"""Longest wait for the answer to the same request, in seconds."""

Elsewhere = Callable[[], AbstractContextManager[None]]
"""Makes what a wait that is none of this server's own work takes place in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the cache had for a request.

    Attributes:
        answered: the answer, if it is given from the cache.
        checked: what was found and is generated again all the same, to compare.
    """

    found: Found
    answered: Answered | None = None
    checked: Found | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheParts:
    """What answers from a cache are given by.

    Attributes:
        cache: holds them.
        audit_share: of hits that are generated again, from 0 to 1.
        draw: uniform numbers from 0 up to but without 1, of which these are drawn.
        book: where comparisons are written down.
    """

    cache: AnswerCache
    audit_share: float
    draw: Callable[[], float]
    book: AuditBook

    def close(self) -> None:
        """Write what waits, and let go of threads and connections."""
        self.cache.close()
        self.book.close()


class CachedAnswers:
    """Looks for answers before they are generated, and keeps those that may be given again.

    Args:
        parts: what it goes by.
        instruments: told of what is found.
        clock: of generations' times.
        now: seconds since 1970, for records.
    """

    def __init__(
        self, parts: CacheParts, instruments: CacheInstruments, clock: Clock, now: Callable[[], float]
    ) -> None:
        self._parts = parts
        self._cache = parts.cache
        self._flights = Flights()
        self._instruments = instruments
        self._clock = clock
        self._now = now

    @asynccontextmanager
    async def looking(self, admitted: Admitted, elsewhere: Elsewhere | None = None) -> AsyncIterator[Looked | None]:
        """Look for the answer to a request, which is made within the block where there is none.

        The very same request that comes meanwhile waits for that answer in place of making it, once, and for no longer
        than it can spare; if it has none then it makes its own.

        Args:
            admitted: the request.
            elsewhere: around the wait for somebody else's answer; ``None``: this one does not wait.

        Yields:
            What the cache has for it; nothing where the request may have no answer from there.
        """
        question, use = admitted.question, admitted.cache_use
        if question is None:
            yield None
            return
        # Whoever allows no age at all wants an answer of its own.
        may_wait = elsewhere is not None and use.may_read and use.max_age_s != 0
        if elsewhere is not None and may_wait and self._flights.is_flying(question):
            with elsewhere():
                await self._flights.landed(question, _spare_s(admitted.request.terms))
            self._instruments.waited(admitted.model.name)
        looked = await self._look(admitted, question)
        if looked.answered is not None or not use.may_store or not _is_due(admitted):
            yield looked
            return
        with self._flights.flying(question):
            yield looked

    async def _look(self, admitted: Admitted, question: Question) -> Looked:
        """Look once; an answer that its verifiers fail, as they are asked now, is none unless it had failed before."""
        use = admitted.cache_use
        if not use.may_read:
            return Looked(found=Found(match=Match.MISS))
        found = await self._cache.find(question, max_age_s=use.max_age_s)
        answered = None if found.entry is None else self._answer(admitted, found, found.entry)
        if found.entry is not None and answered is None:
            found = Found(match=Match.MISS, meaning=found.meaning)
            self._instruments.kept_out(VERIFIER)
        elif found.kept_out is not None:
            self._instruments.kept_out(found.kept_out)
        model = admitted.model.name
        if answered is not None and self._parts.draw() < self._parts.audit_share:
            self._instruments.looked_up(model, Match.MISS)
            return Looked(found=Found(match=Match.MISS, meaning=found.meaning), checked=found)
        self._instruments.looked_up(model, found.match)
        if answered is not None and found.entry is not None:
            self._cache.store.used(found.entry)
        return Looked(found=found, answered=answered)

    def notes(self) -> tuple[str, ...]:
        """Say what whoever runs the server should know."""
        if self._cache.is_embedder_up:
            return ()
        return ("the cache's embedder does not answer: answers are found by the very same words only",)

    def keep(self, admitted: Admitted, looked: Looked, answered: Answered, request_id: str) -> None:
        """Keep an answer that may be given again, and compare it with what the cache would have answered."""
        if looked.checked is not None and looked.checked.entry is not None:
            self._compare(admitted, looked.checked, looked.checked.entry, answered, request_id)
        question = admitted.question
        if question is not None and admitted.cache_use.may_store and _may_be_kept(admitted, answered):
            verification = answered.verdict.verification
            # What has failed is given to the same words alone: others may have an answer that does not.
            meaning = None if verification is Verification.FAIL else looked.found.meaning
            self._cache.put(question, _kept(answered.generation), verification, meaning, model=answered.model)

    def _answer(self, admitted: Admitted, found: Found, entry: Entry) -> Answered | None:
        verdict = Verdict(passed=int(entry.verification is Verification.PASS))
        if admitted.check is not None:
            verdict = admitted.check.verdict(entry.generation.text)
        if bool(verdict.failures) is not (entry.verification is Verification.FAIL):
            return None
        now = self._clock.now()
        timing = Timing(arrived=now, started=now, finished=now)
        generation = replace(entry.generation, usage=_unused(entry.generation.usage), timing=timing)
        attempt = Attempt(
            reason=AttemptReason.CACHE, generation=generation, budget=None, verdict=verdict, model=entry.model
        )
        return Answered(generation=generation, verdict=verdict, attempts=(attempt,), model=entry.model, found=found)

    def _compare(self, admitted: Admitted, found: Found, entry: Entry, answered: Answered, request_id: str) -> None:
        fresh, old = answered.generation.text, entry.generation.text
        result = _result(admitted, old, fresh)
        self._instruments.compared(found.match, result)
        if result is AuditResult.FALSE:
            # Whatever it was, it is not to be given again; the new answer takes its place under its own question.
            self._cache.store.forget((entry.id,))
        assert admitted.question is not None, "what was looked up has a question"
        assert found.similarity is not None, "what was found is alike"
        assert found.age_s is not None, "what was found has an age"
        self._parts.book.keep(
            CacheAudit(
                time=self._now(),
                request_id=request_id,
                entry=entry.id,
                model=admitted.model.name,
                tenant=admitted.request.tenant,
                match=found.match,
                similarity=found.similarity,
                age_s=found.age_s,
                result=result,
                asked=admitted.question.text,
                kept_question=entry.question.text,
                answer=fresh,
                kept_answer=old,
            )
        )


def question_of(
    request: Request,
    asked: Asked,
    model: ModelInfo,
    active: ActivePolicy | None,
    *,
    held_to: HeldTo,
) -> Question | None:
    """Return a request as the cache sees it; nothing where its answers are of no use to another one.

    These are answers that are drawn anew each time, and streams of drafts, which a finished answer has none of. All
    that a request says counts, so that whatever it may say some day is told apart too.

    Args:
        request: in the client's words, before anything is assigned.
        asked: what else the client says.
        model: which model answers.
        active: the policy in force.
        held_to: what its answer is verified against, as the client asks.
    """
    if not asked.is_repeatable or request.snapshots:
        return None
    answer_format = held_to.answer_format
    alike = (
        replace(request, messages=request.messages[:-1], tenant=""),
        replace(asked, cache=CacheUse()),
        model,
        "" if active is None else active.digest,
        None if answer_format is None else (type(answer_format).__name__, answer_format),
        [(type(verifier).__name__, verifier) for verifier in held_to.verifiers],
        held_to.consistency,
    )
    digest = sha256(orjson.dumps(alike, default=_plain, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return Question(scope=Scope(tenant=request.tenant, digest=digest), text=request.messages[-1].content)


def _plain(value: object) -> object:
    """Return the values of what is no dataclass."""
    match value:
        case JsonSchema(schema=schema):
            return schema
        case Pattern(pattern=pattern):
            return pattern
        case _:
            raise TypeError(f"{type(value).__name__} says nothing that a scope could go by")


def _may_be_kept(admitted: Admitted, answered: Answered) -> bool:
    """Tell whether an answer is whole, and what its request would be given at any time."""
    served = admitted.of(answered.model)
    is_whole = answered.generation.finish_reason is FinishReason.STOP
    has_failed = answered.verdict.verification is Verification.FAIL
    return is_whole and _is_usual(served, answered) and (not has_failed or _fails_again(admitted, served, answered))


def _fails_again(admitted: Admitted, served: Admitted, answered: Answered) -> bool:
    """Tell whether the request would be given the same failed answer anew.

    All attempts that it was due have to have been made, and nothing but verifiers that are asked again may have failed
    it.
    """
    if not served.model.is_deterministic or admitted.consistency is not None:
        return False
    if any(attempt.generation.outcome is not Outcome.COMPLETED for attempt in answered.attempts):
        return False
    if admitted.can_escalate and not admitted.is_escalated(answered):
        return False
    return served.expansion is None or answered.cap in {Cap.RE_EXPANSIONS, Cap.MAX_TOTAL_STEPS, Cap.MAX_STEPS}


def _is_usual(served: Admitted, answered: Answered) -> bool:
    """Tell whether load has taken nothing from an answer: calm may come long before its time is over."""
    given, had = served.assignment, answered.generation.bucket
    if not _is_due(served):
        return False
    if answered.searched is not None and answered.searched.limit in {Limit.PRESSED, Limit.NARROWED, Limit.DEADLINE}:
        return False
    # A further attempt has more than was given first.
    return had is None or given.bucket is None or _SIZES.index(had) >= _SIZES.index(given.bucket)


def _is_due(served: Admitted) -> bool:
    """Tell whether a request was admitted with all that it is due, so that its answer may be kept."""
    level = LEVELS[served.assignment.level]
    return not level.smaller_bucket and (level.width is None or served.search is None)


def _spare_s(terms: ClassTerms) -> float:
    """Return how long a request waits for somebody else's answer: what is left has to do for one of its own."""
    return LONGEST_WAIT_S if terms.deadline_s is None else min(LONGEST_WAIT_S, terms.deadline_s / 2)


def _kept(generation: Generation) -> Generation:
    return replace(generation, trace=(), exit=None)


def _unused(usage: Usage) -> Usage:
    """Return the usage of an answer that is given again: its tokens, and no step."""
    return replace(
        usage,
        cached_tokens=0,
        prefill_tokens=0,
        commit_tokens=0,
        steps_allocated=0,
        steps_used=0,
        canvases=0,
        steps_known=True,
    )


def _result(admitted: Admitted, old: str, fresh: str) -> AuditResult:
    if old.split() == fresh.split():
        return AuditResult.SAME
    check = admitted.check
    if check is not None and check.verdict(fresh).passed and check.verdict(old).passed:
        return AuditResult.ACCEPTED
    return AuditResult.FALSE
