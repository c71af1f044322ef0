"""Who has had how much of the machine: virtual counters of classes, and of tenants inside a class.

The counters are those of VTC (Sheng et al. 2024, arXiv 2401.00588): whoever has
had least goes first, and who comes back after a pause is lifted to the least of
those who are there, so that nobody saves up. What is counted are row tokens,
prompts included; a class counts them over its weight.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from unmask.sequence import Sequence, Submission
from unmask.service import ClassTerms

SPARE_TENANTS = 64
"""Tenants without work whose counters are kept before anybody looks which may go."""


@dataclass(slots=True, kw_only=True)
class TenantAccount:
    """What a tenant has had of a class.

    Attributes:
        used: row tokens.
        promised: row tokens that what runs may still come to take.
        present: sequences that wait or run.
        expected: row tokens that all of these may still come to take.
    """

    used: float = 0.0
    promised: float = 0.0
    present: int = 0
    expected: float = 0.0


@dataclass(slots=True, kw_only=True)
class ClassAccount:
    """What a class has had.

    Attributes:
        terms: as its latest request brought them.
        used: row tokens over its weight.
        credit: row tokens that its minimum share still owes it.
        wants: the row that the credit did not suffice for, which it has to be able to reach.
        passed: number of the sequence whose row did not fit into the last tick: the class's next row is its.
        picks: places in a batch that it was given.
        present: sequences that wait or run.
        running: sequences that run.
        pages: pages that these hold.
        expected: row tokens that all of its sequences may still come to take.
    """

    terms: ClassTerms
    used: float = 0.0
    credit: float = 0.0
    wants: int = 0
    passed: int | None = None
    picks: int = 0
    present: int = 0
    running: int = 0
    pages: int = 0
    expected: float = 0.0
    tenants: dict[str, TenantAccount] = field(default_factory=dict)

    @property
    def order(self) -> tuple[float, float, str]:
        """What classes are sorted by: who has had least, of those the one with the larger weight."""
        return self.used, -self.terms.weight, self.terms.name


class Accounts:
    """The accounts of all classes."""

    def __init__(self) -> None:
        self._classes: dict[str, ClassAccount] = {}

    def of(self, sequence: Sequence) -> ClassAccount:
        """Return the account of a sequence's class."""
        return self._classes[sequence.submission.terms.name]

    def tenant_of(self, sequence: Sequence) -> TenantAccount:
        """Return the account of a sequence's tenant in its class."""
        return self.of(sequence).tenants[sequence.submission.tenant]

    def named(self, service_class: str) -> ClassAccount | None:
        """Return the account of a class, if it has ever had a request."""
        return self._classes.get(service_class)

    def present(self) -> list[ClassAccount]:
        """Return the classes that have work, in their order."""
        return sorted((account for account in self._classes.values() if account.present), key=lambda one: one.order)

    def share_of(self, terms: ClassTerms) -> float:
        """Return the part of the machine that a class has among those with work, itself included."""
        weights = terms.weight + sum(
            account.terms.weight for account in self.present() if account.terms.name != terms.name
        )
        return min(max(terms.weight / weights, terms.min_share), terms.max_share)

    def ahead_of(self, submission: Submission) -> float:
        """Return the row tokens that a class may come to take before it gets to a request that arrives now.

        Tenants take turns, so that for one of its own tokens each of the others gets one, if it has any.
        """
        account = self._classes.get(submission.terms.name)
        if account is None:
            return 0.0
        own = account.tenants.get(submission.tenant)
        tenants = sum(1 for one in account.tenants.values() if one.present) + (own is None or not own.present)
        return min((0.0 if own is None else own.expected) * tenants, account.expected)

    def arrive(self, sequence: Sequence) -> None:
        """Take note of a sequence that waits from now on."""
        terms = sequence.submission.terms
        account = self._classes.setdefault(terms.name, ClassAccount(terms=terms))
        account.terms = terms
        if not account.present:
            account.used = max(account.used, _least(one.used for one in self._classes.values() if one.present))
        tenant = account.tenants.setdefault(sequence.submission.tenant, TenantAccount())
        if not tenant.present:
            tenant.used = max(tenant.used, _least(one.used for one in account.tenants.values() if one.present))
        account.present += 1
        tenant.present += 1
        sequence.owed = sequence.submission.most_tokens
        account.expected += sequence.owed
        tenant.expected += sequence.owed

    def begin(self, sequence: Sequence) -> None:
        """Take note that a sequence has its pages and runs."""
        account = self.of(sequence)
        account.running += 1
        account.picks += 1
        account.pages += len(sequence.pages)
        self.tenant_of(sequence).promised += sequence.owed

    def charge(self, sequence: Sequence, tokens: int) -> None:
        """Book the tokens of a row."""
        account, tenant = self.of(sequence), self.tenant_of(sequence)
        account.used += tokens / account.terms.weight
        account.credit = max(0.0, account.credit - tokens)
        tenant.used += tokens
        self._take_off(sequence, account, tenant, min(tokens, sequence.owed))

    def accrue(self, tokens: int) -> None:
        """Owe every class that runs its minimum share of a tick's tokens; never more than a tick or a row."""
        for account in self._classes.values():
            if account.running:
                most = max(tokens, account.wants)
                account.credit = min(account.credit + account.terms.min_share * tokens, most)

    def leave(self, sequence: Sequence, *, pages: int) -> None:
        """Take note that a sequence neither waits nor runs any more; ``pages`` is what it held, 0 where it waited."""
        account, tenant = self.of(sequence), self.tenant_of(sequence)
        self._take_off(sequence, account, tenant, sequence.owed)
        if sequence.started is not None:
            account.running -= 1
            account.pages -= pages
        account.present -= 1
        tenant.present -= 1
        if not account.present:
            account.credit, account.expected, account.tenants = 0.0, 0.0, {}
        elif len(account.tenants) > 2 * account.present + SPARE_TENANTS:
            self._prune(account)

    def _take_off(self, sequence: Sequence, account: ClassAccount, tenant: TenantAccount, tokens: int) -> None:
        sequence.owed -= tokens
        account.expected -= tokens
        tenant.expected -= tokens
        if sequence.started is not None:
            tenant.promised -= tokens

    def _prune(self, account: ClassAccount) -> None:
        """Forget tenants without work whom coming back would lift as high as they are."""
        least = _least(one.used for one in account.tenants.values() if one.present)
        account.tenants = {name: one for name, one in account.tenants.items() if one.present or one.used > least}


def _least(counters: Iterable[float]) -> float:
    return min(counters, default=0.0)
