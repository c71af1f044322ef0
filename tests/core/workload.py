"""Random requests and random ways to run them."""

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Items
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random

from hypothesis import strategies as st
from torch import Tensor

from unmask.core.core import Core
from unmask.engine.engine import Engine
from unmask.engine.network import Network
from unmask.engine.runner import Runner
from unmask.plan import CanvasTask, DecodeTask, Plan, PlanRunner, Row, RowResult, SpeculativeTask
from unmask.sched.admission import pages_needed
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.service import Batching, ClassTerms
from unmask.strategy import StrategyName
from unmask.testing.cores import make_core
from unmask.testing.learned import make_choice
from unmask.testing.listeners import RecordingListener
from unmask.testing.networks import TINY_ADAPTER, TINY_SHAPE
from unmask.testing.submissions import make_submission
from unmask.types import (
    Bucket,
    Draft,
    ExitAction,
    ExitCondition,
    ExitPlan,
    ExitRule,
    LearnedExit,
    Mode,
    ProgressSignal,
    Sampling,
    SignalKind,
)

VOCABULARY = range(2, TINY_SHAPE.vocabulary)
# Prompts begin with a run of this, so that some share pages.
COMMON = tuple(2 + place * 7 % 61 for place in range(TINY_SHAPE.context_length))
ALONE = SchedSettings(
    pages=16,
    page_size=16,
    max_rows=1,
    prefill_tokens=TINY_SHAPE.context_length,
    chunked_prefill=False,
    prefix_cache=False,
    fused_prefill=False,
    fused_commit=False,
)
LONGEST_RUN = 5_000
EASY: Mapping[ProgressSignal, float] = {
    ProgressSignal.FLIPS: 0.9,
    ProgressSignal.KL: 20.0,
    ProgressSignal.CONFIDENCE_P10: 0.02,
    ProgressSignal.CONFIDENCE_MEAN: 0.1,
    ProgressSignal.CONFIDENCE_MIN: 0.02,
    ProgressSignal.GAP: 0.001,
    ProgressSignal.ENTROPY: 4.0,
}
"""Bounds that drafts of an untrained network meet now and then."""
THRESHOLDS: Mapping[StrategyName, tuple[float | None, ...]] = {
    StrategyName.LOW_CONFIDENCE: (None, 0.5, 0.9),
    StrategyName.CONFIDENCE_THRESHOLD: (None, 0.5),
    StrategyName.ENTROPY_BOUND: (None, 1.0),
    StrategyName.KLASS: (None, 0.3),
    StrategyName.PROPHET: (None, 0.5),
    StrategyName.REMASK: (None, 0.95),
    StrategyName.FINALITY: (None, 0.3),
}


def draw_prompt(rng: Random) -> tuple[int, ...]:
    """Draw a prompt of one token up to the whole context but one, short ones more often."""
    length = rng.randint(1, rng.choice((8, 40, 120, TINY_SHAPE.context_length - 1)))
    shared = rng.randint(0, length)
    return COMMON[:shared] + tuple(rng.choices(VOCABULARY, k=length - shared))


def draw_draft(rng: Random, canvas_length: int) -> Draft:
    """Draw a start for a canvas."""
    start = rng.choices((None, *VOCABULARY[:8]), k=rng.randint(0, canvas_length))
    return Draft(tokens=tuple(start), frozen=frozenset(rng.sample(range(len(start)), rng.randint(0, len(start)))))


def is_of_even_length(text: str) -> bool:
    """Judge a text by something that about half of all texts have."""
    return len(text) % 2 == 0


def draw_rule(rng: Random) -> ExitRule:
    """Draw a rule over any kinds of signals, easy to meet so that it is met on random weights too."""
    change = rng.choice((ProgressSignal.FLIPS, ProgressSignal.KL))
    confidence = rng.choice([signal for signal in ProgressSignal if signal.kind is SignalKind.CONFIDENCE])
    conditions = [ExitCondition(signal=confidence, bound=EASY[confidence])]
    is_formatted = rng.random() < 0.5
    if is_formatted:
        conditions.append(ExitCondition(signal=ProgressSignal.FORMAT, bound=1.0))
    if not is_formatted or rng.random() < 0.5:
        conditions.append(ExitCondition(signal=change, bound=EASY[change]))
    weights = ((ProgressSignal.GAP, 1.0), (ProgressSignal.KL, -0.5), (ProgressSignal.CONFIDENCE_MEAN, 0.5))
    learned = LearnedExit(version="0", bias=rng.choice((-1.0, 1.0)), weights=weights, threshold=0.5)
    return ExitRule(
        conditions=tuple(conditions),
        learned=rng.choice((None, None, learned)),
        patience=rng.choice((1, 1, 2)),
        min_steps=rng.choice((1, 1, 3)),
    )


def draw_plan(rng: Random) -> ExitPlan:
    """Draw a rule that acts or only observes."""
    return ExitPlan(rule=draw_rule(rng), action=rng.choice(tuple(ExitAction)))


def draw_submission(rng: Random) -> Submission:
    """Draw a request that the tiny network can serve."""
    prompt = draw_prompt(rng)
    canvas_length = rng.choice(TINY_SHAPE.canvas_lengths)
    max_tokens = rng.randint(1, min(TINY_SHAPE.context_length - len(prompt), 4 * canvas_length))
    mode = rng.choice((*(Mode.DIFFUSION,) * 5, Mode.AUTOREGRESSIVE, Mode.SPECULATIVE))
    name = rng.choice(tuple(StrategyName))
    max_steps = rng.randint(1, 8)
    total = max_tokens if mode.is_causal else max_steps * -(-max_tokens // canvas_length)
    return make_submission(
        prompt,
        max_tokens=max_tokens,
        canvas_length=canvas_length,
        max_steps=max_steps,
        max_total_steps=rng.choice((total, total, rng.randint(1, total))),
        mode=mode,
        strategy=make_choice(name, rng.choice(THRESHOLDS[name])),
        sampling=Sampling(
            temperature=rng.choice((0.0,) if mode is Mode.SPECULATIVE else (0.0, 0.0, 0.7, 1.0)),
            top_p=rng.choice((1.0, 0.9)),
            seed=rng.randint(0, 3),
        ),
        stop=rng.choice(((), (), ("%",), ("')", "0"))),
        draft=draw_draft(rng, canvas_length) if mode is Mode.DIFFUSION and rng.random() < 0.2 else None,
        trace=rng.random() < 0.3,
        top_logprobs=(None, None, 0, 3, 20)[max_tokens % 5],
        exit=draw_plan(rng) if mode is Mode.DIFFUSION and rng.random() < 0.5 else None,
        check=rng.choice((None, is_of_even_length)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A request, the tick before which it arrives, and that before which it is aborted, if it is."""

    submission: Submission
    tick: int
    aborted_at: int | None


def draw_arrivals(rng: Random, number: int) -> list[Arrival]:
    """Draw requests that arrive in any order, some to be aborted at some point of their life."""
    arrived = []
    for _ in range(number):
        tick = rng.randint(0, 6)
        aborted_at = tick + rng.choice((0, 1, 2, 3, 5, 8)) if rng.random() < 0.3 else None
        arrived.append(Arrival(submission=draw_submission(rng), tick=tick, aborted_at=aborted_at))
    return arrived


Case = tuple[list[Arrival], SchedSettings]


CLASSES = (
    ClassTerms(),
    ClassTerms(name="interactive", weight=8.0, is_interactive=True),
    ClassTerms(name="batch", weight=0.1, min_share=0.2, max_share=0.5),
)


@st.composite
def shared(draw: st.DrawFn, submission: Submission) -> Submission:
    """Draw a service class, a tenant and a bucket for a request."""
    return replace(
        submission,
        terms=draw(st.sampled_from(CLASSES)),
        tenant=draw(st.sampled_from(("", "a", "b"))),
        bucket=draw(st.none() | st.sampled_from(Bucket)),
    )


def is_of_one_line(arrived: list[Arrival]) -> bool:
    """Tell whether requests are all of one class, tenant and bucket, and so served in the order they came."""
    return len({(one.submission.terms, one.submission.tenant, one.submission.bucket) for one in arrived}) == 1


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw requests and settings under which every one of them can run, if only alone."""
    arrived = draw_arrivals(Random(draw(st.integers(0, 2**64))), draw(st.integers(1, 6)))
    is_shared = draw(st.booleans())
    if is_shared:
        arrived = [replace(arrival, submission=draw(shared(arrival.submission))) for arrival in arrived]
    page_size = draw(st.sampled_from((1, 3, 8, 16, 32)))
    largest = max(pages_needed(arrival.submission, page_size) for arrival in arrived)
    settings = SchedSettings(
        pages=largest + draw(st.sampled_from((0, 1, 2 * largest, 4 * largest))),
        page_size=page_size,
        max_rows=draw(st.integers(1, 6)),
        prefill_tokens=draw(st.sampled_from((5, 16, 32, 64, 256))),
        chunked_prefill=draw(st.booleans()),
        prefix_cache=draw(st.booleans()),
        fused_prefill=draw(st.booleans()),
        fused_commit=draw(st.booleans()),
        tick_tokens=draw(st.sampled_from((None, 1, 40, 100))) if is_shared else None,
        fast_tick_tokens=draw(st.sampled_from((None, 1, 20))) if is_shared else None,
        batching=draw(st.sampled_from((Batching.STEP, Batching.STEP, Batching.STEP, Batching.ALIGNED))),
    )
    return arrived, settings


Key = tuple[int, int, int]


class RecordingRunner:
    """Runs rows on a network and keeps the logits of each step, by sequence, canvas (−1: decoding) and step."""

    def __init__(self, network: Network, settings: SchedSettings) -> None:
        self.logits: dict[Key, Tensor] = {}
        self._runner = Runner(network, pages=settings.pages, page_size=settings.page_size)

    def forward(self, rows: Items[Row]) -> Tensor:
        """Run the rows."""
        logits = self._runner.forward(rows)
        first = 0
        for row in rows:
            match row.task:
                case CanvasTask():
                    key, count = (row.sequence, row.task.index, row.task.step), len(row.task.asked)
                case DecodeTask():
                    key, count = (row.sequence, -1, row.task.index), 1
                case SpeculativeTask():
                    key, count = (row.sequence, -1, row.task.index), len(row.task.draft) + 1 + len(row.task.tokens)
                case None:
                    continue
            self.logits[key] = logits[first : first + count].clone()
            first += count
        return logits


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTaken:
    """A row of a forward and its result."""

    row: Row
    result: RowResult


class WatchedEngine:
    """Runs plans and keeps every step."""

    def __init__(self, engine: PlanRunner) -> None:
        self.steps: list[StepTaken] = []
        self._engine = engine

    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Run the plan."""
        results = self._engine.run(plan)
        self.steps += [StepTaken(row=row, result=result) for row, result in zip(plan.rows, results, strict=True)]
        return results


@dataclass(slots=True, kw_only=True)
class Run:
    """What became of arrivals under some settings, in the order they were given."""

    core: Core
    runner: RecordingRunner
    engine: WatchedEngine
    arrived: list[Arrival]
    listeners: list[RecordingListener] = field(default_factory=list)
    ids: dict[int, int] = field(default_factory=dict)
    late_aborts: list[int] = field(default_factory=list)

    @property
    def sequences(self) -> list[Sequence]:
        """The ended sequences."""
        return [listener.endings[0] for listener in self.listeners]

    def logits(self, index: int) -> dict[tuple[int, int], Tensor]:
        """Return the logits of one request, by canvas and step."""
        return {
            (canvas, step): logits
            for (number, canvas, step), logits in self.runner.logits.items()
            if number == self.ids[index]
        }

    def tick(self, tick: int) -> None:
        """Submit and abort what is due before a tick, then run it."""
        for index, arrival in enumerate(self.arrived):
            if arrival.tick == tick:
                self.ids[index] = self.core.submit(arrival.submission, self.listeners[index])
        due = [index for index, arrival in enumerate(self.arrived) if arrival.aborted_at == tick]
        for index in due:
            self.core.abort(self.ids[index])
        self.core.tick()
        self.late_aborts += [index for index in due if not self.listeners[index].endings]


def run(
    network: Network, arrived: list[Arrival], settings: SchedSettings, each_tick: Callable[[Core], None] | None = None
) -> Run:
    """Run arrivals to their ends; asks for each abort when it is due, and calls ``each_tick`` after every tick."""
    runner = RecordingRunner(network, settings)
    engine = WatchedEngine(Engine(runner, TINY_ADAPTER))
    core = make_core(engine, settings)
    result = Run(
        core=core,
        runner=runner,
        engine=engine,
        arrived=arrived,
        listeners=[RecordingListener() for _ in arrived],
    )
    for tick in count():
        result.tick(tick)
        if each_tick is not None:
            each_tick(core)
        if len(result.ids) == len(arrived) and core.is_idle:
            return result
        assert tick < LONGEST_RUN, "a run comes to its end"
    raise AssertionError


def alone(network: Network, submission: Submission) -> Run:
    """Run one request with nothing shared, split or fused."""
    return run(network, [Arrival(submission=submission, tick=0, aborted_at=None)], ALONE)
