"""How many of a search's generations a machine has room for, as that changes while they run."""

import asyncio


class Room:
    """What load leaves of one search; it and whoever tells it belong to one event loop. At first that is all of it."""

    def __init__(self) -> None:
        self._most: int | None = None
        self._is_pressed = False
        self._changed = asyncio.Event()

    @property
    def most(self) -> int | None:
        """How many generations there may be, one at least; ``None``: as many as are asked for."""
        return self._most

    @property
    def is_pressed(self) -> bool:
        """Whether there is no room for more than an answer; like a deadline that is over."""
        return self._is_pressed

    @property
    def changed(self) -> asyncio.Event:
        """What is set once there is another room than now."""
        return self._changed

    def leave(self, most: int | None, *, is_pressed: bool = False) -> None:
        """Tell how much room there is from now on."""
        if (most, is_pressed) == (self._most, self._is_pressed):
            return
        self._most, self._is_pressed = most, is_pressed
        # Whoever waits is told once; whoever asks from here on waits for the next change.
        self._changed.set()
        self._changed = asyncio.Event()
