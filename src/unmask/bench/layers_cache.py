"""Row ``cache_saving``: answers that are given again, and how many of them are not what would be generated."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from random import Random

import numpy as np
import numpy.typing as npt

from unmask.bench.business_stop import one_minus
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_serving import Served, served_record, serving
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
OFF_ARM, ON_ARM = ARMS = ("off", "on")
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
            self.name,
            saved,
            fallback=1 - sum(on) / sum(off),
            n=len(on),
            note="of forward seconds, by request; a token costs the same in both arms",
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
    asks = ground.workload.asks
    arms: dict[str, list[Answered]] = {OFF_ARM: [], ON_ARM: []}
    seconds: dict[str, list[float]] = {OFF_ARM: [], ON_ARM: []}
    settings = {OFF_ARM: OFF, ON_ARM: ON}
    async with AsyncExitStack() as stack:
        servers = {
            arm: await stack.enter_async_context(
                serving(ground.bench, Served(settings=settings[arm], precision=ground.bench.precision), ground.seed)
            )
            for arm in arms
        }
        for start in range(0, len(asks), TURN):
            before = sum(server.forward_s for server in servers.values())
            turn = {arm: await servers[arm].answer(asks[start : start + TURN]) for arm in rng.sample(ARMS, len(ARMS))}
            took = sum(server.forward_s for server in servers.values()) - before
            for arm, charges in _charged(ground, turn, took).items():
                arms[arm] += turn[arm]
                seconds[arm] += charges
    return Round(
        off=_sample(asks, arms[OFF_ARM], seconds[OFF_ARM], ()),
        on=_sample(asks, arms[ON_ARM], seconds[ON_ARM], _flags(asks, arms[OFF_ARM], arms[ON_ARM])),
    )


def _charged(ground: Ground, turn: Mapping[str, Sequence[Answered]], took: float) -> dict[str, list[float]]:
    """Return what each answer is charged of the forwards of both arms, by its tokens.

    A token costs the same in both: the network does the same for it, and what the machine did meanwhile to one arm
    and not to the other is no saving.
    """
    together = [one.generation for arm in ARMS for one in turn[arm]]
    charges = charged(together, model_info(ground.bench.model, ground.bench.precision), took)
    middle = len(turn[OFF_ARM])
    return {OFF_ARM: charges[:middle], ON_ARM: charges[middle:]}


def _sample(
    asks: Sequence[Ask], answered: Sequence[Answered], seconds: Sequence[float], flags: tuple[Reading, ...]
) -> Sample:
    return Sample(
        readings=(Reading(name="seconds", values=tuple(seconds)), *flags),
        answers=tuple(map(served_record, asks, answered)),
    )


def _flags(asks: Sequence[Ask], fresh: Sequence[Answered], given: Sequence[Answered]) -> tuple[Reading, ...]:
    """Return what holds of each request: how its answer was found, what it repeats, and whether it is a false hit."""
    held = {
        **{str(match): [_match(one) is match for one in given] for match in HITS},
        **{str(kind): [ask.kind is kind for ask in asks] for kind in (Kind.REPEATED, Kind.PARAPHRASED)},
        "false": [_is_false(*three) for three in zip(asks, fresh, given, strict=True)],
    }
    return tuple(Reading(name=name, values=tuple(map(float, values))) for name, values in held.items())


def _match(answered: Answered) -> Match:
    return Match.MISS if answered.found is None else answered.found.match


def _is_false(ask: Ask, fresh: Answered, given: Answered) -> bool:
    """Tell whether an answer was given again that is neither what is generated nor passed by the same verifier."""
    texts = [one.generation.text for one in (fresh, given)]
    if _match(given) is Match.MISS or texts[0].split() == texts[1].split():
        return False
    task = all_tasks()[ask.item.task]
    return not all(task.verify(ask.item.messages, text).passed for text in texts)


def _bools(values: Sequence[float]) -> Bools:
    return np.array(values, dtype=np.bool_)


def _share(name: str, values: Bools, note: str = "") -> Figure:
    count = int(values.sum())
    return measured(name, wilson(count, len(values)), fallback=count / max(1, len(values)), n=len(values), note=note)
