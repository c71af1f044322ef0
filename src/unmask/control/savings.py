"""What the savings of the business layer do to requests, and what is learnt of them."""

from collections.abc import Iterable

from unmask.backend import Lever, ModelInfo, Request
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.asked import Asked
from unmask.control.attempt import AttemptReason
from unmask.control.budget import Assignment
from unmask.control.check import AnswerCheck
from unmask.control.pairs import Pair
from unmask.control.parts import ControlParts
from unmask.control.refiner import RefinedPrompt
from unmask.control.sources import ActivePolicy
from unmask.metrics.control import ControlInstruments
from unmask.policy.savings import savings_of
from unmask.refine.refine import VERSION
from unmask.savings.registry import CONFIDENCE_STOP, PROMPT_REFINEMENT
from unmask.savings.standing import Standing, standings
from unmask.types import DraftCheck, Outcome


class ServingSavings:
    """Refines prompts and ends complete answers where settings enable it; neither where nobody can judge answers."""

    def __init__(self, parts: ControlParts, instruments: ControlInstruments) -> None:
        self._known = parts.savings
        self._refiner = parts.refiner
        self._instruments = instruments

    def standings(self, models: Iterable[tuple[ModelInfo, ActivePolicy | None]]) -> tuple[Standing, ...]:
        """Return every saving with its figure, and who enables it: settings, and the policies of models."""
        by_policy: dict[str, tuple[str, ...]] = {}
        for model, active in models:
            if active is None:
                continue
            for name in savings_of(active.policy):
                by_policy[name] = (*by_policy.get(name, ()), f"policy {active.short_digest} of {model.name}")
        suspended = () if self._refiner is None else self._refiner.pairs.suspended()
        return standings(self._known, by_policy=by_policy, suspended={PROMPT_REFINEMENT: suspended})

    def refined(
        self,
        request: Request,
        given: Assignment,
        asked: Asked,
        model: ModelInfo,
        check: AnswerCheck | None,
        *,
        total: int | None,
    ) -> RefinedPrompt | None:
        """Return the refinement of a request's prompt; nothing where it stays as it is.

        A control run is of the request itself. Both ways are only answered who waits for the whole answer, searches
        for none, and has set no cap on all steps together.
        """
        if self._refiner is None or check is None or given.is_control:
            return None
        may_pair = asked.may_wait and asked.search is None and total is None
        return self._refiner.refined(model, given.task, request.messages, may_pair=may_pair)

    def complete(
        self, given: Assignment, asked: Asked, model: ModelInfo, check: AnswerCheck | None
    ) -> DraftCheck | None:
        """Return what ends an answer that is complete; a control runs its whole course, and so does a search."""
        if CONFIDENCE_STOP not in self._known.enabled or Lever.EXIT not in model.levers:
            return None
        may_stop = asked.early_exit and asked.search is None and not given.is_control
        return check.complete if check is not None and may_stop else None

    def settled(self, admitted: Admitted, answered: Answered, time: float) -> None:
        """Take note of an answer: what refinement has spared it, and how it compares where it was given both ways."""
        self._instruments.refined(admitted.model.name, admitted.tokens_saved)
        beside = next((one for one in answered.attempts if one.reason is AttemptReason.REFINED), None)
        check = admitted.check
        if self._refiner is None or check is None or beside is None:
            return
        if beside.generation.outcome is not Outcome.COMPLETED:
            return
        pair = Pair(
            time=time,
            model_digest=admitted.model.digest,
            version=VERSION,
            task=admitted.assignment.task,
            passed=check.verdict(answered.first.text).failures == (),
            refined_passed=check.verdict(beside.generation.text).failures == (),
        )
        self._refiner.pairs.keep(pair)
        self._instruments.compared(admitted.model.name, passed=pair.passed, refined_passed=pair.refined_passed)
