"""The steps of a search: a hard cap on all that runs together."""


class Purse:
    """Holds the most that a generation may take for as long as it runs, then books what it took.

    Args:
        total: denoise steps of everything together.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.spent = 0
        self._held = 0

    @property
    def left(self) -> int:
        """Steps that nobody has taken or may still take."""
        return max(0, self.total - self.spent - self._held)

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs, so that nothing can come back."""
        return self._held == 0

    def hold(self, most: int) -> int:
        """Set steps aside for a generation and return how many: all, fewer where no more will come, or 0: wait."""
        granted = most if self.left >= most else self.left if self.is_idle else 0
        self._held += granted
        return granted

    def settle(self, held: int, used: int) -> None:
        """Book what a generation has taken of what was held for it."""
        self._held -= held
        self.spent += used
