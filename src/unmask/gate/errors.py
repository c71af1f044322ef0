"""What goes wrong while suites are read, asked and kept."""

from typing import ClassVar

from unmask.errors import ConfigError, UnmaskError


class SuiteError(ConfigError):
    """A suite cannot be read or does not fit its worlds; the message has every fault with its file and line."""

    is_list: ClassVar[bool] = True


class RunFolderError(UnmaskError):
    """A folder of a gate run cannot be read or written, or is damaged."""


class ForeignRunError(RunFolderError):
    """A folder holds another run than the one that is to go on in it."""
