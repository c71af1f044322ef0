"""What goes wrong while curves are measured or read."""

from unmask.errors import UnmaskError


class CurveRunError(UnmaskError):
    """A curve run cannot go on: the backend failed a request, or its folder cannot be written."""


class ResumeError(UnmaskError):
    """A folder holds another run than the one that is to go on, or one that was not asked to."""


class CurveFileError(UnmaskError):
    """A file of records or curves cannot be read, is damaged, or is of another kind."""


class SplitError(UnmaskError):
    """Items are of a split that must not be used for what they are to be used for."""


class ForeignCurvesError(UnmaskError):
    """Curves were measured on other weights, or on another canvas, than those they are to be used for."""


class ExitRunError(UnmaskError):
    """Exits or finality cannot be tuned: the backend failed a request, or there is nothing to learn from."""


class ExitFileError(UnmaskError):
    """A file of tuned exits cannot be read, is damaged, or is of another model."""
