"""``unmask bench gate``: what the road from naive triples to a completed graph buys, in both modes of the same weights.

Four stages of retrieval, diffusion and autoregressive decoding, three seeds, the same generated scenarios in all; then
the same questions one at a time, and both modes under load.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unmask.bench.ar_load import LoadTest, run_ar_load
from unmask.bench.bench import Bench
from unmask.bench.gate_asking import ARMS, TEMPERATURE, Desk, Setting, ask_all, contexts_of, missing
from unmask.bench.gate_figures import (
    ByCluster,
    Marked,
    arm_figures,
    mode_differences,
    stage_differences,
    stage_figures,
)
from unmask.bench.gate_journal import Arm, GateJournal, JournalOf, Key, open_gate_journal
from unmask.bench.gate_latency import Latency, measure_latency, of_middle_length
from unmask.bench.gate_marks import mark_all, prompts_of
from unmask.bench.gate_sizes import FULL, QUICK, GateSizes
from unmask.bench.gate_stages import Stage, Way, ways
from unmask.bench.gate_targets import judge
from unmask.bench.pace import Pace, Progress, Say
from unmask.bench.report import BenchReport, Figure
from unmask.control.sources import ActivePolicy
from unmask.gate.generated import generated_suite
from unmask.gate.scenario import Suite
from unmask.policy.digest import canonical, content_digest
from unmask.sequence import Submission
from unmask.types import Mode

FIRST_SUITE = 6_000
"""Seed of the suite of seed 0; retrieval was worked out on suites 0, 1 and 7, and on none from here on."""
LATENCY_SEED = 0

LoadRunner = Callable[..., LoadTest]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateBasis:
    """What a run rests on.

    Attributes:
        policy: what a server would run diffusion under; ``None`` is the model's default budget.
        folder: where the journal is.
    """

    policy: ActivePolicy | None
    folder: Path


def run_gate_bench(
    bench: Bench,
    basis: GateBasis,
    *,
    seed: int,
    quick: bool,
    progress: Progress,
    say: Say,
    sizes: GateSizes | None = None,
    load: LoadRunner = run_ar_load,
) -> BenchReport:
    """Ask everything in every arm, score it, measure latency and load, and judge the targets.

    Args:
        bench: what is measured.
        basis: the policy, and where the journal is.
        seed: of suite, order and resampling.
        quick: whether little is enough, as nothing is to be decided.
        progress: told of stages and shares.
        say: told what is expected and what was found on the way.
        sizes: by default those of a full or quick run.
        load: measures both modes under load.

    Raises:
        UnmaskError: the engine failed a request, or the journal is damaged or cannot be written.
    """
    chosen, pace = sizes or (QUICK if quick else FULL), Pace(bench.clock, progress, say)
    suite = generated_suite(FIRST_SUITE + seed, chosen.worlds)
    suite = replace(suite, scenarios=suite.scenarios[: chosen.scenarios])
    found = ways(suite)
    progress("retrieval", 0.0)
    setting = Setting(suite=suite, contexts=contexts_of(suite, found), policy=basis.policy)
    desk = Desk(bench, setting)
    with open_gate_journal(basis.folder, _journal_of(bench, basis, suite, found)) as journal:
        pace.stage("answers", missing(suite, journal, chosen.seeds) + chosen.latency.answers)
        ask_all(bench, desk, journal, seeds=chosen.seeds, order=seed, done=pace.done, wave=chosen.wave)
        pace.stage("one at a time", chosen.latency.answers)
        latency = _latency(bench, desk, journal, chosen, pace, say)
        marked = mark_all(setting, journal, chosen.seeds, lambda share: progress("scoring", share))
    under_load = load(
        bench,
        _load_work(desk),
        seed=seed,
        quick=quick,
        progress=lambda stage, share: progress(f"load, {stage}", share),
    )
    prompts = {stage: prompts_of(setting, stage) for stage in Stage}
    figures = _figures(marked, prompts, seed)
    further, targets = judge(figures, prompts, latency.ratio, under_load.must_reach, seed)
    return bench.report(
        "gate",
        seed=seed,
        quick=quick,
        figures=(*further, *figures, *latency.figures, *under_load.figures, *_counts(suite, chosen)),
        must_reach=targets,
        records=tuple(record for arm in ARMS for record in marked[arm].records),
        policy=None if basis.policy is None else basis.policy.digest,
    )


def _figures(marked: Marked, prompts: Mapping[Stage, ByCluster], seed: int) -> list[Figure]:
    return [
        *(figure for stage in Stage for figure in stage_figures(stage, prompts[stage], seed)),
        *(figure for arm in ARMS for figure in arm_figures(marked[arm], seed)),
        *mode_differences(marked, seed),
        *stage_differences(marked, seed),
    ]


def _latency(bench: Bench, desk: Desk, journal: GateJournal, sizes: GateSizes, pace: Pace, say: Say) -> Latency:
    plan = sizes.latency
    scenarios = of_middle_length(desk.setting.suite, journal, LATENCY_SEED, plan.questions)
    say(f"{len(scenarios)} questions, one a cluster, have answers of middle length in both modes")
    return measure_latency(bench, desk, scenarios, plan, seed=LATENCY_SEED, done=pace.done)


def _load_work(desk: Desk) -> Sequence[Submission]:
    """Return first questions of the completed graph as requests of the load test.

    Its bare loop takes the likeliest token, and so do these. Neighbours in a suite are asked of the same person, and
    would find their facts in the prefix cache: one of each cluster comes first, then a second one of each.
    """
    arm = Arm(stage=Stage.COMPLETED, mode=Mode.DIFFUSION)
    seen: dict[str, int] = {}
    ranked = []
    for scenario in desk.setting.suite.scenarios:
        seen[scenario.cluster] = seen.get(scenario.cluster, 0) + 1
        ranked.append((seen[scenario.cluster], scenario))
    ranked.sort(key=lambda pair: pair[0])
    return [
        desk.submission(Key(scenario=scenario.id, arm=arm, seed=0), scenario, (), temperature=0.0, lane="load")
        for _, scenario in ranked
    ]


def _journal_of(bench: Bench, basis: GateBasis, suite: Suite, found: Mapping[Stage, Way]) -> JournalOf:
    retrieval = {
        stage.value: [way.retriever.name, {name: world.digest for name, world in way.worlds.items()}]
        for stage, way in found.items()
    }
    return JournalOf(
        model_digest=bench.model.digest,
        precision=bench.precision,
        suite=suite.digest,
        ways=content_digest(canonical(retrieval)),
        policy="" if basis.policy is None else basis.policy.digest,
        temperature=TEMPERATURE,
    )


def _counts(suite: Suite, sizes: GateSizes) -> list[Figure]:
    clusters = {scenario.cluster for scenario in suite.scenarios}
    return [
        Figure(name="scenarios", value=len(suite.scenarios), note=f"suite {suite.id} {suite.digest[:12]}"),
        Figure(name="clusters", value=len(clusters)),
        Figure(name="seeds", value=len(sizes.seeds), note=f"temperature {TEMPERATURE:g}"),
    ]
