"""What goes wrong while a gate decides."""

from unmask.errors import ConfigError, UnmaskError


class GateFileError(ConfigError):
    """A gate file cannot be read or makes no sense; the message has file and line."""


class UndecidableError(UnmaskError):
    """There is nothing to decide on: no scenario, no answer, or artefacts that do not belong together."""


class SeenScenariosError(UnmaskError):
    """A threshold, row or rubric was changed after answers to the same scenarios were seen."""


class LookLogError(UnmaskError):
    """The log of looks cannot be read or written, or is not what was written."""


class PromotionRefusedError(UnmaskError):
    """No passing gate run is bound to the policy that is to be promoted."""
