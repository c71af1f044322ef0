"""Rows of the business layer: output behind the point of an answer, and prompt tokens that say nothing new."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unmask.bench.arms import BASE
from unmask.bench.business_prompts import TASKS, redundant
from unmask.bench.business_serving import Asking, controller, serve_all
from unmask.bench.business_serving import Served as ServedAnswer
from unmask.bench.business_stop import StopAnswer, one_minus, read_stop, stop_figures
from unmask.bench.layer_row import Finding, Ground, Layer, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import record_of
from unmask.bench.report import Figure, measured
from unmask.control.sources import NoPolicies
from unmask.local.backend import LocalBackend
from unmask.local.model import DEFAULT_MAX_TOKENS, serve_model
from unmask.refine.refine import refine
from unmask.savings.registry import CONFIDENCE_STOP
from unmask.stats import ratio_interval
from unmask.tasks.dialogue import Dialogue
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks


class WastedOutputSaving:
    """Committed tokens behind the earliest beginning of an answer that the checker passes, in dialogues."""

    name = "wasted_output_saving"
    layer = Layer.BUSINESS
    off = "answers end with their end token"
    on = "answers end once they are complete"
    terms = Terms(target=0.25)

    def measure(self, ground: Ground, number: int) -> Round:
        """Answer the dialogues of a part of the requests with the confidence stop and without it."""
        items = [ask.item for ask in ground.workload.part(number, ground.rounds, (Dialogue.name,))]
        asked = [Asking(messages=item.messages, task=item.task) for item in items]
        off, on = asyncio.run(_served(ground, (((), asked), ((CONFIDENCE_STOP,), asked))))
        return Round(off=_stopped(ground, items, off), on=_stopped(ground, items, on))

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the share that is wasted no more; answers count that are right and show who speaks."""
        off, on = (
            [answer for sample in arm for answer in _stop_answers(sample)]
            for arm in ([one.off for one in rounds], [one.on for one in rounds])
        )
        saved, _, *rest = stop_figures(off, on, seed)
        shown = (("without_stop", "off"), ("with_stop", "on"))
        beside = tuple(
            replace(figure, name=f"{self.name}.{arm}{figure.name.removeprefix(name)}")
            for figure in rest
            for name, arm in shown
            if figure.name.startswith(name)
        )
        wasted = [float(np.mean([one.wasted for one in answers])) for answers in (off, on)]
        committed = float(np.mean([one.committed for one in off]))
        reason = f"an answer of {committed:.0f} tokens wastes {wasted[0]:.1f}, and {wasted[1]:.1f} with it"
        figure = replace(saved, name=self.name, note="of wasted tokens, by request")
        return Finding(figure=figure, beside=beside, reason=reason, counted="right and in manner")


class PromptTokensSaving:
    """Tokens of prompts as clients send them, with what they say twice or for nothing, and refined."""

    name = "prompt_tokens_saving"
    layer = Layer.BUSINESS
    off = "prompts with greetings and repeated facts"
    on = "the same, refined"
    terms = Terms()

    def measure(self, ground: Ground, number: int) -> Round:
        """Answer a part of the requests with both prompts; those that do not fit with an answer are left out."""
        bench = ground.bench
        length, most = bench.tokenizer.chat_length, bench.model.network.shape.context_length - DEFAULT_MAX_TOKENS
        items = [ask.item for ask in ground.workload.part(number, ground.rounds, TASKS)]
        pairs = [(item, redundant(item, ground.seed)) for item in items]
        pairs = [(item, prompt) for item, prompt in pairs if length(prompt) <= most]
        before = [Asking(messages=prompt, task=item.task) for item, prompt in pairs]
        after = [replace(one, messages=refine(one.messages).messages) for one in before]
        found = asyncio.run(_served(ground, (((), before), ((), after))))
        off, on = (
            Sample(
                readings=(Reading(name="tokens", values=tuple(float(length(one.messages)) for one in asked)),),
                answers=tuple(
                    record_of(
                        item,
                        steps=one.generation.usage.steps_used,
                        seconds=one.generation.timing.finished - one.generation.timing.arrived,
                        correct=all_tasks()[item.task].check(item, one.generation.text).passed,
                    )
                    for (item, _), one in zip(pairs, served, strict=True)
                ),
            )
            for asked, served in zip((before, after), found, strict=True)
        )
        return Round(off=off, on=on)

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the share of prompt tokens saved, and of each task type."""
        tasks = np.array([answer.task for one in rounds for answer in one.off.answers])
        off = np.array([value for one in rounds for value in one.off.values("tokens")])
        on = np.array([value for one in rounds for value in one.on.values("tokens")])

        def saved(name: str, of: npt.NDArray[np.bool_]) -> Figure:
            found = one_minus(ratio_interval(on[of], off[of], seed, paired=True))
            fallback = 1 - float(on[of].sum()) / max(1.0, float(off[of].sum()))
            return measured(name, found, fallback=fallback, n=int(of.sum()), note="of prompt tokens, by request")

        beside = tuple(saved(f"{self.name}.{task}", tasks == task) for task in TASKS if task in tasks)
        return Finding(figure=saved(self.name, tasks != ""), beside=beside, reason="")


async def _served(
    ground: Ground, arms: Sequence[tuple[Sequence[str], Sequence[Asking]]]
) -> tuple[list[ServedAnswer], ...]:
    """Answer the requests of each arm, one arm after the other, on one engine without a policy."""
    bench = ground.bench
    backend = LocalBackend((serve_model(bench.model, bench.tokenizer, BASE, bench.clock, precision=bench.precision),))
    try:
        return tuple(
            [
                await serve_all(backend, controller(backend, NoPolicies(), savings), asked, lambda _: None)
                for savings, asked in arms
            ]
        )
    finally:
        await backend.drain()


def _stopped(ground: Ground, items: Sequence[Item], served: Sequence[ServedAnswer]) -> Sample:
    found = [read_stop(item, one.generation, ground.bench.tokenizer) for item, one in zip(items, served, strict=True)]
    return Sample(
        readings=(
            Reading(name="committed", values=tuple(float(one.committed) for one in found)),
            Reading(name="wasted", values=tuple(float(one.wasted) for one in found)),
            Reading(name="right", values=tuple(float(one.right) for one in found)),
            Reading(name="opens", values=tuple(float(one.opens) for one in found)),
            Reading(name="closes", values=tuple(float(one.closes) for one in found)),
        ),
        answers=tuple(
            record_of(item, steps=one.steps, seconds=one.seconds, correct=one.is_kept)
            for item, one in zip(items, found, strict=True)
        ),
    )


def _stop_answers(sample: Sample) -> list[StopAnswer]:
    names = ("committed", "wasted", "right", "opens", "closes")
    return [
        StopAnswer(
            committed=int(committed),
            wasted=int(wasted),
            steps=answer.steps,
            seconds=answer.seconds,
            right=bool(right),
            opens=bool(opens),
            closes=bool(closes),
        )
        for answer, committed, wasted, right, opens, closes in zip(
            sample.answers, *(sample.values(name) for name in names), strict=True
        )
    ]
