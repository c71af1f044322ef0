"""Decides what each request is given before a backend has it, and keeps what is to be learnt once it has ended."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from unmask.backend import Generation, ModelInfo, Request
from unmask.control.admitted import Admitted
from unmask.control.asked import TASK, Asked
from unmask.control.book import Kept
from unmask.control.budget import assign
from unmask.control.check import make_check
from unmask.control.controls import draw_control
from unmask.control.ended import Ended
from unmask.control.errors import BudgetSpentError
from unmask.control.parts import ControlParts
from unmask.control.records import ControlRecord
from unmask.control.sources import FIXED_POLICY, ActivePolicy, Classified, Estimate
from unmask.errors import InvalidRequestError
from unmask.metrics.control import ControlEnd, ControlInstruments
from unmask.policy.policy import DEFAULT_TASK, Policy
from unmask.tasks.formats import AnswerFormat
from unmask.tasks.registry import all_tasks
from unmask.types import ExitReason


class Controller:
    """Stands between reading a request and generating its answer; one for a server, on its event loop.

    Args:
        parts: what it decides by.
        instruments: told of what it decides.
        now: seconds since 1970, for records.
        new_id: names records.
    """

    def __init__(
        self,
        parts: ControlParts,
        instruments: ControlInstruments,
        *,
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._parts = parts
        self._instruments = instruments
        self._now = now
        self._new_id = new_id
        self._tasks = all_tasks()

    def policy_of(self, model: ModelInfo) -> ActivePolicy | None:
        """Return the approved policy that is in force for a model."""
        return self._parts.policies.active_policy(model.name, model.digest)

    def admit(
        self, request: Request, asked: Asked, model: ModelInfo, answer_format: AnswerFormat | None = None
    ) -> Admitted:
        """Give a request its budget, strategy and exit rule, and draw whether it is a control.

        Args:
            request: in the client's words, with the budget as it is without a policy.
            asked: what of that the client has said.
            model: which model answers.
            answer_format: the form that the answer is verified against.

        Raises:
            InvalidRequestError: there is no such task type or service class, or the class allows less.
        """
        active = self.policy_of(model)
        classified = self._classified(request, asked, model, active)
        task = classified.task
        estimate = None if active is None else self._estimate(active.policy, request, classified, answer_format)
        given = assign(active, request, asked, model, task=task, estimate=estimate)
        book = self._parts.book
        if book is not None and given.rule is not None and given.policy is not None:
            given = draw_control(given, book.seen(given.policy, task), self._parts.draw())
        check = make_check(request.messages, self._tasks.get(task), answer_format) if given.exit is not None else None
        changed = replace(
            request,
            budget=given.budget,
            strategy=given.strategy,
            exit=given.exit,
            check=check,
            terms=given.terms,
            bucket=given.bucket,
            # A control is there to run its whole budget.
            smaller=() if given.is_control else given.smaller,
        )
        self._instruments.assigned(model.name, given.source, given.bucket)
        return Admitted(request=changed, model=model, assignment=given, check=check)

    def settle(self, admitted: Admitted, generation: Generation, request_id: str) -> None:
        """Take a completed generation: keep what it says of exits.

        Raises:
            BudgetSpentError: it has not converged, and its service class fails such requests.
        """
        given, spent = admitted.assignment, generation.usage
        self._keep(admitted, generation, request_id)
        if given.fails_at_cap and spent.exit_reason in {ExitReason.MAX_STEPS, ExitReason.MAX_TOTAL_STEPS}:
            service_class = given.service_class
            assert service_class is not None, "only a class fails requests"
            cap = min(service_class.max_steps, admitted.model.max_steps)
            raise BudgetSpentError(spent.steps_used, service_class.name, cap)

    def abandon(self, admitted: Admitted) -> None:
        """Take note that a request ended without an answer; a control of that kind tells nothing of exits."""
        if admitted.assignment.is_control:
            self._instruments.control_ended(admitted.model.name, ControlEnd.UNFINISHED)

    def policy_names(self, models: Iterable[ModelInfo]) -> Iterator[tuple[str, str]]:
        """Yield models with the short digest of their policy, or ``fixed``."""
        for model in models:
            active = self.policy_of(model)
            yield model.name, FIXED_POLICY if active is None else active.short_digest

    def notes(self, models: Iterable[ModelInfo]) -> tuple[str, ...]:
        """Say what whoever runs the server should know of its policies, first of all where there is none."""
        return tuple(note for model in models for note in self._parts.policies.notes(model.name, model.digest))

    def _classified(self, request: Request, asked: Asked, model: ModelInfo, active: ActivePolicy | None) -> Classified:
        if asked.task is not None:
            known = known_tasks(model, active)
            if asked.task not in known:
                raise InvalidRequestError(TASK, asked.task, ", ".join(known), "Leave it out, or send default.")
            return Classified(task=asked.task)
        # Without a policy nothing depends on it.
        if active is None or self._parts.classifier is None:
            return Classified(task=DEFAULT_TASK)
        return self._parts.classifier.classify(request.messages) or Classified(task=DEFAULT_TASK)

    def _estimate(
        self, policy: Policy, request: Request, classified: Classified, answer_format: AnswerFormat | None
    ) -> Estimate | None:
        if policy.difficulty is None:
            return None
        estimator = self._parts.estimators.estimator(policy.difficulty)
        if estimator is None:
            return None
        return estimator.estimate(request, classified.task, answer_format, task_confidence=classified.confidence)

    def _keep(self, admitted: Admitted, generation: Generation, request_id: str) -> None:
        book, name = self._parts.book, admitted.model.name
        is_control = admitted.assignment.is_control
        if book is None or not (is_control or (generation.exit is not None and admitted.check is not None)):
            return
        ended = Ended(
            admitted=admitted, generation=generation, request_id=request_id, id=self._new_id(), time=self._now()
        )
        if is_control:
            book.keep(ended.control, partial(self._control_kept, name))
        else:
            book.keep(ended.failure, partial(self._failure_kept, name))

    def _control_kept(self, model: str, kept: Kept) -> None:
        record = kept.record
        extra = 0
        if isinstance(record, ControlRecord) and record.exit_steps is not None:
            extra = record.steps - record.exit_steps
        self._instruments.control_ended(model, ControlEnd.LOST if kept.is_lost else ControlEnd.RECORDED, extra)

    def _failure_kept(self, model: str, kept: Kept) -> None:
        if kept.record is not None:
            self._instruments.exit_failed(model)


def known_tasks(model: ModelInfo, active: ActivePolicy | None) -> tuple[str, ...]:
    """Return the task types that a request to a model may name."""
    of_policy = () if active is None else tuple(entry.task for entry in active.policy.tasks)
    return tuple(dict.fromkeys((*model.tasks, *of_policy, DEFAULT_TASK)))
