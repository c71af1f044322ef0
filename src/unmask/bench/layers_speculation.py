"""Row ``speculation_speedup``: cached autoregressive decoding, and the same answers by drafts that are verified."""

from collections.abc import Sequence
from random import Random

import numpy as np

from unmask.bench.business_stop import one_minus
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import graded
from unmask.bench.layers_workload import Ask
from unmask.bench.report import Figure, Record, measured
from unmask.bench.speculation_bench import (
    BATCH,
    DRAFTER,
    FEWEST_TOKENS,
    MODES,
    TASKS,
    SpeculationItem,
    SpeculationSamples,
    answer_alone,
    answer_batched,
    long_answers,
)
from unmask.errors import UnmaskError
from unmask.savings.registry import SPECULATION
from unmask.sequence import Sequence as Generation
from unmask.stats import bootstrap_mean, ratio_interval

MOST = 40
"""Answers of a round; a tenth of the requests has about as many that are long enough."""


class SpeculationSpeedup:
    """Seconds of an answer written alone, of the same weights; both arms have to write the same tokens."""

    name = "speculation_speedup"
    layer = Layer.MODEL
    off = "cached autoregressive decoding"
    on = "drafts of a canvas, verified by the same weights"
    terms = Terms(target=2.0, saving=SPECULATION)

    def measure(self, ground: Ground, number: int) -> Round:
        """Write each answer of a part of the requests in both modes, and all of them in batches.

        Raises:
            UnmaskError: no answer of the part is long enough.
        """
        bench, samples = ground.bench, SpeculationSamples()
        part = ground.workload.part(number, ground.rounds, TASKS)
        asked = long_answers(bench, [ask.item for ask in part])[:MOST]
        if not asked:
            raise UnmaskError(f"none of {len(part)} answers has {FEWEST_TOKENS} tokens; take another --seed")
        rng = Random(f"{ground.seed}/{number}")
        alone = answer_alone(bench, asked, samples, rng, is_first=True)
        batched = {mode: answer_batched(bench, asked, mode, samples) for mode in rng.sample(MODES, len(MODES))}
        ended = samples.drafted
        off, on = (
            Sample(
                readings=(
                    Reading(name="seconds", values=tuple(alone[mode])),
                    Reading(name="batched", values=(batched[mode],)),
                ),
                answers=_graded(asked, found),
            )
            for mode, found in zip(MODES, ([one.decoded for one in asked], ended), strict=True)
        )
        drafts = (
            Reading(name="accepted", values=tuple(one.accepted / one.steps for one in ended)),
            Reading(name="tokens", values=tuple(float(len(one.output)) for one in ended)),
            Reading(name="different", values=(float(samples.different),)),
            Reading(name=DRAFTER, values=tuple(alone[DRAFTER])),
        )
        return Round(off=off, on=Sample(readings=(*on.readings, *drafts), answers=on.answers))

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return how many times as fast, resampled by request."""
        off, on = _all([one.off for one in rounds], "seconds"), _all([one.on for one in rounds], "seconds")
        different = sum(one.on.value("different") for one in rounds)
        said = f"batch 1, by request; {different:.0f} answers differ"
        figure = _ratio(self.name, off, on, seed, len(on), said)
        saved = one_minus(ratio_interval(on, off, seed, paired=True))
        drafts = [one.on for one in rounds]
        batched = ([one.off.value("batched") for one in rounds], [one.on.value("batched") for one in rounds])
        accepted, tokens, drafter = (_all(drafts, name) for name in ("accepted", "tokens", DRAFTER))
        beside = (
            _ratio(f"{self.name}.batch_{BATCH}", *batched, seed, len(on), "rounds resampled in pairs"),
            _mean(f"{self.name}.accepted_per_round", accepted, seed),
            _mean(f"{self.name}.answer_tokens", tokens, seed),
            _ratio(f"{self.name}.{DRAFTER}_drafts", off, drafter, seed, len(on), "two forwards a round, no scheduler"),
            Figure(name=f"{self.name}.different_answers", value=different, n=len(on), note="in any way of writing"),
        )
        reason = (
            f"a draft has {np.mean(accepted):.1f} tokens accepted, in answers of {np.mean(tokens):.0f}: "
            f"{np.mean(on) * 1e3:.0f} ms in place of {np.mean(off) * 1e3:.0f}"
        )
        fallback = 1 - sum(on) / sum(off)
        return Finding(
            figure=figure,
            beside=beside,
            reason=reason,
            saved=measured(self.name, saved, fallback=fallback, n=len(on), note=said),
        )


def _graded(asked: Sequence[SpeculationItem], ended: Sequence[Generation]) -> tuple[Record, ...]:
    return graded([Ask(item=one.item, max_steps=1) for one in asked], ended)


def _all(samples: Sequence[Sample], name: str) -> list[float]:
    return [value for one in samples for value in one.values(name)]


def _ratio(name: str, off: Sequence[float], on: Sequence[float], seed: int, n: int, note: str) -> Figure:
    found = ratio_interval(off, on, seed, paired=True)
    return measured(name, found, fallback=float(np.mean(off) / np.mean(on)), n=n, note=note)


def _mean(name: str, values: Sequence[float], seed: int) -> Figure:
    return measured(name, bootstrap_mean(values, seed), fallback=float(np.mean(values)), n=len(values))
