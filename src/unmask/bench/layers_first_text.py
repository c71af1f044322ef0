"""Row ``ttft_p99_vs_static_batches``: how long the slowest hundredth waits for the first text of its answer."""

from bisect import bisect_left
from collections.abc import Sequence
from random import Random

import numpy as np

from unmask.bench.arriving import Arrival, serve_arrivals
from unmask.bench.drive import drive
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import STATIC, STATIC_WORDS, STEP, STEP_WORDS, Engine, graded, make_engine
from unmask.bench.layers_workload import submissions_of
from unmask.bench.report import Figure, measured
from unmask.errors import UnmaskError
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence as Generation
from unmask.sequence import Submission
from unmask.service import Batching
from unmask.stats import percentile_interval, ratio_interval

TAIL = 0.99
KIND = "all"
CAPACITY_SHARE = 3
"""A third of the workload is enough to measure the rate that static batches hold."""
LONGEST = 20
"""How many times as long as arrivals take a run may last before it counts as failed."""


class FirstText:
    """From arrival until text goes out: where batches are static, once the batch returns, as such servers answer."""

    name = "ttft_p99_vs_static_batches"
    layer = Layer.ENGINE
    off = STATIC_WORDS
    on = STEP_WORDS
    terms = Terms(target=5.0)

    def measure(self, ground: Ground, number: int) -> Round:
        """Serve the same arrivals in both arms, at a rate that static batches can hold."""
        rng = Random(f"{ground.seed}/{number}")
        asks = ground.workload.asks
        work = submissions_of(ground.bench, asks)
        rate = ground.workload.load * self._capacity(ground, rng.sample(work, max(1, len(work) // CAPACITY_SHARE)))
        # Another order and other gaps each round: a repeat may come before what it repeats, which no arm looks at.
        order = rng.sample(range(len(work)), len(work))
        now, arrivals = 0.0, []
        for place in order:
            now += rng.expovariate(rate)
            arrivals.append(Arrival(now, KIND, work[place]))
        arms = {"off": STATIC, "on": STEP}
        found = {
            name: self._run(ground, arms[name], arrivals, order, number) for name in rng.sample(list(arms), len(arms))
        }
        rated = Reading(name="rate", values=(rate,))
        return Round(off=Sample(readings=(*found["off"].readings, rated), answers=found["off"].answers), on=found["on"])

    def _capacity(self, ground: Ground, work: Sequence[Submission]) -> float:
        engine = make_engine(ground.bench, STATIC, ground.bench.precision)
        return len(work) / drive(engine.core, work, ground.bench.clock).seconds

    def _run(
        self, ground: Ground, settings: SchedSettings, arrivals: Sequence[Arrival], order: Sequence[int], number: int
    ) -> Sample:
        bench = ground.bench
        engine = make_engine(bench, settings, bench.precision)
        returned: list[float] = []

        def note_end(engine: Engine = engine) -> None:
            if not engine.core.batcher.running:
                returned.append(bench.clock.now())

        served = serve_arrivals(
            engine.core,
            arrivals,
            bench.clock,
            ground.sleep,
            longest_s=LONGEST * arrivals[-1].at,
            watched=KIND,
            each_tick=note_end,
        )
        done: dict[int, Generation] = {}
        firsts, streamed = [], []
        for place, visit in zip(order, served.visits, strict=False):
            if visit.sequence is None or visit.sequence.finished is None or visit.first is None:
                raise UnmaskError(f"a request was not answered within {served.seconds:.0f} s")
            done[place] = visit.sequence
            ended = returned[bisect_left(returned, visit.sequence.finished)]
            arrived = served.start + visit.arrival.at
            streamed.append(visit.first - arrived)
            firsts.append(ended - arrived if settings.batching is Batching.ALIGNED else streamed[-1])
        answers = graded(ground.workload.asks, [done[place] for place in range(len(order))])
        return Sample(
            readings=(
                Reading(name="first", values=tuple(firsts)),
                Reading(name="streamed", values=tuple(streamed)),
            ),
            answers=() if number else answers,
        )

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Compare p99s of rounds in pairs, and say what is left of it where static batches stream too."""
        off, on = [one.off for one in rounds], [one.on for one in rounds]
        figure = _ratio(self.name, off, "first", on, seed, "rounds resampled in pairs")
        streaming = _ratio(
            f"{self.name}.streaming", off, "streamed", on, seed, "static batches that send each canvas once it is done"
        )
        rate = float(np.mean([one.value("rate") for one in off]))
        beside = (
            streaming,
            *_quantiles(f"{self.name}.off", off),
            *_quantiles(f"{self.name}.on", on),
            Figure(name=f"{self.name}.arrivals_per_s", value=rate, unit="1/s", note="mean of rounds"),
        )
        reason = (
            f"p99 is {np.mean(_tails(on, 'first')):.2f} s here and {np.mean(_tails(off, 'first')):.2f} s with static "
            f"batches at {rate:.1f} requests a second, which those can hold"
        )
        return Finding(figure=figure, beside=beside, reason=reason)


def _tails(samples: Sequence[Sample], name: str) -> list[float]:
    return [float(np.quantile(one.values(name), TAIL, method="inverted_cdf")) for one in samples]


def _ratio(name: str, off: Sequence[Sample], what: str, on: Sequence[Sample], seed: int, note: str) -> Figure:
    top, bottom = _tails(off, what), _tails(on, "first")
    result = ratio_interval(top, bottom, seed, paired=True)
    return measured(name, result, fallback=float(np.mean(top) / np.mean(bottom)), note=note)


def _quantiles(name: str, samples: Sequence[Sample]) -> list[Figure]:
    waits = [value for one in samples for value in one.values("first")]
    return [
        measured(
            f"{name}.{label}",
            percentile_interval(waits, quantile),
            fallback=float(np.quantile(waits, quantile)),
            unit="s",
            n=len(waits),
            note="to the first text",
        )
        for label, quantile in (("p50", 0.5), ("p99", TAIL))
    ]
