"""Predicts when a request would be answered, from what ticks and requests have taken of late."""

from dataclasses import dataclass

from unmask.sched.accounts import Accounts
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.service import ClassWork

DECAY = 0.99
"""What a tick's or request's weight is multiplied by with every later one."""
LEAST_TICKS = 32
LEAST_ENDED = 8
"""Before so many nothing is predicted, and so nobody refused."""


@dataclass(slots=True)
class _Line:
    """Least squares of seconds over tokens, older ticks weighing less."""

    weight: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0
    squares: float = 0.0
    products: float = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        self.weight = DECAY * self.weight + 1
        self.tokens = DECAY * self.tokens + tokens
        self.seconds = DECAY * self.seconds + seconds
        self.squares = DECAY * self.squares + tokens * tokens
        self.products = DECAY * self.products + tokens * seconds

    def at(self, tokens: float) -> float:
        """Return the seconds of a tick of so many tokens, more of them never taking less."""
        mean, level = self.tokens / self.weight, self.seconds / self.weight
        spread = self.squares / self.weight - mean * mean
        # Ticks of one size say nothing of others: time is then taken to grow as tokens do, which is the longest.
        steepest = level / mean
        slope = steepest if spread < mean else (self.products / self.weight - mean * level) / spread
        return level + min(max(slope, 0.0), steepest) * (tokens - mean)


class Forecast:
    """What has been seen of one engine. It knows no clock: it is told how long things took."""

    def __init__(self, settings: SchedSettings) -> None:
        self._settings = settings
        self._line = _Line()
        self._ticks = 0
        self._row_tokens = 0.0
        self._rows = 0.0
        self._ended = 0
        self._taken = 0.0
        self._allowed = 0.0

    def ticked(self, rows: int, tokens: int, seconds: float) -> None:
        """Take note of a tick."""
        if not tokens:
            return
        self._ticks += 1
        self._line.add(tokens, seconds)
        self._rows = DECAY * self._rows + rows
        self._row_tokens = DECAY * self._row_tokens + tokens

    def ended(self, sequence: Sequence, owed: int) -> None:
        """Take note of a request that completed with so many of its most tokens not taken."""
        self._ended += 1
        most = sequence.submission.most_tokens
        self._allowed = DECAY * self._allowed + most
        self._taken = DECAY * self._taken + most - owed

    @property
    def taken(self) -> float:
        """Share of their most tokens that requests take; all of it before any was seen."""
        return self._taken / self._allowed if self._allowed else 1.0

    def run_s(self, rows: int, ticks: float) -> float | None:
        """Return what so many ticks of so many rows take; nothing where too little was seen."""
        if not self._has_seen_enough:
            return None
        return ticks * self._line.at(rows * self._row_tokens / self._rows)

    def seconds(self, submission: Submission, accounts: Accounts) -> float | None:
        """Return how long a request would take from now on to be answered; nothing where too little was seen.

        It waits for what its tenant has before it, or all of its class where that is less, at its class's part of a
        full batch's pace; then it takes a tick for each of its steps.
        """
        if not self._has_seen_enough:
            return None
        full, tick_s = self._full_tick()
        pace = full / tick_s * accounts.share_of(submission.terms) if tick_s else float("inf")
        steps = submission.budget.max_total_steps or 0
        return self.taken * (accounts.ahead_of(submission) / pace + steps * tick_s)

    def works(self, accounts: Accounts) -> tuple[ClassWork, ...]:
        """Return how long each class with work takes for all of it; nothing where too little was seen."""
        if not self._has_seen_enough:
            return ()
        full, tick_s = self._full_tick()
        found = []
        for account in accounts.present():
            terms, forwards = account.terms, self.taken * account.expected / full
            found.append(
                ClassWork(
                    service_class=terms.name,
                    forwards=forwards,
                    drain_s=forwards * tick_s / accounts.share_of(terms),
                    slack_s=self._settings.patience_s if terms.deadline_s is None else terms.deadline_s,
                )
            )
        return tuple(found)

    @property
    def _has_seen_enough(self) -> bool:
        return self._ticks >= LEAST_TICKS and self._ended >= LEAST_ENDED

    def _full_tick(self) -> tuple[float, float]:
        """Return the row tokens of a full tick, and its seconds."""
        full = self._settings.max_rows * self._row_tokens / self._rows
        if self._settings.tick_tokens is not None:
            full = min(full, self._settings.tick_tokens)
        return full, self._line.at(full)
