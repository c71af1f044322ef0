"""Row ``engine_busy_share``: of the wall time under load, how much the machine spends moving requests on."""

from collections.abc import Sequence
from random import Random

import numpy as np
import torch

from unmask.bench.drive import drive
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import STATIC, STATIC_WORDS, STEP, STEP_WORDS, graded, make_engine
from unmask.bench.layers_workload import submissions_of
from unmask.bench.report import Figure, measured
from unmask.sched.settings import SchedSettings
from unmask.stats import bootstrap_mean


class BusyShare:
    """Seconds in forwards, counting of each row step only those that move their request, over wall seconds."""

    name = "engine_busy_share"
    layer = Layer.ENGINE
    off = STATIC_WORDS
    on = STEP_WORDS
    terms = Terms(target=0.85)

    def measure(self, ground: Ground, number: int) -> Round:
        """Give each arm all requests at once, so that it always has something to do."""
        arms = {"off": STATIC, "on": STEP}
        order = Random(f"{ground.seed}/{number}")
        found = {name: self._run(ground, arms[name], number) for name in order.sample(list(arms), len(arms))}
        return Round(off=found["off"], on=found["on"])

    def _run(self, ground: Ground, settings: SchedSettings, number: int) -> Sample:
        engine = make_engine(ground.bench, settings, ground.bench.precision)
        asks = ground.workload.asks
        before = ground.processor()
        run = drive(engine.core, submissions_of(ground.bench, asks), ground.bench.clock)
        processor = ground.processor() - before
        moved = sum(one.steps for one in run.sequences)
        return Sample(
            readings=(
                Reading(name="wall", values=(run.seconds,)),
                Reading(name="forward", values=(engine.meter.work.seconds,)),
                Reading(name="moving", values=(moved / (moved + engine.waiting_rows),)),
                Reading(name="processor", values=(processor / torch.get_num_threads(),)),
            ),
            answers=() if number else graded(asks, run.sequences),
        )

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the share with static batches off; what is not busy is scheduling, or rows that wait."""
        off, on = [one.off for one in rounds], [one.on for one in rounds]
        figure = _mean(self.name, [_busy(one) for one in on], seed, "moving row steps only")
        forward, moving = (float(np.mean(values)) for values in ([_forward(one) for one in on], _all(on, "moving")))
        beside = [
            _mean(f"{self.name}.off.busy", [_busy(one) for one in off], seed, "moving row steps only"),
            *(
                figure
                for arm, samples in (("off", off), ("on", on))
                for figure in (
                    _mean(f"{self.name}.{arm}.forward", [_forward(one) for one in samples], seed, "of wall time"),
                    _mean(f"{self.name}.{arm}.moving", _all(samples, "moving"), seed, "of row steps"),
                    _mean(
                        f"{self.name}.{arm}.processor",
                        [one.value("processor") / one.value("wall") for one in samples],
                        seed,
                        "processor time of all threads, work for nothing included",
                    ),
                )
            ),
        ]
        reason = f"{1 - forward:.0%} of wall time lies between forwards, {1 - moving:.0%} of row steps wait"
        return Finding(figure=figure, beside=tuple(beside), reason=reason)


def _busy(sample: Sample) -> float:
    return _forward(sample) * sample.value("moving")


def _forward(sample: Sample) -> float:
    return sample.value("forward") / sample.value("wall")


def _all(samples: Sequence[Sample], name: str) -> list[float]:
    return [one.value(name) for one in samples]


def _mean(name: str, values: Sequence[float], seed: int, note: str) -> Figure:
    return measured(name, bootstrap_mean(values, seed), fallback=float(np.mean(values)), note=note)
