"""Waiting sequences keep their order."""

from unmask.sched.queue import WaitingQueue
from unmask.testing.sequences import make_sequence


def test_first_come_first_served() -> None:
    """The front is the one that has waited longest, and looking at it does not take it."""
    queue = WaitingQueue(5)
    first, second = make_sequence(id=1), make_sequence(id=2)
    queue.push(first)
    queue.push(second)

    assert queue.front() is first
    assert [queue.pop(), queue.pop()] == [first, second]
    assert queue.front() is None


def test_it_is_full_at_its_limit() -> None:
    """One more than the limit would be too many."""
    queue = WaitingQueue(1)
    before = queue.is_full
    queue.push(make_sequence())

    assert (before, queue.is_full, len(queue)) == (False, True, 1)


def test_aborted_sequences_leave_from_anywhere() -> None:
    """Those whose abort was asked for come out, the others keep their order."""
    queue = WaitingQueue(9)
    sequences = [make_sequence(id=number, abort_requested=number in {2, 3}) for number in range(5)]
    for sequence in sequences:
        queue.push(sequence)

    assert queue.remove_aborted() == [sequences[2], sequences[3]]
    assert queue.remove_aborted() == []
    assert [queue.pop().id for _ in range(len(queue))] == [0, 1, 4]
