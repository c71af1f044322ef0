"""``unmask bench speculation``: what a drafting canvas saves over cached autoregressive decoding of the same weights.

Every answer is written by both; they have to be the same, token by token. Requests are drawn from task types with
answers of some length, and those with fewer than `FEWEST_TOKENS` are left out.
"""

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Items
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from unmask.bench.ar_load import decoded
from unmask.bench.arms import BASE, Alternative, Arm, make_arm
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.bench.report import BenchReport, Figure, Op, Record, measured, target
from unmask.bench.two_models import Decoded, TwoModelDecoder
from unmask.bench.workload import item_request
from unmask.core.core import Core
from unmask.engine.engine import Engine
from unmask.engine.runner import Runner
from unmask.engine.weights import load_weights, packaged_weights
from unmask.local.limits import make_submission
from unmask.local.model import EMBEDDED_ADAPTER, model_info
from unmask.sequence import Sequence, Submission
from unmask.stats import bootstrap_mean, ratio_interval
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.types import Mode

TASKS = ("dialogue", "lookup", "extract")
DRAFTER = "nano"
FEWEST_TOKENS = 24
BATCH = 16
ITEMS, QUICK_ITEMS = 48, 4
"""Of each task type."""
ROUNDS, QUICK_ROUNDS = 10, 2
MODES = (Mode.AUTOREGRESSIVE, Mode.SPECULATIVE)
AT_LEAST = 2.0
DRAWS_AN_ITEM = 50

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationItem:
    """An item, its request, and its autoregressive answer, which every arm has to write."""

    item: Item
    submission: Submission
    decoded: Sequence

    @property
    def answer(self) -> list[int]:
        """Its tokens."""
        return self.decoded.output


@dataclass(slots=True, kw_only=True)
class SpeculationSamples:
    """Seconds of each answer alone by mode, the middle of its rounds; of each round at a time; and what differed."""

    alone: dict[Mode, list[float]] = field(default_factory=lambda: {mode: [] for mode in MODES})
    batched: dict[Mode, list[float]] = field(default_factory=lambda: {mode: [] for mode in MODES})
    two_models: list[float] = field(default_factory=list)
    drafted: list[Sequence] = field(default_factory=list)
    by_drafter: list[Decoded] = field(default_factory=list)
    different: int = 0


def run_speculation_bench(bench: Bench, *, seed: int, quick: bool, progress: Progress) -> BenchReport:
    """Measure both modes alone and at `BATCH` requests, interleaved, and drafts of a smaller model."""
    progress("drawing", 0.0)
    asked = [one for task in TASKS for one in _draw(bench, task, QUICK_ITEMS if quick else ITEMS, seed)]
    samples, records = SpeculationSamples(), list[Record]()
    rounds = QUICK_ROUNDS if quick else ROUNDS
    seconds: list[dict[str, list[float]]] = []
    for number in range(rounds):
        progress("one at a time", number / rounds)
        seconds.append(answer_alone(bench, asked, samples, Random(f"{seed}:{number}"), is_first=number == 0))
        progress(f"{BATCH} at once", (number + 0.8) / rounds)
        for mode in Random(f"{seed}:batch:{number}").sample(MODES, len(MODES)):
            samples.batched[mode].append(answer_batched(bench, asked, mode, samples))
    for mode in MODES:
        samples.alone[mode] = _middle([one[mode] for one in seconds])
    samples.two_models = _middle([one[DRAFTER] for one in seconds])
    records += _records(asked, samples)
    progress("done", 1.0)
    speedup = _speedup("speculation_speedup", samples.alone, seed, n=len(asked), note="batch 1, items in pairs")
    differing = Figure(name="different_answers", value=samples.different, n=len(asked))
    return bench.report(
        "speculation",
        seed=seed,
        quick=quick,
        figures=(speedup, differing, *_figures(asked, samples, seed)),
        must_reach=(target(speedup, Op.AT_LEAST, AT_LEAST), target(differing, Op.EQUAL, 0.0, sampled=False)),
        records=tuple(records),
    )


def _draw(bench: Bench, task: str, count: int, seed: int) -> list[SpeculationItem]:
    """Draw items whose autoregressive answers are long enough."""
    rng, found = Random(f"speculation/{seed}/{task}"), dict[str, SpeculationItem]()
    for _ in range(DRAWS_AN_ITEM):
        for one in long_answers(bench, [all_tasks()[task].generate(rng, Split.TEST) for _ in range(BATCH)]):
            if len(found) < count:
                found.setdefault(one.item.canonical, one)
        if len(found) == count:
            break
    return list(found.values())


def long_answers(bench: Bench, items: Items[Item]) -> list[SpeculationItem]:
    """Return those items whose autoregressive answers have `FEWEST_TOKENS` at least."""
    info = model_info(bench.model, bench.precision)
    work = [(item, _submission(bench, item)) for item in items]
    fitting = [(item, one) for item, one in work if one.max_length <= info.context_length]
    run = drive(_core(bench, BATCH), [decoded(one) for _, one in fitting], bench.clock)
    return [
        SpeculationItem(item=item, submission=one, decoded=ended)
        for (item, one), ended in zip(fitting, run.sequences, strict=True)
        if len(ended.output) >= FEWEST_TOKENS
    ]


def _submission(bench: Bench, item: Item) -> Submission:
    info = model_info(bench.model, bench.precision)
    request = item_request(item, bench.model.name, max_steps=1, mode=Mode.SPECULATIVE)
    return make_submission(replace(request, budget=None), info, tuple(bench.tokenizer.encode_chat(item.messages)))


def _arm(bench: Bench, rows: int) -> Arm:
    settings = replace(BASE, max_rows=rows)
    return make_arm(Alternative(name="speculation", precision=bench.precision, settings=settings), bench)


def _core(bench: Bench, rows: int) -> Core:
    return _arm(bench, rows).core


def _in(mode: Mode, submission: Submission) -> Submission:
    return submission if mode is Mode.SPECULATIVE else decoded(submission)


def answer_alone(
    bench: Bench, asked: Items[SpeculationItem], samples: SpeculationSamples, rng: Random, *, is_first: bool
) -> dict[str, list[float]]:
    """Write every answer in both modes and with both models, in an order drawn for each; return their seconds."""
    cores, decoder = {mode: _core(bench, 1) for mode in MODES}, _decoder(bench)
    seconds: dict[str, list[float]] = {name: [] for name in (*MODES, DRAFTER)}
    for one in asked:
        for name in rng.sample((*MODES, DRAFTER), len(seconds)):
            if name == DRAFTER:
                began = bench.clock.now()
                answer = decoder.decode(one.submission.prompt, one.submission.max_tokens)
                seconds[name].append(bench.clock.now() - began)
                samples.different += list(answer.tokens) != one.answer
                samples.by_drafter += [answer] if is_first else []
                continue
            run = drive(cores[Mode(name)], [_in(Mode(name), one.submission)], bench.clock)
            seconds[name].append(run.seconds)
            samples.different += run.sequences[0].output != one.answer
            samples.drafted += run.sequences if is_first and name == Mode.SPECULATIVE else ()
    return seconds


def answer_batched(bench: Bench, asked: Items[SpeculationItem], mode: Mode, samples: SpeculationSamples) -> float:
    """Write all answers in one mode, `BATCH` at once; return the seconds that they took together."""
    run = drive(_core(bench, BATCH), [_in(mode, one.submission) for one in asked], bench.clock)
    samples.different += sum(ended.output != one.answer for ended, one in zip(run.sequences, asked, strict=True))
    return run.seconds


def _decoder(bench: Bench) -> TwoModelDecoder:
    pages, info = 64, model_info(bench.model, bench.precision)
    drafter, verifier = (
        Engine(Runner(network, pages=pages, page_size=BASE.page_size, precision=bench.precision), EMBEDDED_ADAPTER)
        for network in (load_weights(packaged_weights(DRAFTER)).network, bench.model.network)
    )
    return TwoModelDecoder(
        drafter,
        verifier,
        pages=pages,
        length=info.default_canvas_of(Mode.SPECULATIVE),
        mask=EMBEDDED_ADAPTER.mask,
        end=EMBEDDED_ADAPTER.end,
    )


def _middle(rounds: Items[Items[float]]) -> list[float]:
    """Return the middle one of each item's times, over rounds."""
    middle: list[float] = np.median(np.array(rounds), axis=0).tolist()
    return middle


def _speedup(name: str, seconds: dict[Mode, list[float]], seed: int, *, n: int, note: str) -> Figure:
    slower, faster = (seconds[mode] for mode in MODES)
    return measured(
        name,
        ratio_interval(slower, faster, seed, paired=True),
        fallback=float(np.mean(slower) / np.mean(faster)),
        n=n,
        note=note,
    )


def _figures(asked: Items[SpeculationItem], samples: SpeculationSamples, seed: int) -> Iterator[Figure]:
    """Yield what decides nothing: speed at a full batch, acceptance by task type, and what another drafter gains."""
    yield _speedup(
        f"speculation_speedup_batch_{BATCH}", samples.batched, seed, n=len(asked), note="rounds resampled in pairs"
    )
    for task in (None, *TASKS):
        chosen = [
            ended for one, ended in zip(asked, samples.drafted, strict=True) if task is None or one.item.task == task
        ]
        prefix = "all." if task is None else f"{task}."
        accepted = [ended.accepted / ended.steps for ended in chosen]
        yield _mean(f"{prefix}accepted_per_round", accepted, seed)
        yield _mean(f"{prefix}tokens_per_round", [len(ended.output) / ended.steps for ended in chosen], seed)
        yield _mean(f"{prefix}drafted_per_round", [ended.drafted / ended.steps for ended in chosen], seed)
        yield _mean(f"{prefix}answer_tokens", [float(len(ended.output)) for ended in chosen], seed)
    yield _mean(f"{DRAFTER}_drafts.accepted_per_round", [one.accepted / one.rounds for one in samples.by_drafter], seed)
    yield measured(
        f"{DRAFTER}_drafts.speedup",
        ratio_interval(samples.alone[Mode.AUTOREGRESSIVE], samples.two_models, seed, paired=True),
        fallback=float(np.mean(samples.alone[Mode.AUTOREGRESSIVE]) / np.mean(samples.two_models)),
        n=len(asked),
        note="two forwards a round, without a scheduler; items in pairs",
    )


def _mean(name: str, values: list[float], seed: int) -> Figure:
    return measured(name, bootstrap_mean(values, seed), fallback=float(np.mean(values)), n=len(values))


def _records(asked: Items[SpeculationItem], samples: SpeculationSamples) -> Iterator[Record]:
    tasks = all_tasks()
    for index, one in enumerate(asked):
        text = samples.drafted[index].text
        for mode in MODES:
            yield Record(
                item=one.item.digest,
                arm=mode.value,
                task=one.item.task,
                difficulty=str(one.item.difficulty),
                steps=samples.drafted[index].steps if mode is Mode.SPECULATIVE else len(one.answer),
                seconds=samples.alone[mode][index],
                correct=tasks[one.item.task].check(one.item, text).passed,
            )
