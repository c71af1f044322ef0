"""Whose turn it is among those that wait: by class, tenant and deadline, and nobody for ever."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from unmask.sched.accounts import Accounts, ClassAccount
from unmask.sched.queue import AGING, WaitingQueue
from unmask.sequence import Sequence
from unmask.service import ClassTerms, QueueLoad
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import Bucket

PATIENCE_S = 60.0


class Line:
    """A queue and the accounts it goes by."""

    def __init__(self, limit: int = 100) -> None:
        self.accounts = Accounts()
        self.queue = WaitingQueue(limit, PATIENCE_S)
        self._next = 0

    def add(
        self,
        tenant: str = "",
        *,
        arrived: float = 0.0,
        terms: ClassTerms | None = None,
        **fields: Any,  # noqa: ANN401 - any field of the submission
    ) -> Sequence:
        """Let a request wait."""
        self._next += 1
        submission = make_submission(tenant=tenant, terms=terms or ClassTerms(), **fields)
        sequence = make_sequence(submission, id=self._next, arrived=arrived)
        self.accounts.arrive(sequence)
        self.queue.push(sequence)
        return sequence

    @property
    def account(self) -> ClassAccount:
        """The account of the only class."""
        (account,) = self.accounts.present()
        return account

    def start(self, now: float = 0.0) -> Sequence | None:
        """Give the next request a place."""
        sequence = self.queue.next_of(self.account)
        if sequence is not None:
            self.queue.take(sequence, now)
            sequence.started = now
            self.accounts.begin(sequence)
        return sequence


def test_first_come_first_served() -> None:
    """Of one tenant, those that came first go first, and looking at one does not take it."""
    line = Line()
    first, second = line.add(arrived=1.0), line.add(arrived=2.0)

    assert line.queue.next_of(line.account) is first
    assert [line.start(), line.start()] == [first, second]
    assert line.queue.next_of(line.account) is None


def test_of_one_tenant_what_is_due_first_goes_first() -> None:
    """Whatever its bucket; without a deadline a request is due within the queue's patience."""
    line = Line()
    line.add(arrived=0.0, bucket=Bucket.S)
    urgent = line.add(arrived=5.0, bucket=Bucket.L, terms=ClassTerms(deadline_s=PATIENCE_S - 6))

    assert line.start() is urgent


def test_tenants_take_turns() -> None:
    """A tenant with ten requests in line gets every other place while another has any."""
    line = Line()
    for _ in range(10):
        line.add("flood")
    for _ in range(3):
        line.add("other")
    order = [sequence.submission.tenant for sequence in iter(line.start, None)]

    assert sorted(order[:6]) == ["flood"] * 3 + ["other"] * 3


def test_a_large_request_costs_its_tenant_more_turns() -> None:
    """What counts are row tokens, not requests."""
    line = Line()
    line.add("large", max_steps=40)
    line.add("large", max_steps=40)
    for _ in range(4):
        line.add("small", max_steps=8)
    order = [sequence.submission.tenant for sequence in iter(line.start, None)]

    assert order == ["large", *["small"] * 4, "large"]


def test_it_is_full_class_by_class() -> None:
    """One class's flood leaves the other's line as it is."""
    line = Line(limit=2)
    for _ in range(2):
        line.add(terms=ClassTerms(name="batch"))

    assert line.queue.is_full("batch")
    assert not line.queue.is_full("interactive")
    assert (len(line.queue), line.queue.waiting("batch"), line.queue.waiting("interactive")) == (2, 2, 0)


def test_sequences_leave_from_anywhere() -> None:
    """Those that will not run come out, the others keep their order."""
    line = Line()
    sequences = [line.add(arrived=float(number)) for number in range(5)]
    line.queue.remove([sequences[2], sequences[3]])

    assert [line.start() for _ in range(4)] == [sequences[0], sequences[1], sequences[4], None]
    assert len(line.queue) == 0


def test_loads_tell_length_age_and_wait_of_each_bucket() -> None:
    """A bucket that was emptied is still told of, with what has left it."""
    line = Line()
    line.add(arrived=1.0, bucket=Bucket.S)
    line.add(arrived=2.0, bucket=Bucket.M)
    line.add(arrived=3.0, bucket=Bucket.M)
    line.start(now=9.0)
    small, medium = line.queue.loads(10.0, line.accounts)

    assert small == QueueLoad(
        service_class="", bucket=Bucket.S, waiting=0, oldest_s=0.0, patience_s=PATIENCE_S, admitted=1, waited_s=8.0
    )
    assert medium == QueueLoad(
        service_class="", bucket=Bucket.M, waiting=2, oldest_s=8.0, patience_s=PATIENCE_S, admitted=0, waited_s=0.0
    )
    assert not medium.is_behind


def test_a_queue_is_behind_once_somebody_is_past_the_deadline() -> None:
    """Its class's own where it has one."""
    line = Line()
    line.add(terms=ClassTerms(deadline_s=5.0))

    assert [line.queue.loads(now, line.accounts)[0].is_behind for now in (5.0, 5.1)] == [False, True]


@given(st.integers(0, 30), st.integers(1, 4))
def test_nobody_waits_for_ever(others: int, a_round: int) -> None:
    """However many newcomers of tenants that have had nothing arrive, a place in eight goes to who waits longest."""
    line = Line()
    for number in range(others):
        line.add(f"early {number}", arrived=0.0)
    starved = line.add("starved", arrived=0.5)
    line.accounts.tenant_of(starved).used = 1e9
    places = 0
    while starved.started is None and places < AGING * (others + 1):
        for number in range(a_round):
            line.add(f"new {places} {number}", arrived=1.0 + places)
        line.start()
        places += 1

    assert starved.started is not None
