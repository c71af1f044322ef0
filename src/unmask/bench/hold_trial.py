"""Waiting for a batch to fill, simulated: never, for a fixed time, and as `unmask.sched.holding` decides."""

from collections.abc import Sequence as Items
from dataclasses import dataclass
from enum import StrEnum
from random import Random

import numpy as np

from unmask.bench.simulated import SimulatedCore, TickCost
from unmask.sched.queue import WaitingQueue
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.service import Batching, Holds
from unmask.testing.listeners import RecordingListener
from unmask.types import Bucket, StepBudget

CANVAS, STEPS = 32, 8
BURST, APART_S = 8, 0.001
"""Requests of a burst, such as the choices of one call, and the seconds between them."""
LONGEST_S = 0.1


class HoldArm(StrEnum):
    """When an idle engine begins: at once, when the batch is full or a fixed time is over, or as measured."""

    NEVER = "never"
    FIXED = "fixed"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldTrial:
    """One setting of the simulation.

    Attributes:
        rate: requests a second.
        is_bursty: whether they come in bursts of `BURST`.
    """

    batching: Batching
    cost: TickCost
    rate: float
    is_bursty: bool
    requests: int = 400
    rows: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldOutcome:
    """Mean and 99th percentile of seconds to an answer, and seconds of forwards for each request."""

    mean_s: float
    p99_s: float
    machine_s: float
    holds: Holds


class _FixedHold:
    """What servers with one constant do."""

    def __init__(self, rows: int) -> None:
        self.holds = Holds()
        self._rows = rows

    def arrived(self, bucket: Bucket | None, now: float) -> None:
        """Take no note of it."""

    def until(self, queue: WaitingQueue, now: float, *, is_idle: bool) -> float | None:
        """Wait until the batch is full or the first has waited for so long."""
        until = queue.earliest_arrival() + LONGEST_S
        return until if is_idle and 0 < len(queue) < self._rows and until > now else None


def run_hold_trial(trial: HoldTrial, arm: HoldArm, seed: int) -> HoldOutcome:
    """Serve the arrivals of a seed, the same in every arm."""
    wait = 0.0 if arm is HoldArm.NEVER else LONGEST_S
    settings = SchedSettings(max_rows=trial.rows, batching=trial.batching, fill_wait_s=wait, prefix_cache=False)
    simulated = SimulatedCore(settings, trial.cost)
    if arm is HoldArm.FIXED:
        simulated.core.batcher.hold = _FixedHold(trial.rows)  # type: ignore[assignment] # has the same methods
    listeners: list[RecordingListener] = []
    coming = _arrivals(trial, Random(seed))[::-1]
    while coming or not simulated.core.is_idle:
        if coming and coming[-1] <= simulated.ready_at:
            listeners.append(RecordingListener())
            simulated.submit(coming.pop(), _submission(), listeners[-1])
        else:
            simulated.tick()
    times = [_seconds(listener.endings[0]) for listener in listeners]
    load = simulated.core.load
    return HoldOutcome(
        mean_s=float(np.mean(times)),
        p99_s=float(np.quantile(times, 0.99)),
        machine_s=load.work.seconds / len(times),
        holds=load.holds,
    )


def mean_ratios(trial: HoldTrial, arm: HoldArm, seeds: Items[int]) -> tuple[list[float], list[float]]:
    """Return mean seconds and machine seconds of an arm over those of `HoldArm.NEVER`, by seed."""
    pairs = [(run_hold_trial(trial, arm, seed), run_hold_trial(trial, HoldArm.NEVER, seed)) for seed in seeds]
    return (
        [found.mean_s / never.mean_s for found, never in pairs],
        [found.machine_s / never.machine_s for found, never in pairs],
    )


def _arrivals(trial: HoldTrial, rng: Random) -> list[float]:
    size = BURST if trial.is_bursty else 1
    now = 0.0
    found: list[float] = []
    while len(found) < trial.requests:
        now += rng.expovariate(trial.rate / size)
        found += [now + APART_S * place for place in range(size)]
    return sorted(found)


def _submission() -> Submission:
    return Submission(
        prompt=tuple(range(2, 10)),
        max_tokens=CANVAS,
        canvas_length=CANVAS,
        context_length=256,
        budget=StepBudget(max_steps=STEPS, max_total_steps=STEPS),
        bucket=Bucket.M,
    )


def _seconds(sequence: Sequence) -> float:
    assert sequence.finished is not None, "an ended sequence has its time"
    return sequence.finished - sequence.arrived
