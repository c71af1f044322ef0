"""What differs from call to call."""

from collections.abc import Callable
from dataclasses import dataclass

from unmask.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """What differs from call to call, as arguments: ids, seeds, wall-clock time, and a clock to measure with."""

    new_id: Callable[[], str]
    draw_seed: Callable[[], int]
    now: Callable[[], float]
    clock: Clock
