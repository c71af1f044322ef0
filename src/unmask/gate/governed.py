"""A backend under a budget policy, so that a gate run is of the policy as a server would serve by it."""

from collections.abc import AsyncGenerator, Callable

from prometheus_client import CollectorRegistry

from unmask.backend import Backend, Event, Generation, Request
from unmask.control.asked import Asked
from unmask.control.attempt import LATER, AttemptReason
from unmask.control.budget import BudgetSource
from unmask.control.controller import Controller
from unmask.control.parts import ControlParts
from unmask.control.sources import ActivePolicy, Classifier, EstimatorSource
from unmask.metrics.control import ControlInstruments
from unmask.metrics.in_front import BackendInFront
from unmask.types import Mode


class OnePolicy:
    """A source in which one policy is in force, approved or not: what is tried before it is promoted."""

    def __init__(self, active: ActivePolicy) -> None:
        self._active = active

    def active_policy(self, model: str, model_digest: str) -> ActivePolicy | None:
        """Return the policy where it is for these weights."""
        policy = self._active.policy
        return self._active if (policy.model, policy.model_digest) == (model, model_digest) else None

    def notes(self, model: str, model_digest: str) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's
        """Say nothing."""
        return ()


class GovernedBackend(BackendInFront):
    """Gives each request what the policy gives to a client who names neither task type nor steps.

    No control runs are drawn: an answer is what a client would get nearly always.
    """

    def __init__(
        self,
        backend: Backend,
        active: ActivePolicy,
        estimators: EstimatorSource,
        classifier: Classifier,
        now: Callable[[], float],
    ) -> None:
        super().__init__(backend)
        models = [model.name for model in backend.models()]
        self._controller = Controller(
            ControlParts(policies=OnePolicy(active), estimators=estimators, classifier=classifier),
            ControlInstruments(CollectorRegistry(), models, BudgetSource, LATER),
            now=now,
            new_id=lambda: "gate",
        )

    async def generate(self, request: Request) -> Generation:
        """Answer under the policy, its search and further attempts included; their steps are in the answer's usage."""
        if request.mode is not Mode.DIFFUSION:
            return await self._backend.generate(request)
        model = next(model for model in self._backend.models() if model.name == request.model)
        steps = None if request.budget is None else request.budget.max_steps
        admitted = self._controller.admit(request, Asked(max_steps=steps), model)
        begun = await self._controller.begin(admitted, self._generated)
        answered = await self._controller.conclude(admitted, begun, self._generated)
        return answered.generation

    async def _generated(self, request: Request, reason: AttemptReason) -> Generation:  # noqa: ARG002 - nobody books it
        return await self._backend.generate(request)

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Stream without the policy, which gate runs do not."""
        return self._backend.stream(request)
