"""A choice of an answer once it has all its text."""

from dataclasses import dataclass

from unmask.backend import Generation
from unmask.types import FinishReason, Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedChoice:
    """A completed generation and what its verifier says of it."""

    generation: Generation
    verify: Verification

    @property
    def finish_reason(self) -> FinishReason:
        """Why the text ends."""
        assert self.generation.finish_reason is not None, "a completed generation says why it ends"
        return self.generation.finish_reason
