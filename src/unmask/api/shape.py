"""What tells the answers of one endpoint from those of another."""

from dataclasses import dataclass
from typing import Protocol

from unmask.api.finished import FinishedChoice
from unmask.backend import CommitEvent

Json = dict[str, object]


class ChoiceWriter(Protocol):
    """Writes one choice of an answer: whole, or as an opening, parts in their order, and a closing."""

    def whole(self, choice: FinishedChoice) -> Json:
        """Write the choice at once."""
        ...

    def opening(self) -> Json | None:
        """Write what a stream begins with, if it begins with anything."""
        ...

    def part(self, event: CommitEvent) -> Json:
        """Write the next piece of text."""
        ...

    def closing(self, choice: FinishedChoice) -> Json:
        """Write that the text has ended, and why."""
        ...


class MakeWriter(Protocol):
    """Makes the writer of one choice."""

    def __call__(self, *, index: int, echo: str, logprobs: bool) -> ChoiceWriter:
        """Return it.

        Args:
            index: place of the choice in the answer.
            echo: text that it begins with before anything is generated.
            logprobs: whether log-probabilities are asked for.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerShape:
    """Names of an endpoint's objects, and what writes its choices."""

    id_prefix: str
    whole: str
    chunk: str
    writer: MakeWriter
