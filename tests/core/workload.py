"""Random requests and random ways to run them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from unmask.core.core import Core
from unmask.engine.network import Network
from unmask.engine.runner import Runner
from unmask.sched.admission import pages_needed
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.testing.cores import make_core, make_engine
from unmask.testing.listeners import RecordingListener
from unmask.testing.networks import TINY_SHAPE
from unmask.testing.submissions import make_submission
from unmask.types import Draft, Mode, Sampling, StrategyChoice, StrategyName

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
THRESHOLDS: Mapping[StrategyName, tuple[float | None, ...]] = {
    StrategyName.LOW_CONFIDENCE: (None, 0.5, 0.9),
    StrategyName.CONFIDENCE_THRESHOLD: (None, 0.5),
    StrategyName.ENTROPY_BOUND: (None, 1.0),
    StrategyName.KLASS: (None, 0.3),
    StrategyName.PROPHET: (None, 0.5),
    StrategyName.REMASK: (None, 0.95),
}

tokens = st.integers(2, TINY_SHAPE.vocabulary - 1)


@st.composite
def prompts(draw: st.DrawFn) -> tuple[int, ...]:
    """Draw a prompt of one token up to the whole context but one, short ones more often."""
    longest = draw(st.sampled_from((8, 40, 120, TINY_SHAPE.context_length - 1)))
    length = draw(st.integers(1, longest))
    shared = draw(st.integers(0, length))
    tail = draw(st.lists(tokens, min_size=1, max_size=4))
    return (COMMON[:shared] + tuple(tail) * length)[:length]


@st.composite
def drafts(draw: st.DrawFn, canvas_length: int) -> Draft | None:
    """Draw a start for a canvas, or none."""
    if draw(st.integers(0, 3)):
        return None
    start = tuple(draw(st.lists(st.none() | st.integers(1, 9), max_size=canvas_length)))
    frozen = draw(st.sets(st.integers(0, len(start) - 1))) if start else set()
    return Draft(tokens=start, frozen=frozenset(frozen))


@st.composite
def submissions(draw: st.DrawFn) -> Submission:
    """Draw a request that the tiny network can serve."""
    prompt = draw(prompts())
    canvas_length = draw(st.sampled_from(TINY_SHAPE.canvas_lengths))
    room = TINY_SHAPE.context_length - len(prompt)
    max_tokens = draw(st.integers(1, min(room, 3 * canvas_length)))
    mode = draw(st.sampled_from((Mode.DIFFUSION,) * 5 + (Mode.AUTOREGRESSIVE,)))
    name = draw(st.sampled_from(StrategyName))
    max_steps = draw(st.integers(1, 8))
    canvases = -(-max_tokens // canvas_length)
    total = draw(st.none() | st.integers(1, max_steps * canvases))
    default_total = max_tokens if mode is Mode.AUTOREGRESSIVE else max_steps * canvases
    return make_submission(
        prompt,
        max_tokens=max_tokens,
        canvas_length=canvas_length,
        max_steps=max_steps,
        max_total_steps=default_total if total is None else total,
        mode=mode,
        strategy=StrategyChoice(name=name, threshold=draw(st.sampled_from(THRESHOLDS[name]))),
        sampling=Sampling(
            temperature=draw(st.sampled_from((0.0, 0.0, 0.7, 1.0))),
            top_p=draw(st.sampled_from((1.0, 0.9))),
            seed=draw(st.integers(0, 3)),
        ),
        stop=draw(st.sampled_from(((), ("%",), ("')", "0")))),
        draft=draw(drafts(canvas_length)) if mode is Mode.DIFFUSION else None,
        trace=draw(st.booleans()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A request, the tick before which it arrives, and how many ticks later it is aborted, if it is."""

    submission: Submission
    tick: int
    abort_after: int | None


@st.composite
def arrivals(draw: st.DrawFn) -> list[Arrival]:
    """Draw requests that arrive in any order, some to be aborted."""
    return [
        Arrival(
            submission=submission,
            tick=draw(st.integers(0, 6)),
            abort_after=draw(st.sampled_from((None, None, None, 0, 1, 2, 5))),
        )
        for submission in draw(st.lists(submissions(), min_size=1, max_size=5))
    ]


@st.composite
def ways(draw: st.DrawFn, arrived: list[Arrival]) -> SchedSettings:
    """Draw settings under which every request can run, if only alone."""
    page_size = draw(st.sampled_from((1, 3, 8, 16, 32)))
    largest = max(pages_needed(arrival.submission, page_size) for arrival in arrived)
    return SchedSettings(
        pages=largest + draw(st.sampled_from((0, 1, 2 * largest, 4 * largest))),
        page_size=page_size,
        max_rows=draw(st.integers(1, 6)),
        prefill_tokens=draw(st.sampled_from((5, 16, 32, 64, 256))),
        chunked_prefill=draw(st.booleans()),
        prefix_cache=draw(st.booleans()),
        fused_prefill=draw(st.booleans()),
        fused_commit=draw(st.booleans()),
        lockstep=draw(st.sampled_from((False, False, False, True))),
    )


@dataclass(slots=True)
class Run:
    """What became of arrivals under some settings: the core after all ended, and each one's listener."""

    core: Core
    listeners: list[RecordingListener]
    ticks_to_abort: list[int]

    @property
    def sequences(self) -> list[Sequence]:
        """The ended sequences, in the order of the arrivals."""
        return [listener.endings[0] for listener in self.listeners]


def run(network: Network, arrived: list[Arrival], settings: SchedSettings) -> Run:
    """Run arrivals to their ends; asks for each abort when it is due."""
    core = make_core(make_engine(network, settings), settings)
    listeners = [RecordingListener() for _ in arrived]
    ids: dict[int, int] = {}
    late: list[int] = []
    tick = 0
    while len(ids) < len(arrived) or not core.is_idle:
        for index, arrival in enumerate(arrived):
            if arrival.tick == tick:
                ids[index] = core.submit(arrival.submission, listeners[index])
        aborted = [
            index
            for index, arrival in enumerate(arrived)
            if arrival.abort_after is not None and tick == arrival.tick + arrival.abort_after
        ]
        for index in aborted:
            core.abort(ids[index])
        core.tick()
        late += [index for index in aborted if not listeners[index].endings]
        tick += 1
        assert tick < 5_000, "a run comes to its end"
    return Run(core=core, listeners=listeners, ticks_to_abort=late)


def run_alone(network: Network, submission: Submission) -> Sequence:
    """Run one request with nothing shared, split or fused."""
    (sequence,) = run(network, [Arrival(submission=submission, tick=0, abort_after=None)], ALONE).sequences
    return sequence


__all__ = ["ALONE", "Arrival", "Run", "Runner", "arrivals", "replace", "run", "run_alone", "submissions", "ways"]
