"""Row ``prefix_hit_rate_vs_random``: prompt tokens found cached, by the rule that chooses replicas and at random."""

from collections.abc import Sequence
from random import Random

import numpy as np

from unmask.backend import Request
from unmask.bench.drive import drive
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import STEP, graded, make_engine
from unmask.bench.layers_workload import Ask, submissions_of
from unmask.bench.report import Figure, Record, measured
from unmask.bench.routing_trial import RoutingArm, RoutingOutcome, RoutingTrial, hit_rate_ratio, run_routing_trial
from unmask.bench.simulated import PROCESSOR
from unmask.replicas.prompt import token_reader
from unmask.replicas.router import Router
from unmask.stats import ratio_interval

ENGINES = ("0", "1")


class PrefixHitRate:
    """Hit rates of simulated conversations over four replicas; and the workload's answers over two real engines."""

    name = "prefix_hit_rate_vs_random"
    layer = Layer.SERVICE
    off = "replicas at random"
    on = "replicas by cached prefix, session and load"
    terms = Terms()

    def measure(self, ground: Ground, number: int) -> Round:
        """Simulate the conversations of one seed in both arms, and answer a part of the requests in both."""
        trial, seed = RoutingTrial(cost=PROCESSOR), ground.seed * ground.rounds + number
        asks = ground.workload.asks[number :: ground.rounds]
        rng = Random(f"{ground.seed}/{number}")
        chosen = {RoutingArm.RANDOM: [rng.choice(ENGINES) for _ in asks], RoutingArm.RULE: _chosen(ground, asks)}
        off, on = (
            _sample(run_routing_trial(trial, arm, seed), _answers(ground, asks, engines))
            for arm, engines in chosen.items()
        )
        return Round(off=off, on=on)

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return how many times a random choice's hit rate the rule's is."""
        chance, rule = ([one.value("hit_rate") for one in arm] for arm in _arms(rounds))
        figure = hit_rate_ratio(rule, chance, seed)
        beside = [
            Figure(
                name=f"{self.name}.{arm}.{what}", value=float(np.mean([one.value(what) for one in samples])), unit=unit
            )
            for arm, samples in zip(("off", "on"), _arms(rounds), strict=True)
            for what, unit in (("hit_rate", ""), ("mean_s", "s"), ("p99_s", "s"))
        ]
        slow, quick = ([one.value("mean_s") for one in arm] for arm in _arms(rounds))
        ratio = measured(
            f"{self.name}.mean_s_vs_random",
            ratio_interval(quick, slow, seed, paired=True),
            fallback=float(np.mean(quick) / np.mean(slow)),
        )
        return Finding(figure=figure, beside=(ratio, *beside), reason="")


def _arms(rounds: Sequence[Round]) -> tuple[list[Sample], list[Sample]]:
    return [one.off for one in rounds], [one.on for one in rounds]


def _sample(outcome: RoutingOutcome, answers: tuple[Record, ...]) -> Sample:
    return Sample(
        readings=(
            Reading(name="hit_rate", values=(outcome.hit_rate,)),
            Reading(name="mean_s", values=(outcome.mean_s,)),
            Reading(name="p99_s", values=(outcome.p99_s,)),
        ),
        answers=answers,
    )


def _chosen(ground: Ground, asks: Sequence[Ask]) -> list[str]:
    """Return which engine each request goes to by the rule, all of them being there at once."""
    shape = ground.bench.model.network.shape
    router = Router(ENGINES, pages=STEP.pages, first_work=float(max(shape.canvas_lengths) ** 2))
    read = token_reader(ground.bench.tokenizer.encode_chat, STEP.page_size)
    takers = dict.fromkeys(ENGINES, 0)
    chosen: list[str] = []
    for ask in asks:
        prompt = read(Request(model=ground.bench.model.name, messages=ask.item.messages))
        choice = router.choose(prompt, takers)
        with router.visit(prompt, choice):
            pass
        takers[choice.name] += 1
        chosen.append(choice.name)
    return chosen


def _answers(ground: Ground, asks: Sequence[Ask], chosen: Sequence[str]) -> tuple[Record, ...]:
    """Answer requests on the engines that they were sent to, one engine after the other."""
    bench = ground.bench
    work = submissions_of(bench, asks)
    answers: dict[int, Record] = {}
    for name in ENGINES:
        places = [place for place, one in enumerate(chosen) if one == name]
        engine = make_engine(bench, STEP, bench.precision)
        run = drive(engine.core, [work[place] for place in places], bench.clock)
        answers.update(zip(places, graded([asks[place] for place in places], run.sequences), strict=True))
    return tuple(answers[place] for place in range(len(asks)))
