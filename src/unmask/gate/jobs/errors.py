"""What goes wrong with jobs."""

from typing import ClassVar

from unmask.errors import ConfigError, UnmaskError


class JobFileError(ConfigError):
    """A job file cannot be read or does not fit; each line of the message is a fault of its own."""

    is_list: ClassVar[bool] = True


class JobRefusedError(UnmaskError):
    """The service did not take a job: no permission, no credentials, a name that is taken, or it cannot be reached."""


class AwsMissingError(UnmaskError):
    """What talks to AWS is not installed."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"jobs need {missing}: pip install 'unmask[aws]'")
        self.args = (missing,)
