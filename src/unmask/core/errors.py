"""What a caller of the engine thread may meet beside refusals."""

from unmask.errors import RetryLaterError


class EngineStoppedError(RetryLaterError):
    """The engine thread has ended and takes nothing any more."""

    def __init__(self) -> None:
        super().__init__("the engine has stopped; send the request to another server, or start this one again")
        self.args = ()
