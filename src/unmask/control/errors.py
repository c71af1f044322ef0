"""What can become of a request by its policy."""

from unmask.control.asked import MAX_STEPS
from unmask.errors import UnmaskError


class BudgetSpentError(UnmaskError):
    """A request spent its budget without converging, and its service class fails such requests."""

    def __init__(self, steps: int, service_class: str, cap: int) -> None:
        super().__init__(
            f"The answer took all its {steps} denoise steps and had not converged, and the service class "
            f"{service_class} fails such requests. Send {MAX_STEPS} of up to {cap}, or choose another class.",
            param=MAX_STEPS,
        )
        self.args = (steps, service_class, cap)
