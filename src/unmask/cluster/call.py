"""What goes between a gateway and an engine of another process.

Monotonic clocks of two machines have nothing in common, so what is sent are ages, and times are made of them anew.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from unmask.backend import DoneEvent, Event, Generation, ModelInfo, Request, Timing
from unmask.errors import UnmaskError
from unmask.load import ModelLoad


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request as it is sent.

    Attributes:
        request: without what only its gateway's process can call or read.
        age_s: seconds since it arrived, where that was before now.
        wants_left: whether its gateway wants to know what it took, should it be aborted.
    """

    request: Request
    age_s: float | None
    wants_left: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An engine's error, in the place of an answer."""

    error: UnmaskError


Item = Event | Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What an engine's process says of itself.

    Attributes:
        incarnation: another one each time the process starts.
        count: how often this incarnation was asked.
    """

    incarnation: str
    count: int
    models: tuple[ModelInfo, ...]
    loads: tuple[ModelLoad, ...]
    problems: tuple[str, ...] = ()


def make_call(request: Request, now: float) -> Call:
    """Return a request as it is sent; ``now`` is of the clock that it arrived by."""
    return Call(
        request=replace(request, arrived=None, left=None),
        age_s=None if request.arrived is None else now - request.arrived,
        wants_left=request.left is not None,
    )


def request_of(call: Call, now: float, left: Callable[[Generation], None]) -> Request:
    """Return the request of a call where it is run; ``now`` is of the clock there."""
    return replace(
        call.request,
        arrived=None if call.age_s is None else now - call.age_s,
        left=left if call.wants_left else None,
    )


def aged(event: Event, now: float) -> Event:
    """Return an event whose times are seconds ago, taken as negative."""
    return DoneEvent(generation=moved(event.generation, -now)) if isinstance(event, DoneEvent) else event


def dated(event: Event, now: float) -> Event:
    """Return an event of `aged` with times of the clock that ``now`` is of."""
    return DoneEvent(generation=moved(event.generation, now)) if isinstance(event, DoneEvent) else event


def moved(generation: Generation, by: float) -> Generation:
    """Return a generation whose times are so many seconds later."""
    timing = generation.timing
    return replace(
        generation,
        timing=Timing(arrived=timing.arrived + by, started=timing.started + by, finished=timing.finished + by),
    )
