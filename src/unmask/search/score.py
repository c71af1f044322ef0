"""What is known of an answer, and which of two is better."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from unmask.backend import Generation
from unmask.types import DraftCheck, Verification

Agreement = Callable[[str], str]
"""Returns what of a text is compared where answers vote; an empty string agrees with nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What is known of an answer, what says most first.

    Attributes:
        verdict: of the request's verifier; skipped without one.
        votes: answers that say the same, this one among them.
        confidence: mean log-probability of its tokens at the steps that fixed them, in nats; so long answers and
            short ones compare. ``None`` where the backend tells none.
        reward: of a reward endpoint, where one was asked.
    """

    verdict: Verification
    confidence: float | None
    votes: int = 1
    reward: float | None = None

    @property
    def passes(self) -> bool:
        """Whether no verifier says that it is wrong."""
        return self.verdict is not Verification.FAIL

    @property
    def rank(self) -> tuple[bool, int, float]:
        """What answers are ordered by, the better one's being larger; the reward aside."""
        return self.passes, self.votes, float("-inf") if self.confidence is None else self.confidence

    def clears(self, threshold: float | None) -> bool:
        """Tell whether it is good enough: it passes, and is as sure as the threshold asks for."""
        if not self.passes or threshold is None:
            return self.passes
        return self.confidence is not None and self.confidence >= threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An answer with its score; ``number`` says how many were begun before it."""

    number: int
    generation: Generation
    score: Score


def verdict_of(check: DraftCheck | None, text: str) -> Verification:
    """Ask the verifier, if there is one."""
    if check is None:
        return Verification.SKIPPED
    return Verification.PASS if check(text) else Verification.FAIL


def confidence_of(generation: Generation) -> float | None:
    """Return the mean log-probability of a generation's tokens; nothing where it tells none."""
    found = [token.chosen.logprob for token in generation.logprobs]
    return fmean(found) if found else None


def said(text: str) -> str:
    """Return what of a text is compared where answers vote: its words, blanks and case aside."""
    return " ".join(text.split()).casefold()


def counted(answers: Sequence[Scored], agreement: Agreement = said) -> list[Scored]:
    """Give every answer the votes of those that say the same.

    Answers that fail the verifier vote for nothing but one another. An answer that says nothing has its own vote only.
    """
    keys = [(answer.score.passes, agreement(answer.generation.text)) for answer in answers]
    count = Counter(keys)
    return [
        replace(answer, score=replace(answer.score, votes=count[key] if key[1] else 1))
        for answer, key in zip(answers, keys, strict=True)
    ]


def best_of(answers: Sequence[Scored]) -> Scored:
    """Return the answer of the highest rank, of several alike the first."""
    return max(answers, key=lambda answer: (answer.score.rank, -answer.number))
