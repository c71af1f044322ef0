"""Behaviour of `unmask.metrics.http`."""

from dataclasses import replace

from prometheus_client import CollectorRegistry

from tests.metrics.reading import moved, read
from unmask.metrics.http import Exchange, HttpInstruments

ANSWERED = Exchange(endpoint="/v1/x", status=200, error_code=None, hung_up=False, seconds=0.3, overhead_s=0.002)
REFUSED = replace(ANSWERED, status=400, error_code="invalid_value")
HUNG_UP = replace(ANSWERED, status=499, error_code="client_gone", hung_up=True)


class Server:
    """What a server says of itself."""

    def __init__(self) -> None:
        self.open = 0
        self.draining = False
        self.registry = CollectorRegistry()
        self.instruments = HttpInstruments(
            self.registry, open_requests=lambda: self.open, limit=7, is_draining=lambda: self.draining
        )

    def move(self, *exchanges: Exchange) -> dict[str, float]:
        """Return what exchanges move."""
        before = read(self.registry)
        for exchange in exchanges:
            self.instruments.ended(exchange)
        return moved(before, read(self.registry))


def test_answer_counts_once_and_is_timed() -> None:
    """An answer moves its own count and the two times, nothing else."""
    assert Server().move(ANSWERED, ANSWERED) == {
        "unmask_requests_total{endpoint=/v1/x,status=200}": 2,
        "unmask_request_duration_seconds_count{endpoint=/v1/x}": 2,
        "unmask_request_overhead_seconds_count": 2,
    }


def test_error_counts_by_its_code() -> None:
    """A refusal is a request and an error; its time says nothing of the overhead of answers."""
    assert Server().move(REFUSED) == {
        "unmask_requests_total{endpoint=/v1/x,status=400}": 1,
        "unmask_errors_total{code=invalid_value}": 1,
        "unmask_request_duration_seconds_count{endpoint=/v1/x}": 1,
    }


def test_hanging_up_is_counted_and_not_timed() -> None:
    """How long an impatient client stayed says nothing about the server."""
    assert Server().move(HUNG_UP) == {
        "unmask_requests_total{endpoint=/v1/x,status=499}": 1,
        "unmask_errors_total{code=client_gone}": 1,
        "unmask_disconnects_total{endpoint=/v1/x}": 1,
    }


def test_request_without_an_answer_is_counted() -> None:
    """What was given up before its answer began has no status, and is not lost."""
    assert "unmask_requests_total{endpoint=/v1/x,status=none}" in Server().move(replace(ANSWERED, status=None))


def test_times_go_into_their_buckets() -> None:
    """Durations are seconds."""
    server = Server()
    server.instruments.ended(ANSWERED)
    found = read(server.registry)

    assert found["unmask_request_duration_seconds_bucket{endpoint=/v1/x,le=0.25}"] == 0
    assert found["unmask_request_duration_seconds_bucket{endpoint=/v1/x,le=0.5}"] == 1
    assert found["unmask_request_overhead_seconds_bucket{le=0.001}"] == 0
    assert found["unmask_request_overhead_seconds_bucket{le=0.0025}"] == 1


def test_gauges_are_read_when_asked_for() -> None:
    """What is open, how much may be, and whether the server drains are those of the moment."""
    server = Server()
    before = read(server.registry)
    server.open, server.draining = 3, True
    after = read(server.registry)

    names = ("unmask_requests_open", "unmask_requests_open_limit", "unmask_draining")
    assert [before[name] for name in names] == [0, 7, 0]
    assert [after[name] for name in names] == [3, 7, 1]
