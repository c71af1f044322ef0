"""What the answers of the gate bench are worth: marks by code, one value a cluster."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.bench.gate_asking import ARMS, Setting
from unmask.bench.gate_journal import Arm, GateJournal, Key, Reply
from unmask.bench.gate_stages import Stage
from unmask.bench.report import Record
from unmask.gate.findings import find
from unmask.gate.reading.phrases import load_phrases
from unmask.gate.response import Response, ResponseKey, SystemLabel, TurnResponse
from unmask.gate.scenario import Scenario, ScenarioKind
from unmask.gate.score import Metric
from unmask.gate.scorer import Scorer
from unmask.knowledge.context import Context
from unmask.knowledge.measures import QueryMeasures, measure, pooled
from unmask.stats import Floats

TRAP_ACCEPTED = "trap_accepted"
"""Of trap scenarios: whether the answer states, or agrees to, what the question wrongly takes for granted."""
QUALITIES = (
    Metric.FACTUAL_PRECISION.value,
    Metric.HALLUCINATION.value,
    TRAP_ACCEPTED,
    Metric.TRAP_CORRECTED.value,
    Metric.ENTITY_COVERAGE.value,
    Metric.PERSONA.value,
    Metric.MULTI_TURN.value,
)

Means = Mapping[str, float]
"""By cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRecord(Record):
    """One scenario in one arm and seed, with what the figures of this bench need beside.

    ``correct`` is whether all was said that was asked for and nothing that is false.
    """

    seed: int
    cluster: str
    tokens: int
    marks: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArmMarks:
    """One arm's answers.

    Attributes:
        means: by quality, over seeds and scenarios of each cluster.
        steps: per answer, a mean for each cluster. ``seconds``: of one answer of each, by turns of another seed.
    """

    arm: Arm
    means: Mapping[str, Means]
    steps: Floats
    seconds: Floats
    records: tuple[GateRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """A cluster's prompts: how many, and what was counted of them all."""

    questions: int
    counts: QueryMeasures


def mark_all(
    setting: Setting, journal: GateJournal, seeds: Sequence[int], watch: Callable[[float], None]
) -> dict[Arm, ArmMarks]:
    """Score every answer; ``watch`` is told which share is done."""
    scorer = Scorer(setting.suite, load_phrases())
    marked: dict[Arm, ArmMarks] = {}
    for number, arm in enumerate(ARMS):
        watch(number / len(ARMS))
        marked[arm] = _arm_marks(scorer, setting, arm, seeds, journal)
    return marked


def prompts_of(setting: Setting, stage: Stage) -> dict[str, Prompts]:
    """Return what was counted of a stage's prompts, by cluster, held against the whole world."""
    found: defaultdict[str, list[QueryMeasures]] = defaultdict(list)
    for scenario in setting.suite.scenarios:
        world = setting.suite.worlds[scenario.world]
        contexts = setting.contexts[stage][scenario.id]
        found[scenario.cluster] += [
            measure(world, context, turn.needed) for context, turn in zip(contexts, scenario.turns, strict=True)
        ]
    return {cluster: Prompts(questions=len(found[cluster]), counts=pooled(found[cluster])) for cluster in sorted(found)}


def _arm_marks(scorer: Scorer, setting: Setting, arm: Arm, seeds: Sequence[int], journal: GateJournal) -> ArmMarks:
    values: dict[str, defaultdict[str, list[float]]] = {name: defaultdict(list) for name in QUALITIES}
    replies: defaultdict[str, list[Reply]] = defaultdict(list)
    records: list[GateRecord] = []
    for seed in seeds:
        for scenario in setting.suite.scenarios:
            key = Key(scenario=scenario.id, arm=arm, seed=seed)
            marks = marks_of(scorer, scenario, key, journal[key], setting.contexts[arm.stage][scenario.id])
            for name, value in marks.items():
                values[name][scenario.cluster].append(value)
            replies[scenario.cluster] += journal[key]
            records.append(_record(scenario, key, journal[key], marks))
    clusters = sorted(replies)
    return ArmMarks(
        arm=arm,
        means={
            name: {cluster: float(np.mean(found[cluster])) for cluster in sorted(found)}
            for name, found in values.items()
        },
        steps=np.array([np.mean([reply.steps for reply in replies[cluster]]) for cluster in clusters]),
        # Answers of a cluster lie seed after seed, so that steps through them come to all seeds and scenarios.
        seconds=np.array(
            [replies[cluster][number % len(replies[cluster])].seconds for number, cluster in enumerate(clusters)]
        ),
        records=tuple(records),
    )


def marks_of(
    scorer: Scorer, scenario: Scenario, key: Key, replies: Sequence[Reply], contexts: Sequence[Context]
) -> dict[str, float]:
    """Return the marks of a scenario's answers by name; what does not apply has none."""
    response = Response(
        key=ResponseKey(scenario=scenario.id, seed=key.seed, system=SystemLabel.MODEL),
        turns=tuple(_turn(reply, context) for reply, context in zip(replies, contexts, strict=True)),
    )
    scored = scorer.by_code(response)
    marks: dict[str, float | None] = {
        mark.metric.value: mark.value for mark in scored.marks if mark.metric.value in QUALITIES
    }
    found = {name: value for name, value in marks.items() if value is not None}
    if scenario.kind is ScenarioKind.TRAP:
        found[TRAP_ACCEPTED] = float(_accepts(scorer, scenario, replies))
    return found


def _accepts(scorer: Scorer, scenario: Scenario, replies: Sequence[Reply]) -> bool:
    setting = scorer.setting(scenario)
    return any(
        find(setting, scenario.speaker, turn, reply.text).accepted
        for turn, reply in zip(scenario.turns, replies, strict=True)
    )


def _turn(reply: Reply, context: Context) -> TurnResponse:
    return TurnResponse(
        messages=(),
        context=context,
        text=reply.text,
        finish_reason="",
        prompt_tokens=0,
        output_tokens=reply.tokens,
        steps=reply.steps,
        seconds=reply.seconds,
    )


def _record(scenario: Scenario, key: Key, replies: Sequence[Reply], marks: Mapping[str, float]) -> GateRecord:
    precise = marks.get(Metric.FACTUAL_PRECISION.value, 1.0) == 1
    return GateRecord(
        item=scenario.id,
        arm=key.arm.name,
        task=scenario.kind,
        difficulty=f"turns={len(replies)}",
        steps=sum(reply.steps for reply in replies),
        seconds=sum(reply.seconds for reply in replies),
        correct=precise and not marks[Metric.HALLUCINATION.value],
        seed=key.seed,
        cluster=scenario.cluster,
        tokens=sum(reply.tokens for reply in replies),
        marks=marks,
    )
