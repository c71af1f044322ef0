"""What can go wrong between gateways and engines."""

from unmask.errors import UnmaskError


class ReplicaLostError(UnmaskError):
    """An engine's process is gone, or cannot be reached; nothing more is heard of what runs there."""


class DeployError(UnmaskError):
    """A deployment could not be brought up; nothing of it is left running."""


class ClusterMissingError(UnmaskError):
    """Ray is not installed."""

    def __init__(self) -> None:
        super().__init__("ray is not installed, and a cluster needs it: pip install '.[ray]' in a checkout")
        self.args = ()
