"""Rows ``bfloat16_time_saving`` and so on: what each lower precision saves of time and memory, and what it costs."""

from collections.abc import Sequence
from random import Random

import numpy as np

from unmask.bench.arms import BASE
from unmask.bench.business_stop import one_minus
from unmask.bench.drive import drive
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import STEP, graded, make_engine
from unmask.bench.layers_workload import Ask, submissions_of
from unmask.bench.report import Figure, measured
from unmask.savings.registry import INT8
from unmask.stats import ratio_interval
from unmask.tasks.registry import all_tasks
from unmask.types import Precision

EXACT = Precision.FLOAT32


class PrecisionTier:
    """Seconds of requests in full batches, in single precision and in another one; each round other requests."""

    layer = Layer.MODEL
    off = str(EXACT)

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self.name = f"{precision}_time_saving"
        self.on = str(precision)
        self.terms = Terms(saving=INT8 if precision is Precision.INT8 else None)

    def measure(self, ground: Ground, number: int) -> Round:
        """Answer a part of the requests that repeat nothing in both, all at once."""
        asks = ground.workload.part(number, ground.rounds, tuple(all_tasks()))
        arms = Random(f"{ground.seed}/{number}").sample((EXACT, self._precision), 2)
        found = {precision: self._run(ground, asks, precision) for precision in arms}
        return Round(off=found[EXACT], on=found[self._precision])

    def _run(self, ground: Ground, asks: Sequence[Ask], precision: Precision) -> Sample:
        engine = make_engine(ground.bench, STEP, precision)
        run = drive(engine.core, submissions_of(ground.bench, asks), ground.bench.clock)
        runner = engine.runner
        return Sample(
            readings=(
                Reading(name="seconds", values=(run.seconds / len(asks),)),
                Reading(name="weights", values=(float(runner.weight_bytes),)),
                Reading(name="bytes", values=(float(runner.weight_bytes + BASE.pages * runner.page_bytes),)),
            ),
            answers=graded(asks, run.sequences),
        )

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the share of time saved; memory is that of weights, and of pages as a server has them."""
        off, on = ([one.value("seconds") for one in arm] for arm in _arms(rounds))
        figure = measured(
            self.name,
            one_minus(ratio_interval(on, off, seed, paired=True)),
            fallback=1 - float(np.mean(on) / np.mean(off)),
            note="of the time of a request, rounds resampled in pairs",
        )
        first = rounds[0]
        saved = {what: 1 - first.on.value(what) / first.off.value(what) for what in ("bytes", "weights")}
        beside = (
            Figure(name=f"{self.name}.memory_saving", value=saved["bytes"], note="of weights and a server's pages"),
            Figure(name=f"{self.name}.weights_saving", value=saved["weights"], note="of weights"),
            *(
                Figure(name=f"{self.name}.{arm}.seconds", value=float(np.mean(values)), unit="s", note="a request")
                for arm, values in (("off", off), ("on", on))
            ),
        )
        return Finding(figure=figure, beside=beside, reason="")


def _arms(rounds: Sequence[Round]) -> tuple[list[Sample], list[Sample]]:
    return [one.off for one in rounds], [one.on for one in rounds]
