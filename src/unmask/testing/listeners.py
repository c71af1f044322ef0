"""A listener that remembers."""

from dataclasses import dataclass, field

from unmask.sequence import Sequence


@dataclass(slots=True)
class RecordingListener:
    """A `Listener` that keeps what it was told, in order."""

    steps: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    endings: list[Sequence] = field(default_factory=list)

    def stepped(self, sequence: Sequence) -> None:
        """Keep the steps taken so far."""
        self.steps.append(sequence.steps)

    def grown(self, sequence: Sequence) -> None:
        """Keep the text so far."""
        self.texts.append(sequence.text)

    def ended(self, sequence: Sequence) -> None:
        """Keep the sequence."""
        self.endings.append(sequence)
