"""What a committed transaction survives."""

from enum import StrEnum


class Durability(StrEnum):
    """Against which end a committed transaction is safe.

    ``process``: the end of the process, by whatever means; the last moments before a loss of power may be gone.
    ``power``: a loss of power too, for a wait on the disk at every commit.
    """

    PROCESS = "process"
    POWER = "power"
