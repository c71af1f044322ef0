"""Row ``all_layers_saving``: machine time a request with every layer on, against every layer off."""

from collections.abc import Sequence
from random import Random

import numpy as np

from unmask.bench.drive import drive
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import STATIC, STATIC_WORDS, STEP, STEP_WORDS, graded, make_engine
from unmask.bench.layers_workload import submissions_of
from unmask.bench.report import Figure, measured
from unmask.sched.settings import SchedSettings
from unmask.stats import ratio_interval
from unmask.types import Precision


class AllLayers:
    """Static batches in the bench's precision, against the engine as it serves in bfloat16; nothing is required."""

    name = "all_layers_saving"
    layer = Layer.ALL
    off = STATIC_WORDS
    on = f"{STEP_WORDS}, bfloat16"
    terms = Terms()

    def measure(self, ground: Ground, number: int) -> Round:
        """Give each arm all requests at once."""
        arms = {"off": (STATIC, ground.bench.precision), "on": (STEP, Precision.BFLOAT16)}
        order = Random(f"{ground.seed}/{number}").sample(list(arms), len(arms))
        found = {name: self._run(ground, *arms[name], number) for name in order}
        return Round(off=found["off"], on=found["on"])

    def _run(self, ground: Ground, settings: SchedSettings, precision: Precision, number: int) -> Sample:
        engine = make_engine(ground.bench, settings, precision)
        asks = ground.workload.asks
        run = drive(engine.core, submissions_of(ground.bench, asks), ground.bench.clock)
        return Sample(
            readings=(Reading(name="seconds", values=(run.seconds / len(asks),)),),
            answers=() if number else graded(asks, run.sequences),
        )

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the share of seconds saved."""
        off = [one.off.value("seconds") for one in rounds]
        on = [one.on.value("seconds") for one in rounds]
        times = measured(
            f"{self.name}.times_as_fast",
            ratio_interval(off, on, seed, paired=True),
            fallback=float(np.mean(off) / np.mean(on)),
            note="rounds resampled in pairs",
        )
        figure = Figure(
            name=self.name,
            value=1 - 1 / times.value,
            low=None if times.low is None else 1 - 1 / times.low,
            high=None if times.high is None else 1 - 1 / times.high,
            note="of the machine time of a request",
        )
        beside = tuple(
            Figure(name=f"{self.name}.{arm}.seconds", value=float(np.mean(values)), unit="s", note="a request")
            for arm, values in (("off", off), ("on", on))
        )
        return Finding(figure=figure, beside=(times, *beside), reason="")
