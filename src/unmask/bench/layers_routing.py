"""Row ``routing_cost_saving``: requests that a small model answers, as far as it was shown to be good enough."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unmask.bench.arms import BASE
from unmask.bench.bench import Bench
from unmask.bench.business_stop import one_minus
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import record_of
from unmask.bench.report import Figure, Record, measured
from unmask.engine.weights import LoadedModel, load_weights, packaged_weights
from unmask.local.backend import LocalBackend
from unmask.local.model import ServedModel, serve_model
from unmask.savings.registry import ROUTING
from unmask.stats import ratio_interval, wilson
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.tune.items import draw_items
from unmask.tune.routing import (
    FittedTask,
    RoutedArm,
    RoutedItem,
    RouteRule,
    fit_task,
    items_needed,
    large_arm,
    probabilities,
    route_items,
)
from unmask.tune.routing_asking import RoutingAsking, decision_s

SMALL = "nano"
TUNING, MORE_THAN_NEEDED = 150, 1.03
"""Tuning items of each task type, and calibration items over the fewest that can show a loss to be small enough."""
QUICK = (2, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The requests of a task type that both models were asked, and what they made of them."""

    items: Sequence[Item]
    tried: Sequence[RoutedItem]


class RoutingCostSaving:
    """Forward seconds of a fitted route against those of the model alone; choosing and escalations are charged."""

    name = "routing_cost_saving"
    layer = Layer.SERVICE
    off = "one model"
    on = f"{SMALL} first, fitted to lose at most 1 %, the model where that fails"
    terms = Terms(target=0.6, least_quality=-0.01, saving=ROUTING, rounds=1)

    def measure(self, ground: Ground, number: int) -> Round:
        """Fit a route as `unmask tune routing` does, on items of other splits, and ask what repeats nothing."""
        return asyncio.run(_measure(ground, ground.seed + number))

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the share of seconds saved, resampled by request."""
        (one,) = rounds
        off, on = (sample.values("seconds") for sample in (one.off, one.on))
        saved = one_minus(ratio_interval(on, off, seed, paired=True))
        figure = measured(
            self.name, saved, fallback=1 - sum(on) / sum(off), n=len(on), note="of forward seconds, by request"
        )
        tried, escalated, right, may_try = (one.on.values(name) for name in ("small", "escalated", "right", "tasks"))
        cost = one.on.value("cost")
        beside = (
            _share(f"{self.name}.on.small_first", tried),
            _share(f"{self.name}.on.escalated", escalated),
            _share(f"{self.name}.{SMALL}.right", right),
            Figure(name=f"{self.name}.{SMALL}.cost", value=cost, note="of the model's forward seconds, same requests"),
            Figure(name=f"{self.name}.on.decision", value=one.on.value("decision"), unit="s", note="a request, median"),
        )
        large = np.mean([answer.correct for answer in one.off.answers])
        reason = (
            f"{SMALL} has {np.mean(right):.0%} right where the model has {large:.0%}, so that {sum(may_try):.0f} of "
            f"{len(may_try)} task types may try it, which {np.mean(tried):.0%} of requests do; at {cost:.2f} of the "
            f"model's forward seconds it could not save more than {1 - cost:.0%} if all did"
        )
        return Finding(figure=figure, beside=beside, reason=reason)


async def _measure(ground: Ground, seed: int) -> Round:
    bench = ground.bench
    # Under names of their own: the model may itself be the small one.
    loaded = (replace(load_weights(packaged_weights(SMALL)), name="small"), replace(bench.model, name="large"))
    backend = LocalBackend(tuple(_served(bench, one) for one in loaded))
    try:
        small, large = backend.models()
        asking = RoutingAsking(
            backend=backend,
            models=(small, large),
            in_flight=BASE.max_rows,
            count_tokens=bench.tokenizer.chat_length,
            max_tokens=large.default_max_tokens,
        )
        return await _routed(ground, asking, seed)
    finally:
        await backend.drain()


def _served(bench: Bench, model: LoadedModel) -> ServedModel:
    return serve_model(model, bench.tokenizer, BASE, bench.clock, precision=bench.precision)


async def _routed(ground: Ground, asking: RoutingAsking, seed: int) -> Round:
    """Fit each task type, then choose for every request."""
    fresh = [ask.item for ask in ground.workload.fresh]
    wanted = {task: [item for item in fresh if item.task == task] for task in all_tasks()}
    now = ground.bench.clock.now
    rule = RouteRule(decision_s=decision_s(asking, wanted, {}, now), seed=seed)
    calibrating = round(MORE_THAN_NEEDED * items_needed(rule.max_loss))
    counts = QUICK if ground.is_quick else (TUNING, calibrating)
    fitted, asked = list[FittedTask](), list[_Asked]()
    for task, items in wanted.items():
        tuning, calibrated = [
            await asking.items(draw_items(task, count, seed, split))
            for count, split in zip(counts, (Split.TUNE, Split.CALIBRATE), strict=True)
        ]
        fitted.append(fit_task(task, tuning, calibrated, rule))
        asked.append(_Asked(items=items, tried=await asking.items(items)))
    routes = {one.task: one.route for one in fitted}
    full = replace(rule, decision_s=decision_s(asking, wanted, routes, now))
    return _round(fitted, asked, full)


def _round(fitted: Sequence[FittedTask], asked: Sequence[_Asked], rule: RouteRule) -> Round:
    arms = [
        route_items(
            found.tried,
            probabilities(one.route.model, found.tried),
            one.route.threshold,
            rule,
            can_escalate=True,
        )
        for one, found in zip(fitted, asked, strict=True)
    ]
    larges = [large_arm(found.tried) for found in asked]
    tried = [item for found in asked for item in found.tried]
    seconds = [sum(side.seconds for side in sides) for sides in ([i.small for i in tried], [i.large for i in tried])]
    return Round(
        off=Sample(readings=(_joined("seconds", [arm.seconds for arm in larges]),), answers=_answers(asked, larges)),
        on=Sample(
            readings=(
                _joined("seconds", [arm.seconds for arm in arms]),
                _joined("small", [arm.is_small for arm in arms]),
                _joined("escalated", [arm.is_escalated for arm in arms]),
                Reading(name="right", values=tuple(float(item.small.is_right) for item in tried)),
                Reading(name="cost", values=(seconds[0] / seconds[1],)),
                Reading(name="decision", values=(rule.decision_s,)),
                Reading(name="tasks", values=tuple(float(one.route.threshold is not None) for one in fitted)),
            ),
            answers=_answers(asked, arms),
        ),
    )


def _answers(asked: Sequence[_Asked], arms: Sequence[RoutedArm]) -> tuple[Record, ...]:
    """Return what each request was given; steps are not told of either model."""
    return tuple(
        record_of(item, steps=0, seconds=float(seconds), correct=bool(right))
        for found, arm in zip(asked, arms, strict=True)
        for item, seconds, right in zip(found.items, arm.seconds, arm.is_right, strict=True)
    )


def _joined(name: str, values: Sequence[npt.NDArray[np.float64] | npt.NDArray[np.bool_]]) -> Reading:
    return Reading(name=name, values=tuple(float(one) for each in values for one in each))


def _share(name: str, values: Sequence[float]) -> Figure:
    return measured(name, wilson(int(sum(values)), len(values)), fallback=float(np.mean(values)), n=len(values))
