"""Which of the running sequences get a row of the next tick; the others pause, holding nothing but their pages."""

from collections import deque
from collections.abc import Collection, Iterable

from unmask.sched.accounts import Accounts, ClassAccount
from unmask.sched.queue import due
from unmask.sched.rows import RowSize, row_size
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence


def turn_of(running: Collection[Sequence], accounts: Accounts, settings: SchedSettings) -> list[Sequence]:
    """Return the sequences of the next tick, one at least while any runs.

    First come classes whose minimum share is owed a row, then whoever has had least for its weight: of classes, of
    their tenants, and of a tenant's requests the one that is due first. A row that does not fit any more ends its
    class's turn, and is the first of a later one.
    """
    if len(running) == 1:
        # It has nobody to take turns with, and always has its row: a request by itself is answered the sooner.
        chosen = list(running)
        accounts.of(chosen[0]).passed = None
        return chosen
    lines = _lines(running, accounts, settings)
    turn = _Turn(settings, is_interactive=any(line.account.terms.is_interactive for line in lines))
    for line in sorted(lines, key=lambda line: line.order):
        while line.account.terms.min_share > 0 and turn.take(line, owed=line.account.credit - line.spent):
            pass
    while lines:
        line = min(lines, key=lambda line: line.order)
        if not turn.take(line):
            lines.remove(line)
    return turn.chosen


def _lines(running: Iterable[Sequence], accounts: Accounts, settings: SchedSettings) -> "list[_Line]":
    found: dict[str, list[Sequence]] = {}
    for sequence in running:
        found.setdefault(sequence.submission.terms.name, []).append(sequence)
    return [_Line(accounts.of(members[0]), members, settings.patience_s) for members in found.values()]


class _Line:
    """The running sequences of one class that have no row of this tick yet, and what the others were given."""

    def __init__(self, account: ClassAccount, sequences: Iterable[Sequence], patience_s: float) -> None:
        self.account = account
        self.rows = 0
        self.spent = 0
        self._tenants: dict[str, deque[Sequence]] = {}
        self._used: dict[str, float] = {}
        self._passed: Sequence | None = None
        for sequence in sorted(sequences, key=lambda one: (due(one, patience_s), one.arrived, one.id)):
            tenant = sequence.submission.tenant
            self._tenants.setdefault(tenant, deque()).append(sequence)
            self._used[tenant] = account.tenants[tenant].used
            if sequence.id == account.passed:
                self._passed = sequence
        account.passed = None

    @property
    def order(self) -> tuple[float, float, str]:
        """What classes are sorted by, with what they were given of this tick."""
        used, weight, name = self.account.order
        return used + self.spent / self.account.terms.weight, weight, name

    def head(self) -> Sequence | None:
        """Return the sequence whose turn it is: one that did not fit, or of the least served tenant the first due."""
        if self._passed is not None:
            return self._passed
        firsts = (line[0] for line in self._tenants.values())
        return min(firsts, key=lambda one: (self._used[one.submission.tenant], one.arrived, one.id), default=None)

    def take(self, sequence: Sequence, tokens: int) -> None:
        """Take the head out, with the tokens of the row that it gets, or none where it gets no row."""
        tenant = sequence.submission.tenant
        if sequence is self._passed:
            self._passed = None
        self._tenants[tenant].remove(sequence)
        if not self._tenants[tenant]:
            del self._tenants[tenant]
        self._used[tenant] += tokens
        self.spent += tokens
        self.rows += tokens > 0


class _Turn:
    """The rows of a tick as they are given out."""

    def __init__(self, settings: SchedSettings, *, is_interactive: bool) -> None:
        self.chosen: list[Sequence] = []
        self._settings = settings
        self._is_interactive = is_interactive
        self._tokens = 0
        self._prefill_left = settings.prefill_tokens

    def take(self, line: _Line, *, owed: float | None = None) -> bool:
        """Give a class a row, one of no more tokens than it is ``owed``; returns whether it got one."""
        while (sequence := line.head()) is not None:
            size = row_size(sequence, self._settings, self._prefill_left)
            if size is None:
                # The tick has no room for its prompt; a canvas behind it need not wait for that.
                line.take(sequence, 0)
                continue
            if owed is not None and size.tokens > owed:
                line.account.wants = size.tokens
                return False
            if not self._has_row(line):
                return False
            if not self._fits(line, size):
                line.account.passed = sequence.id
                return False
            line.take(sequence, size.tokens)
            self._tokens += size.tokens
            self._prefill_left -= size.prompt
            self.chosen.append(sequence)
            return True
        return False

    def _has_row(self, line: _Line) -> bool:
        most = most_rows(line.account.terms.max_share, self._settings)
        return len(self.chosen) < self._settings.max_rows and line.rows < most

    def _fits(self, line: _Line, size: RowSize) -> bool:
        settings, terms = self._settings, line.account.terms
        limit = settings.tick_tokens
        if self._is_interactive and not terms.is_interactive and settings.fast_tick_tokens is not None:
            limit = settings.fast_tick_tokens if limit is None else min(limit, settings.fast_tick_tokens)
        if limit is None or not self.chosen:
            return True
        within_share = line.rows == 0 or line.spent + size.tokens <= terms.max_share * limit
        return within_share and self._tokens + size.tokens <= limit


def most_rows(share: float, settings: SchedSettings) -> int:
    """Return the rows that a share of a batch comes to, one at least."""
    return max(1, int(share * settings.max_rows))
