"""What goes wrong while answers are reviewed."""

from unmask.errors import UnmaskError


class ReviewError(UnmaskError):
    """A decision, a draw or a finding contradicts itself or what the run holds; the message says what is allowed."""


class ReviewStoreError(UnmaskError):
    """What reviewers said cannot be kept or read."""
