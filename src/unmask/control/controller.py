"""Decides what each request is given before a backend has it, and keeps what is to be learnt once it has ended."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from unmask.backend import ModelInfo, Request
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, followed
from unmask.control.asked import Asked
from unmask.control.budget import assign
from unmask.control.cached import CachedAnswers, Elsewhere, Looked, question_of
from unmask.control.check import HeldTo, make_check
from unmask.control.controls import draw_control
from unmask.control.errors import AnswerFailedError, BudgetSpentError
from unmask.control.escalate import begin_small, escalate
from unmask.control.expansion import expansion_of, total_cap
from unmask.control.parts import ControlParts
from unmask.control.precision import unserved
from unmask.control.quality import FULL, QualityLevel
from unmask.control.quality_desk import QualityDesk
from unmask.control.recorder import ControlRecorder
from unmask.control.reexpand import Generate, conclude
from unmask.control.route import Route, RouteReason
from unmask.control.routing import Routes
from unmask.control.savings import ServingSavings
from unmask.control.search_choice import choose_search
from unmask.control.searching import Begun, SearchParts, begin
from unmask.control.sources import FIXED_POLICY, ActivePolicy, Classified, Estimate
from unmask.control.task_of import classify_request
from unmask.control.tiers import served_tier, settle_class, usable_classes
from unmask.errors import InvalidRequestError
from unmask.metrics.control import ControlEnd, ControlInstruments
from unmask.policy.policy import Policy
from unmask.savings.standing import Standing
from unmask.tasks.consistency import SelfConsistency
from unmask.tasks.criteria import load_criteria
from unmask.tasks.formats import AnswerFormat
from unmask.tasks.registry import all_tasks
from unmask.tasks.verifier import Verifier
from unmask.types import ExitReason, Outcome


class Controller:
    """Stands between reading a request and generating its answer; one for a server, on its event loop.

    Args:
        parts: what it decides by.
        instruments: told of what it decides.
        now: seconds since 1970, for records.
        new_id: names records.
        tiers: service classes by the tier of the OpenAI API that means them.
        cached: looks for answers before they are generated; without it none is kept.
        searches: what searches share.
        quality: tells what load leaves of requests; without one that is all.
    """

    def __init__(
        self,
        parts: ControlParts,
        instruments: ControlInstruments,
        *,
        now: Callable[[], float],
        new_id: Callable[[], str],
        tiers: Mapping[str, str] | None = None,
        cached: CachedAnswers | None = None,
        searches: SearchParts | None = None,
        quality: QualityDesk | None = None,
    ) -> None:
        self._parts = parts
        self._instruments = instruments
        self._now = now
        self._tiers = tiers or {}
        self._cached = cached
        self._searches = searches or SearchParts()
        self._quality = quality
        self._tasks = all_tasks()
        self._criteria = load_criteria()
        self._savings = ServingSavings(parts, instruments)
        self._records = ControlRecorder(parts.book, instruments, now=now, new_id=new_id)

    def policy_of(self, model: ModelInfo) -> ActivePolicy | None:
        """Return the approved policy that is in force for a model; of a route, that of its larger model."""
        route = self._parts.routes.named(model.name)
        model = model if route is None else route.large
        return self._parts.policies.active_policy(model.name, model.digest)

    def admit(
        self,
        request: Request,
        asked: Asked,
        model: ModelInfo,
        answer_format: AnswerFormat | None = None,
        verifiers: tuple[Verifier, ...] = (),
        consistency: SelfConsistency | None = None,
    ) -> Admitted:
        """Give a request its budget, strategy, exit rule and further attempts, and draw whether it is a control.

        Args:
            request: in the client's words, with the budget as it is without a policy.
            asked: what of that the client has said.
            model: which model answers; or a route, as one, and either of its models does.
            answer_format: the form that the answer is verified against.
            verifiers: what else it is verified against, beside what its task type knows.
            consistency: how samples are compared with it, if they are.

        Raises:
            InvalidRequestError: there is no such task type or service class, the caller may not use the class, or it
                allows less.
        """
        held_to = HeldTo(answer_format=answer_format, verifiers=verifiers, consistency=consistency)
        route = self._parts.routes.named(model.name)
        admitted = (
            self._give(request, asked, model, held_to)
            if route is None
            else self._routed(route, request, asked, held_to)
        )
        self._assigned(admitted)
        question = None
        if self._cached is not None and not admitted.assignment.is_control:
            # A control run is there to be run.
            question = question_of(request, asked, model, self.policy_of(model), held_to=held_to)
        return replace(admitted, question=question, cache_use=asked.cache)

    def _routed(self, route: Route, request: Request, asked: Asked, held_to: HeldTo) -> Admitted:
        """Admit a request to the model of a route that it goes to first, and beside it to the larger one."""
        started = self._searches.clock.now()
        large, small = route.large, route.small
        classified = classify_request(
            self._parts.classifier, request, asked, large, self.policy_of(large), is_routed=True
        )
        may_follow = asked.may_wait and asked.max_reexpansions != 0
        can_escalate = may_follow and (classified.task in self._tasks or held_to.is_something)
        decision = self._parts.routes.decide(
            route, request, classified, held_to.answer_format, can_escalate=can_escalate
        )
        seconds = self._searches.clock.now() - started
        # The larger model's first, so that what it does not allow is an error whichever is tried.
        admitted = self._give(
            replace(request, model=large.name), asked, large, held_to, classified, may_control=not decision.is_small
        )
        if decision.is_small and small is not None:
            try:
                tried = self._give(replace(request, model=small.name), asked, small, held_to, classified)
            except InvalidRequestError:
                decision = replace(decision, reason=RouteReason.UNFIT)
            else:
                # A failed answer is the larger model's, rather than a larger budget's.
                admitted = replace(
                    tried,
                    expansion=None if may_follow else tried.expansion,
                    escalation=admitted if may_follow else None,
                )
        self._instruments.routes.decided(route.name, decision.reason, seconds)
        return replace(admitted, decision=decision)

    def _give(
        self,
        request: Request,
        asked: Asked,
        model: ModelInfo,
        held_to: HeldTo,
        classified: Classified | None = None,
        *,
        may_control: bool = True,
    ) -> Admitted:
        """Give a request what it has of one model; a task type is told here unless it is known."""
        active = self.policy_of(model)
        asked = settle_class(active, asked, self._tiers)
        classified = classified or classify_request(self._parts.classifier, request, asked, model, active)
        task = classified.task
        estimate = None if active is None else self._estimate(active.policy, request, classified, held_to.answer_format)
        level = self._level(active, asked, model)
        given = assign(active, request, asked, model, task=task, estimate=estimate, level=level)
        book = self._parts.book
        if may_control and book is not None and given.rule is not None and given.policy is not None:
            given = draw_control(given, book.seen(given.policy, task), self._parts.draw())
        check = make_check(request.messages, self._tasks.get(task), held_to.answer_format, held_to.verifiers)
        total = total_cap(request, given.service_class)
        search = choose_search(request, asked, given, model, total=total, has_verifier=check is not None)
        search = None if search is None else search.at(level)
        expansion = expansion_of(active, given.service_class, request, asked, model, self._criteria.get(task, ()))
        refined = self._savings.refined(request, given, asked, model, check, total=total)
        changed = replace(
            request,
            messages=request.messages if refined is None or refined.is_control else refined.messages,
            budget=given.budget,
            strategy=given.strategy,
            exit=given.exit,
            check=check if given.exit is not None else None,
            complete=self._savings.complete(given, asked, model, check),
            terms=given.terms,
            bucket=given.bucket,
            # A control is there to run its whole budget.
            smaller=() if given.is_control else given.smaller,
            precision=None if given.precision is model.precision else given.precision,
        )
        return Admitted(
            request=changed,
            model=model,
            assignment=given,
            check=check,
            consistency=held_to.consistency,
            expansion=None if check is None and held_to.consistency is None else expansion,
            refined=refined,
            search=search,
            max_total_steps=total,
        )

    def served_tier(self, asked: Asked, admitted: Admitted) -> str | None:
        """Return the tier that an answer is to name, or nothing where the client named none."""
        active = self.policy_of(admitted.model)
        served = admitted.assignment.service_class
        default = None if active is None else next(iter(usable_classes(active, asked.allowed_classes)), None)
        return served_tier(asked.service_tier, served.name if served else None, default, self._tiers)

    @asynccontextmanager
    async def looking(self, admitted: Admitted, elsewhere: Elsewhere | None = None) -> AsyncIterator[Looked | None]:
        """Look for an answer that was given before, as `unmask.control.cached.CachedAnswers.looking` does."""
        if self._cached is None:
            yield None
            return
        async with self._cached.looking(admitted, elsewhere) as looked:
            if looked is not None and looked.answered is not None:
                self._instruments.answered(admitted.model.name, 0)
            yield looked

    def keep(self, admitted: Admitted, looked: Looked | None, answered: Answered, request_id: str) -> Answered:
        """Keep an answer that may be given again; return it with what the cache had for it."""
        if self._cached is None or looked is None:
            return answered
        self._cached.keep(admitted, looked, answered, request_id)
        return replace(answered, found=looked.found)

    async def begin(self, admitted: Admitted, generate: Generate, *, arrived: float | None = None) -> Begun:
        """Make the first attempt of a request, by its search if it has one. Of routes: `unmask.control.escalate`.

        Args:
            admitted: the request.
            generate: runs generations.
            arrived: when the request did, on the clock of the searches; ``None``: now.
        """
        since = self._searches.clock.now() if arrived is None else arrived
        if admitted.escalation is None:
            return await begin(admitted, generate, self._searches, arrived=since)
        return await begin_small(admitted, generate, self._searches, arrived=since)

    async def conclude(self, admitted: Admitted, begun: Begun, generate: Generate) -> Answered:
        """Return the answer to a request whose first attempt has ended; see `unmask.control.reexpand`."""
        served = begun.served or admitted
        found = await conclude(served, begun.first, generate, beside=begun.beside)
        if begun.searched is not None:
            found = replace(found, searched=begun.searched)
        if begun.tried is not None:
            found = followed(begun.tried, found)
        has_failed = served.can_escalate and bool(found.verdict.failures)
        if has_failed:
            found = await escalate(served, found, generate, self._searches)
        self._instruments.answered(admitted.model.name, found.reexpansions)
        for attempt in found.attempts[1:]:
            self._instruments.attempted(attempt.model, attempt.reason, attempt.steps)
        self._note_route(admitted, found, has_failed=has_failed)
        return found

    def _note_route(self, admitted: Admitted, found: Answered, *, has_failed: bool) -> None:
        decision, larger = admitted.decision, admitted.escalation
        if decision is None:
            return
        if larger is not None and admitted.is_escalated(found):
            self._assigned(larger)
            self._instruments.routes.escalated(decision.route, has_failed=has_failed)
        for attempt in found.attempts:
            timing = attempt.generation.timing
            self._instruments.routes.ran(decision.route, attempt.model, attempt.steps, timing.finished - timing.started)

    def _assigned(self, admitted: Admitted) -> None:
        given = admitted.assignment
        self._instruments.assigned(admitted.model.name, given.source, given.bucket, given.precision)
        if self._quality is not None:
            self._quality.admitted(admitted.model.name, given.terms.name, given.level)

    def settle(self, admitted: Admitted, answered: Answered, request_id: str) -> None:
        """Take an answer: keep what its first attempt says of exits.

        Raises:
            CapReachedError: it met a limit of its service class, which fails such requests.
        """
        first = answered.first
        # The small model of a route may have come to nothing: what it was to tell of exits is not known.
        if first.outcome is Outcome.COMPLETED and admitted.of(answered.attempts[0].model) is admitted:
            self._records.keep(admitted, first, request_id)
        else:
            self.abandon(admitted)
        self._savings.settled(admitted, answered, self._now())
        self._look()
        served = admitted.of(answered.model)
        if served.assignment.fails_at_cap:
            _check_cap(served, answered)

    def abandon(self, admitted: Admitted) -> None:
        """Take note that a request ended without an answer; a control of that kind tells nothing of exits."""
        if admitted.assignment.is_control:
            self._instruments.control_ended(admitted.model.name, ControlEnd.UNFINISHED)
        self._look()

    def policy_names(self, models: Iterable[ModelInfo]) -> Iterator[tuple[str, str]]:
        """Yield models with the short digest of their policy, or ``fixed``."""
        for model in models:
            active = self.policy_of(model)
            yield model.name, FIXED_POLICY if active is None else active.short_digest

    def savings(self, models: Iterable[ModelInfo]) -> tuple[Standing, ...]:
        """Return every saving with its quality, and who enables it."""
        return self._savings.standings((model, self.policy_of(model)) for model in models)

    def problems(self) -> tuple[str, ...]:
        """Say why no request can be answered; empty while all is well.

        What the database says is for the log: it may name hosts and users, and strangers ask for health too.
        """
        ledger = self._parts.ledger
        return ("the ledger cannot be written",) if ledger is not None and ledger.fails else ()

    def degraded(self) -> tuple[str, ...]:
        """Say which requests get less than they might, since the machine is busy."""
        return () if self._quality is None else tuple(self._quality.degraded())

    def notes(self, models: Iterable[ModelInfo]) -> tuple[str, ...]:
        """Say what whoever runs the server should know of its policies, first of all where there is none."""
        of_cache = () if self._cached is None else self._cached.notes()
        of_policies = (note for model in models for note in self._notes_of(model))
        return (*of_policies, *self._parts.routes.notes, *of_cache)

    def _notes_of(self, model: ModelInfo) -> Iterator[str]:
        yield from self._parts.policies.notes(model.name, model.digest)
        active = self.policy_of(model)
        missing = () if active is None else unserved(active.policy, model)
        if missing:
            yield (
                f"{model.name}: the policy chooses {', '.join(missing)}, which is not served: such requests run in "
                f"{model.precision or 'what there is'}; add it to the setting extra_precisions"
            )

    @property
    def routes(self) -> Routes:
        """The names beside those of models that requests may ask for."""
        return self._parts.routes

    def _level(self, active: ActivePolicy | None, asked: Asked, model: ModelInfo) -> QualityLevel:
        if self._quality is None:
            return FULL
        # A class that does not exist is refused where the budget is given.
        service_class = None if active is None else active.policy.service_class(asked.service_class)
        if service_class is None:
            return FULL if active is not None else self._quality.level(model.name, "")
        return self._quality.level(model.name, service_class.name, service_class.quality_floor)

    def _look(self) -> None:
        """Look at the load when work has ended, so that calm is known though nobody asks."""
        if self._quality is not None:
            self._quality.ended()

    def _estimate(
        self, policy: Policy, request: Request, classified: Classified, answer_format: AnswerFormat | None
    ) -> Estimate | None:
        if policy.difficulty is None:
            return None
        estimator = self._parts.estimators.estimator(policy.difficulty)
        if estimator is None:
            return None
        return estimator.estimate(request, classified.task, answer_format, task_confidence=classified.confidence)


def _check_cap(admitted: Admitted, answered: Answered) -> None:
    """Raise what becomes of an answer that met a limit, in a class that fails such requests."""
    service_class, spent = admitted.assignment.service_class, answered.generation.usage
    assert service_class is not None, "only a class fails requests"
    if spent.exit_reason in {ExitReason.MAX_STEPS, ExitReason.MAX_TOTAL_STEPS}:
        cap = min(service_class.max_steps, admitted.model.max_steps)
        raise BudgetSpentError(spent.steps_used, service_class.name, cap).having(admitted, answered)
    failures = answered.verdict.failures
    if failures and answered.cap is not None:
        attempts = 1 + answered.reexpansions
        error = AnswerFailedError(attempts, service_class.name, answered.cap, failures[0].reason)
        raise error.having(admitted, answered)
