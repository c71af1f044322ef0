"""Row ``memory_saving``: what keys, values and weights take at their peak, in bytes counted in memory."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np

from unmask.bench.arms import NO_REUSE
from unmask.bench.drive import drive
from unmask.bench.held_bytes import held_bytes
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import STEP, Engine, graded, make_engine
from unmask.bench.layers_workload import submissions_of
from unmask.bench.report import Figure, measured
from unmask.core.core import Core
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence as Generation
from unmask.sequence import Submission
from unmask.stats import bootstrap_mean
from unmask.types import Precision


class MemorySaving:
    """A contiguous cache a row, as long as the longest request, against shared pages as many as were ever used.

    The pages are those of a second run, in a pool of just the size that the first run was seen to use. Weights are
    the network as it was loaded, against those that the engine has laid out and holds once, in bfloat16.
    """

    name = "memory_saving"
    layer = Layer.ENGINE
    off = "contiguous caches of the longest request, weights as loaded"
    on = "pages with shared prefixes, weights held once, both in bfloat16"
    terms = Terms(target=0.3)

    def measure(self, ground: Ground, number: int) -> Round:
        """Run all requests in both arms, as many at once as there are rows, in another order each round."""
        work = submissions_of(ground.bench, ground.workload.asks)
        order = Random(f"{ground.seed}/{number}").sample(range(len(work)), len(work))
        shuffled = [work[place] for place in order]
        return Round(off=self._off(ground, shuffled, order, number), on=self._on(ground, shuffled, order, number))

    def _off(self, ground: Ground, work: Sequence[Submission], order: Sequence[int], number: int) -> Sample:
        bench = ground.bench
        longest = max(submission.max_length for submission in work)
        # A page as long as the longest request is a contiguous cache: every row has one.
        settings = replace(NO_REUSE, pages=NO_REUSE.max_rows, page_size=longest)
        engine = make_engine(bench, settings, bench.precision)
        owned: list[int] = []
        run = drive(engine.core, work, bench.clock, each_tick=lambda core: owned.append(_worst_case(core)))
        return Sample(
            readings=(
                Reading(name="kv", values=(float(settings.pages * engine.runner.page_bytes),)),
                Reading(name="weights", values=(float(held_bytes(bench.model.network)),)),
                # What each request would take in a cache of its own length, to the token.
                Reading(name="own", values=(max(owned) * engine.runner.page_bytes / longest,)),
            ),
            answers=() if number else graded(ground.workload.asks, _unshuffled(run.sequences, order)),
        )

    def _on(self, ground: Ground, work: Sequence[Submission], order: Sequence[int], number: int) -> Sample:
        bench = ground.bench
        used: list[int] = []
        roomy = make_engine(bench, STEP, Precision.BFLOAT16)
        drive(roomy.core, work, bench.clock, each_tick=lambda core: used.append(core.load.pages_used))
        settings = replace(STEP, pages=max(used))
        engine = make_engine(bench, settings, Precision.BFLOAT16)
        run = drive(engine.core, work, bench.clock)
        same = make_engine(bench, settings, bench.precision)
        return Sample(
            readings=(
                *_held(engine, settings, ""),
                # The same pool and weights in the precision of the other arm.
                *_held(same, settings, "same_"),
            ),
            answers=() if number else graded(ground.workload.asks, _unshuffled(run.sequences, order)),
        )

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the saving of both together; each of its parts is beside it."""
        figure = _saving(self.name, rounds, ("kv", "weights"), ("kv", "weights"), seed)
        parts = (
            _saving(f"{self.name}.kv", rounds, ("kv",), ("kv",), seed),
            _saving(f"{self.name}.weights", rounds, ("weights",), ("weights",), seed),
            _saving(f"{self.name}.same_precision", rounds, ("kv", "weights"), ("same_kv", "same_weights"), seed),
            _saving(f"{self.name}.kv_vs_own_length", rounds, ("own",), ("same_kv",), seed),
        )
        sizes = tuple(
            Figure(name=f"{self.name}.{arm}.{what}", value=float(np.mean(values)) / 2**20, unit="MiB", note="at peak")
            for what in ("kv", "weights")
            for arm, values in (
                ("off", [one.off.value(what) for one in rounds]),
                ("on", [one.on.value(what) for one in rounds]),
            )
        )
        reason = f"of keys and values {parts[0].value:.0%} are saved, of weights {parts[1].value:.0%}"
        return Finding(figure=figure, beside=(*parts, *sizes), reason=reason)


def _held(engine: Engine, settings: SchedSettings, prefix: str) -> tuple[Reading, Reading]:
    """Return the bytes of the pool, and of all else that the runner holds."""
    pool = settings.pages * engine.runner.page_bytes
    rest = held_bytes(engine.runner) - pool
    return Reading(name=f"{prefix}kv", values=(float(pool),)), Reading(name=f"{prefix}weights", values=(float(rest),))


def _worst_case(core: Core) -> int:
    return sum(one.submission.max_length for one in core.batcher.running.values())


def _unshuffled(generations: Sequence[Generation], order: Sequence[int]) -> list[Generation]:
    found = dict(zip(order, generations, strict=True))
    return [found[place] for place in range(len(order))]


def _saving(name: str, rounds: Sequence[Round], off: Sequence[str], on: Sequence[str], seed: int) -> Figure:
    saved = [1 - sum(one.on.value(what) for what in on) / sum(one.off.value(what) for what in off) for one in rounds]
    return measured(
        name, bootstrap_mean(saved, seed), fallback=float(np.mean(saved)), note="of the bytes of the other arm"
    )
