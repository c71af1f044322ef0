"""Self-consistency: whether an answer is what the model says when it is asked again."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from unmask.tasks.numeric import last_number

MOST_SAMPLES = 8


class Compared(StrEnum):
    """What of two answers has to be the same: their words, or the last number."""

    TEXT = "text"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfConsistency:
    """Passes an answer that enough samples of the same request agree with (Wang et al. 2022).

    Attributes:
        samples: how many are drawn, each with a seed of its own.
        agree: how many have to say the same.
        compared: what saying the same means.
        temperature: at which they are drawn, unless the request's own is higher.
    """

    samples: int = 2
    agree: int = 2
    compared: Compared = Compared.TEXT
    temperature: float = 0.7

    def agreeing(self, answer: str, samples: Iterable[str]) -> int:
        """Return how many samples say what an answer says; one that says nothing to compare agrees with none."""
        said = self._said(answer)
        return 0 if not said else sum(self._said(sample) == said for sample in samples)

    def _said(self, text: str) -> str:
        match self.compared:
            case Compared.TEXT:
                return " ".join(text.split()).casefold()
            case Compared.NUMBER:
                found = last_number(text)
                return "" if found is None else found[0].lstrip("+")
            case _:
                assert_never(self.compared)
