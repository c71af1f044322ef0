"""How long both modes take for the same questions, one request at a time, and in batches.

Asked are first questions of the completed graph whose answers have 32 to 96 tokens in both modes, one of each cluster.
Which these are is known from the answers that are marked: the same request has the same answer in whatever batch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from unmask.bench.arms import main_arm
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.bench.gate_asking import Desk, reply_of
from unmask.bench.gate_figures import BOTH, latency_figures, quotient
from unmask.bench.gate_journal import Arm, GateJournal, Key
from unmask.bench.gate_stages import Stage
from unmask.bench.modes import BOTH_MODES
from unmask.bench.report import Figure, measured
from unmask.core.core import Core
from unmask.gate.scenario import Scenario, Suite
from unmask.sequence import Submission
from unmask.stats import Floats, percentile_interval
from unmask.types import Mode

FEWEST_TOKENS, MOST_TOKENS = 32, 96
STAGE = Stage.COMPLETED
BATCH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyPlan:
    """How many questions, and how often each is asked: of its times the middle one counts."""

    questions: int
    rounds: int

    @property
    def answers(self) -> int:
        """How many answers that makes at most, alone and in batches."""
        return 2 * len(BOTH_MODES) * self.questions * self.rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """What was measured; ``ratio`` is how many times as long an autoregressive answer takes at batch 1."""

    figures: tuple[Figure, ...]
    ratio: Figure


def of_middle_length(suite: Suite, journal: GateJournal, seed: int, count: int) -> list[Scenario]:
    """Return scenarios whose first answers have 32 to 96 tokens in both modes, one of each cluster, drawn evenly."""
    chosen: dict[str, Scenario] = {}
    for scenario in suite.scenarios:
        lengths = [journal[_key(scenario, mode, seed)][0].tokens for mode in BOTH_MODES]
        if all(FEWEST_TOKENS <= length <= MOST_TOKENS for length in lengths):
            chosen.setdefault(scenario.cluster, scenario)
    found = list(chosen.values())
    return Random(f"latency {seed}").sample(found, min(count, len(found)))


def measure_latency(
    bench: Bench,
    desk: Desk,
    scenarios: Sequence[Scenario],
    plan: LatencyPlan,
    *,
    seed: int,
    done: Callable[[int], None],
) -> Latency:
    """Ask every question in both modes alone, one mode after the other, and then in batches of 16.

    Args:
        bench: whose weights and clock.
        desk: makes submissions.
        scenarios: whose first questions are asked.
        plan: how often.
        seed: that answers are drawn with.
        done: told how many more answers there are.
    """
    core = main_arm(bench).core
    alone: dict[Mode, list[list[float]]] = {mode: [] for mode in BOTH_MODES}
    batched: dict[Mode, list[list[float]]] = {mode: [] for mode in BOTH_MODES}
    for number in range(plan.rounds):
        taken = _alone(bench, core, desk, scenarios, seed, number)
        for mode in BOTH_MODES:
            alone[mode].append(taken[mode])
        for mode in Random(f"batched {seed} {number}").sample(BOTH_MODES, len(BOTH_MODES)):
            work = [_first(desk, one, mode, seed, f"batched {number}") for one in scenarios]
            run = drive(core, work, bench.clock)
            keys = [_key(one, mode, seed) for one in scenarios]
            batched[mode].append([reply_of(one, key).seconds for one, key in zip(run.sequences, keys, strict=True)])
        done(2 * len(BOTH_MODES) * len(scenarios))
    return _latency({mode: _middle(rounds) for mode, rounds in alone.items()}, batched)


def _alone(
    bench: Bench, core: Core, desk: Desk, scenarios: Sequence[Scenario], seed: int, number: int
) -> dict[Mode, list[float]]:
    taken: dict[Mode, list[float]] = {mode: [] for mode in BOTH_MODES}
    for scenario in scenarios:
        for mode in Random(f"alone {seed} {number} {scenario.id}").sample(BOTH_MODES, len(BOTH_MODES)):
            work = _first(desk, scenario, mode, seed, f"alone {number}")
            (sequence,) = drive(core, [work], bench.clock).sequences
            taken[mode].append(reply_of(sequence, _key(scenario, mode, seed)).seconds)
    return taken


def _latency(alone: Mapping[Mode, Floats], rounds: Mapping[Mode, list[list[float]]]) -> Latency:
    batched = {mode: _middle(found) for mode, found in rounds.items()}
    ratio = _ratio("ar_p50_vs_diffusion", alone)
    return Latency(
        figures=(
            *(figure for mode in BOTH_MODES for figure in latency_figures(f"batch_1.{mode}", alone[mode])),
            *(figure for mode in BOTH_MODES for figure in latency_figures(f"batch_{BATCH}.{mode}", batched[mode])),
            ratio,
            _ratio(f"ar_p50_vs_diffusion_{BATCH}", batched),
        ),
        ratio=ratio,
    )


def _ratio(name: str, seconds: Mapping[Mode, Floats]) -> Figure:
    slower, faster = seconds[Mode.AUTOREGRESSIVE], seconds[Mode.DIFFUSION]
    return measured(
        name,
        quotient(percentile_interval(slower, 0.5, BOTH), percentile_interval(faster, 0.5, BOTH)),
        fallback=float(np.median(slower) / np.median(faster)) if len(slower) else 0.0,
        n=len(slower),
        note=f"answers of {FEWEST_TOKENS} to {MOST_TOKENS} tokens",
    )


def _middle(rounds: list[list[float]]) -> Floats:
    return np.median(np.array(rounds, dtype=np.float64), axis=0)


def _first(desk: Desk, scenario: Scenario, mode: Mode, seed: int, lane: str) -> Submission:
    return desk.submission(_key(scenario, mode, seed), scenario, (), lane=lane)


def _key(scenario: Scenario, mode: Mode, seed: int) -> Key:
    return Key(scenario=scenario.id, arm=Arm(stage=STAGE, mode=mode), seed=seed)
