"""What completed generations were made of: tokens that served them, and the pages that they held."""

from unmask.sequence import Sequence
from unmask.work import NO_GROWTH, grown


class Made:
    """Sums over completed generations. What others took is waste, and so in theirs is padding behind an end token."""

    def __init__(self) -> None:
        self.useful_tokens = 0
        self.growth = NO_GROWTH

    def ended(self, sequence: Sequence) -> None:
        """Add a sequence that has completed and still holds its pages."""
        self.useful_tokens += sequence.prefill_tokens + sequence.commit_tokens + sequence.kept_tokens
        self.growth = grown(
            self.growth,
            length=len(sequence.submission.prompt) + len(sequence.output),
            kv_tokens=sequence.committed,
            pages=len(sequence.pages),
        )
