"""What can become of a request by its policy."""

from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.asked import MAX_REEXPANSIONS, MAX_STEPS
from unmask.errors import UnmaskError
from unmask.ledger.settlement import Settled


class CapReachedError(UnmaskError):
    """A request met a limit of its service class, which fails such requests; its steps were taken all the same.

    Attributes:
        admitted: the request.
        answered: what it came to; ``None`` where that is not known.
        settled: what the call cost, once that is booked; ``None`` where nothing is.
    """

    admitted: Admitted | None = None
    answered: Answered | None = None
    settled: Settled | None = None

    def having(self, admitted: Admitted, answered: Answered) -> "CapReachedError":
        """Return the error, knowing what was spent."""
        self.admitted, self.answered = admitted, answered
        return self


class BudgetSpentError(CapReachedError):
    """A request spent its budget without converging."""

    def __init__(self, steps: int, service_class: str, cap: int) -> None:
        super().__init__(
            f"The answer took all its {steps} denoise steps and had not converged, and the service class "
            f"{service_class} fails such requests. Send {MAX_STEPS} of up to {cap}, or choose another class.",
            param=MAX_STEPS,
        )
        self.args = (steps, service_class, cap)


class AnswerFailedError(CapReachedError):
    """An answer failed its verifiers, and so did every further attempt that its class allows."""

    def __init__(self, attempts: int, service_class: str, cap: str, reason: str) -> None:
        super().__init__(
            f"The answer failed its verification in {attempts} attempts ({reason}); the limit met is {cap}, and the "
            f"service class {service_class} fails such requests. Send {MAX_REEXPANSIONS}: 0 to have the answer as it "
            f"is, or choose another class.",
            param=MAX_REEXPANSIONS,
        )
        self.args = (attempts, service_class, cap, reason)
