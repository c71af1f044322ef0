"""Row ``cache_saving``: answers that are given again, and how many of them are not what would be generated."""

import asyncio
from collections.abc import Sequence
from random import Random

import numpy as np
import numpy.typing as npt

from unmask.bench.business_stop import one_minus
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_serving import Served, Server, served_record, serving
from unmask.bench.layers_workload import Ask, Kind
from unmask.bench.report import Figure, measured
from unmask.cache.cache import Match
from unmask.config import Settings
from unmask.config.choices import CacheMode
from unmask.control.answered import Answered
from unmask.control.cache_audits import HITS
from unmask.local.model import model_info
from unmask.savings.registry import SEMANTIC_CACHE
from unmask.stats import ratio_interval, wilson
from unmask.tasks.registry import all_tasks
from unmask.tune.routing_asking import charged

Bools = npt.NDArray[np.bool_]
TURN = 120
"""Requests that one arm is asked before the other has its turn, so that a busy machine slows both alike."""
OFF = Settings()
ON = Settings(cache=CacheMode.SEMANTIC, cache_audit_share=0.0)
"""As it ships, but for what is generated again to compare: here all hits are compared with the other arm's answers."""


class CacheSaving:
    """Forward seconds of the whole workload with its repeats, without a cache and with one that starts empty."""

    name = "cache_saving"
    layer = Layer.SERVICE
    off = "every request is generated"
    on = "answers to the same question, in the same words or in others, are given again"
    terms = Terms(saving=SEMANTIC_CACHE, rounds=1)

    def measure(self, ground: Ground, number: int) -> Round:
        """Answer all requests in the order in which they were drawn, by turns."""
        return asyncio.run(_measure(ground, Random(f"{ground.seed}/{number}")))

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the share of forward seconds saved; a false hit is another text that nobody vouches for."""
        (one,) = rounds
        off, on = (sample.values("seconds") for sample in (one.off, one.on))
        saved = one_minus(ratio_interval(on, off, seed, paired=True))
        figure = measured(
            self.name, saved, fallback=1 - sum(on) / sum(off), n=len(on), note="of forward seconds, by request"
        )
        hits = {match: _bools(one.on.values(match)) for match in HITS}
        given, false = sum(hits.values(), np.zeros(len(on), dtype=np.bool_)), _bools(one.on.values("false"))
        off_right, on_right = (_bools([bool(answer.correct) for answer in arm.answers]) for arm in (one.off, one.on))
        kinds = {kind: _bools(one.on.values(kind)) for kind in (Kind.REPEATED, Kind.PARAPHRASED)}
        beside = (
            *(_share(f"{self.name}.{match}_hits", hit) for match, hit in hits.items()),
            *(_share(f"{self.name}.{kind}.found", given[asked]) for kind, asked in kinds.items()),
            _share(f"{self.name}.false_hit_rate", false[given], "another text, and its verifier does not pass both"),
            *(_share(f"{self.name}.{match}.false_hit_rate", false[hit]) for match, hit in hits.items()),
            _share(f"{self.name}.worse_hit_rate", (off_right & ~on_right)[given], "wrong, the generated one is right"),
        )
        return Finding(figure=figure, beside=beside, reason="", saved=_share(self.name, given, "of requests"))


async def _measure(ground: Ground, rng: Random) -> Round:
    bench, asks = ground.bench, ground.workload.asks
    arms: dict[str, list[Answered]] = {"off": [], "on": []}
    seconds: dict[str, list[float]] = {"off": [], "on": []}
    async with (
        serving(bench, Served(settings=OFF, precision=bench.precision), ground.seed) as without,
        serving(bench, Served(settings=ON, precision=bench.precision), ground.seed) as within,
    ):
        for start in range(0, len(asks), TURN):
            for arm, server in rng.sample((("off", without), ("on", within)), 2):
                found, took = await _turn(ground, server, asks[start : start + TURN])
                arms[arm] += found
                seconds[arm] += took
    records = {arm: tuple(map(served_record, asks, found)) for arm, found in arms.items()}
    on = (
        Reading(name="seconds", values=tuple(seconds["on"])),
        *(_flags(match, [_match(one) is match for one in arms["on"]]) for match in HITS),
        *(_flags(kind, [ask.kind is kind for ask in asks]) for kind in (Kind.REPEATED, Kind.PARAPHRASED)),
        _flags("false", [_is_false(*three) for three in zip(asks, arms["off"], arms["on"], strict=True)]),
    )
    return Round(
        off=Sample(readings=(Reading(name="seconds", values=tuple(seconds["off"])),), answers=records["off"]),
        on=Sample(readings=on, answers=records["on"]),
    )


async def _turn(ground: Ground, server: Server, asks: Sequence[Ask]) -> tuple[list[Answered], list[float]]:
    """Answer requests; return what each was charged of the forwards that all took together."""
    before = server.forward_s
    answered = await server.answer(asks)
    info = model_info(ground.bench.model, ground.bench.precision)
    return answered, charged([one.generation for one in answered], info, server.forward_s - before)


def _match(answered: Answered) -> Match:
    return Match.MISS if answered.found is None else answered.found.match


def _is_false(ask: Ask, fresh: Answered, given: Answered) -> bool:
    """Tell whether an answer was given again that is neither what is generated nor passed by the same verifier."""
    texts = [one.generation.text for one in (fresh, given)]
    if _match(given) is Match.MISS or texts[0].split() == texts[1].split():
        return False
    task = all_tasks()[ask.item.task]
    return not all(task.verify(ask.item.messages, text).passed for text in texts)


def _flags(name: str, values: Sequence[bool]) -> Reading:
    return Reading(name=name, values=tuple(map(float, values)))


def _bools(values: Sequence[float]) -> Bools:
    return np.array(values, dtype=np.bool_)


def _share(name: str, values: Bools, note: str = "") -> Figure:
    count = int(values.sum())
    return measured(name, wilson(count, len(values)), fallback=count / max(1, len(values)), n=len(values), note=note)
