"""What was made of an answer: one figure a metric, or none, and who said so."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.gate.response import ResponseKey
from unmask.gate.scenario import ScenarioKind


class Metric(StrEnum):
    """What an answer is measured by.

    All lie in [0, 1] but ``seconds``. ``hallucination`` is 1 where something false was said; of all others but
    ``seconds`` more is better.
    """

    FACTUAL_PRECISION = "factual_precision"
    HALLUCINATION = "hallucination"
    TRAP_CORRECTED = "trap_corrected"
    ENTITY_COVERAGE = "entity_coverage"
    PERSONA = "persona"
    NATURALNESS = "naturalness"
    MULTI_TURN = "multi_turn"
    FORMAT = "format"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One reply of a judge.

    Attributes:
        value: in [0, 1]; ``None`` where the reply was refused, cut off or malformed.
        raw: the reply as it came.
    """

    judge: str
    value: float | None
    reason: str
    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One metric of one answer.

    Attributes:
        value: ``None`` where it could not be told, which is never a pass nor a fail.
        why: in a few words, for whoever reads the answer beside it.
        borderline: whether a person should look, because votes disagree or little was missing.
    """

    metric: Metric
    value: float | None
    why: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()
    borderline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """All marks of one answer; metrics that do not apply to its scenario have none."""

    key: ResponseKey
    kind: ScenarioKind
    cluster: str
    marks: tuple[Mark, ...]
