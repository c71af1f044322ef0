"""What is tried again, and for how long."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import ContextLengthError, DrainingError, InvalidRequestError, QueueFullError, UnknownModelError
from unmask.gate.patience import FaultError, GaveUpError, Patience, Trying, completed, fault_of
from unmask.remote.errors import (
    CircuitOpenError,
    RequestRefusedError,
    SilentError,
    UnreachableError,
    UpstreamBusyError,
    UpstreamChangedError,
    UpstreamFailedError,
    UpstreamRefusedError,
    UpstreamUnavailableError,
    WithheldError,
)
from unmask.testing.builders import make_generation
from unmask.testing.manual_clock import ManualClock
from unmask.types import Outcome

AGAIN = [
    QueueFullError("full"),
    UpstreamBusyError("a", "429"),
    UpstreamUnavailableError("a", "503"),
    UpstreamFailedError("a", "500"),
    UnreachableError("a", "refused"),
    CircuitOpenError("a", "open"),
    SilentError("a", "silent"),
    ConnectionResetError("reset"),
    TimeoutError("slow"),
    FaultError("failed", may_retry=True),
]
NEVER = [ContextLengthError(500, 10, 256), RequestRefusedError("a", "400"), WithheldError("a", "filter")]
MISTAKES = [
    InvalidRequestError("temperature", 9, "0 to 2", "Lower it."),
    UnknownModelError("x", ()),
    UpstreamRefusedError("a", "401"),
    UpstreamChangedError("a", "another model"),
    DrainingError("stopping"),
    ValueError("ours"),
]


class Sleeps:
    """A sleep that moves a clock, and remembers."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """Move the clock."""
        self.slept.append(seconds)
        self._clock.advance(seconds)


def failing(*errors: Exception) -> Callable[[], Awaitable[str]]:
    """Return a call that fails with each of these in turn, and then answers."""
    left = list(errors)

    async def call() -> str:
        if left:
            raise left.pop(0)
        return "answer"

    return call


def make_trying(patience: Patience | None = None) -> tuple[Trying, Sleeps]:
    """Return what tries on a clock that only its sleep moves."""
    clock = ManualClock()
    sleeps = Sleeps(clock)
    return Trying(clock=clock, rng=Random(1), patience=patience or Patience(), sleep=sleeps), sleeps


@pytest.mark.parametrize("error", AGAIN, ids=lambda error: type(error).__name__)
async def test_faults_of_the_infrastructure_are_tried_again(error: Exception) -> None:
    """A full queue, a 429, a 5xx, a lost connection and a timeout are nobody's answer."""
    trying, sleeps = make_trying()

    assert await trying.until_answered(failing(error, error)) == ("answer", 3)
    assert len(sleeps.slept) == 2


async def test_whoever_waits_is_told_what_for() -> None:
    """Of each fault that is tried again, and of no other."""
    trying, _ = make_trying()
    told: list[str] = []
    trying = replace(trying, notice=told.append)

    await trying.until_answered(failing(UnreachableError("a", "refused"), TimeoutError("slow")))
    with pytest.raises(GaveUpError):
        await trying.until_answered(failing(NEVER[0]))

    assert [reason.partition(":")[0] for reason in told] == ["UnreachableError", "TimeoutError"]


@pytest.mark.parametrize("error", NEVER, ids=lambda error: type(error).__name__)
async def test_what_never_fits_is_not_tried_again(error: Exception) -> None:
    """A prompt that is too long or refused stays so; it is a fault all the same, and no failure of the model."""
    trying, sleeps = make_trying()

    with pytest.raises(GaveUpError) as caught:
        await trying.until_answered(failing(error))
    assert caught.value.tries == 1
    assert str(error) in caught.value.reason
    assert sleeps.slept == []


@pytest.mark.parametrize("error", MISTAKES, ids=lambda error: type(error).__name__)
async def test_mistakes_end_the_run(error: Exception) -> None:
    """A wrong key, another model behind the name, or a value out of range: no answer would be right."""
    trying, _ = make_trying()

    assert fault_of(error) is None
    with pytest.raises(type(error)):
        await trying.until_answered(failing(error))


async def test_a_minute_of_429s_is_survived() -> None:
    """A server that wants to be left alone for a minute is, and then answers."""
    clock = ManualClock()
    sleeps = Sleeps(clock)
    tries = []

    async def call() -> str:
        tries.append(clock.now())
        if clock.now() < 60:
            raise UpstreamBusyError("a", "429", retry_after_s=5.0)
        return "answer"

    trying = Trying(clock=clock, rng=Random(3), sleep=sleeps)

    answer, tried = await trying.until_answered(call)

    assert (answer, tried) == ("answer", len(tries))
    assert clock.now() < 120
    assert min(sleeps.slept) >= 5.0


async def test_patience_ends() -> None:
    """What never comes back is given up in time, with the last reason and the number of tries."""
    trying, sleeps = make_trying(Patience(total_s=100.0))

    with pytest.raises(GaveUpError, match="503") as caught:
        await trying.until_answered(failing(*[UpstreamUnavailableError("a", "503")] * 99))
    assert sum(sleeps.slept) <= 100
    assert caught.value.tries == len(sleeps.slept) + 1


async def test_a_server_that_asks_for_too_long_is_not_waited_for() -> None:
    """An hour's wait is given up at once rather than sat through."""
    trying, sleeps = make_trying()

    with pytest.raises(GaveUpError):
        await trying.until_answered(failing(UpstreamBusyError("a", "429", retry_after_s=3600.0)))
    assert sleeps.slept == []


@given(st.integers(1, 19), st.floats(0, 299), st.none() | st.floats(0, 500), st.floats(0, 1))
def test_pauses_keep_their_bounds(tried: int, waited: float, after: float | None, draw: float) -> None:
    """No pause is shorter than asked for, nor longer than that and the longest one; none leads past the end."""
    patience = Patience()
    pause = patience.pause_s(tried, waited, after, draw)

    if pause is None:
        assert waited + (after or 0) + patience.longest_s > patience.total_s
    else:
        assert (after or 0) <= pause <= (after or 0) + patience.longest_s
        assert waited + pause <= patience.total_s


def test_a_failed_generation_is_a_fault() -> None:
    """What the engine failed or aborted is not the model's answer."""
    assert completed(make_generation("x")).text == "x"
    with pytest.raises(FaultError, match="failed: out of pages"):
        completed(make_generation("", outcome=Outcome.FAILED, finish_reason=None, error="out of pages"))
