"""A choice of an answer once it has all its text."""

from dataclasses import dataclass

from unmask.backend import Generation
from unmask.control.answered import Answered
from unmask.types import FinishReason, Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedChoice:
    """A choice that is decided, and all that it took."""

    answered: Answered

    @property
    def generation(self) -> Generation:
        """What is answered."""
        return self.answered.generation

    @property
    def verify(self) -> Verification:
        """What its verifiers say."""
        return self.answered.verdict.verification

    @property
    def finish_reason(self) -> FinishReason:
        """Why the text ends."""
        assert self.generation.finish_reason is not None, "a completed generation says why it ends"
        return self.generation.finish_reason
