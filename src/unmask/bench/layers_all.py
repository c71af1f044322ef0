"""Row ``all_layers_saving``: machine time a request with every layer on, against every layer off."""

import asyncio
from collections.abc import Sequence
from random import Random

import numpy as np

from unmask.bench.drive import drive
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import STATIC, STATIC_WORDS, STEP_WORDS, graded, make_engine
from unmask.bench.layers_serving import Served, served_record, serving
from unmask.bench.layers_workload import submissions_of
from unmask.bench.report import Figure, Record, measured
from unmask.config import Settings
from unmask.config.choices import CacheMode, Switch
from unmask.control.answered import Answered
from unmask.control.stored import StoredPolicies
from unmask.policy.folders import packaged_store
from unmask.stats import ratio_interval
from unmask.types import Precision

ON = Settings(cache=CacheMode.SEMANTIC, prompt_refinement=Switch.ON, confidence_stop=Switch.ON)
"""Everything else is as it ships: answers that are generated again to compare are charged."""


class AllLayers:
    """Static batches in the bench's precision, against a server with all that one run can have; nothing is required.

    Not in it: routes, which are fitted first and add nothing where the small model is never tried; speculation, which
    writes other answers than a canvas does; and replicas, which share the processors of one machine.
    """

    name = "all_layers_saving"
    layer = Layer.ALL
    off = STATIC_WORDS
    on = f"{STEP_WORDS}, bfloat16, cache, prompt refinement, confidence stop, exits of the policy that ships"
    terms = Terms()

    def measure(self, ground: Ground, number: int) -> Round:
        """Give each arm all requests: static batches at once, the server as fast as it has rows for them."""
        arms = {"off": self._off, "on": self._on}
        order = Random(f"{ground.seed}/{number}").sample(list(arms), len(arms))
        found = {name: arms[name](ground, number) for name in order}
        return Round(off=found["off"], on=found["on"])

    def _off(self, ground: Ground, number: int) -> Sample:
        engine = make_engine(ground.bench, STATIC, ground.bench.precision)
        asks = ground.workload.asks
        run = drive(engine.core, submissions_of(ground.bench, asks), ground.bench.clock)
        return _sample(run.seconds / len(asks), () if number else graded(asks, run.sequences))

    def _on(self, ground: Ground, number: int) -> Sample:
        seconds, answered = asyncio.run(self._serve(ground, number))
        asks = ground.workload.asks
        return _sample(seconds / len(asks), () if number else tuple(map(served_record, asks, answered)))

    async def _serve(self, ground: Ground, number: int) -> tuple[float, list[Answered]]:
        clock, policies = ground.bench.clock, StoredPolicies(packaged_store())
        served = Served(settings=ON, precision=Precision.BFLOAT16, policies=policies)
        async with serving(ground.bench, served, ground.seed + number) as server:
            began = clock.now()
            answered = await server.answer(ground.workload.asks)
            return clock.now() - began, answered

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


def _sample(seconds: float, answers: tuple[Record, ...]) -> Sample:
    return Sample(readings=(Reading(name="seconds", values=(seconds,)),), answers=answers)
