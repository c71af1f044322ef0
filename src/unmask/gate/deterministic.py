"""Marks of an answer that need no judge: what code can tell, it tells, the same every time."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from unmask.gate.findings import TurnFindings, find
from unmask.gate.manner import MannerFinding
from unmask.gate.reading.setting import Setting
from unmask.gate.response import Response
from unmask.gate.scenario import (
    AdmitsUnknown,
    Check,
    CorrectsClaim,
    HasForm,
    KeepsManner,
    NamesEntities,
    Scenario,
    ScenarioKind,
    StatesFact,
)
from unmask.gate.score import Mark, Metric, Scored

_FACTUAL = (StatesFact, CorrectsClaim, AdmitsUnknown)
LONGEST_WHY = 12
"""Reasons kept with a mark; more are counted only."""


def score_response(response: Response, scenario: Scenario, setting: Setting) -> Scored:
    """Return every mark that applies to a scenario's answer and that code can tell.

    Args:
        response: the answer; with a fault of the infrastructure, or fewer turns than asked, every mark is ``None``.
        scenario: what was asked.
        setting: the scenario's world in the scenario's language.
    """
    fault = response.fault
    if fault is None and len(response.turns) != len(scenario.turns):
        fault = f"answers {len(response.turns)} of {len(scenario.turns)} turns"
    if fault is not None:
        marks = tuple(Mark(metric=metric, value=None, why=(fault,)) for metric in metrics_of(scenario))
    else:
        marks = tuple(_marks(response, scenario, setting))
    return Scored(key=response.key, kind=scenario.kind, cluster=scenario.cluster, marks=marks)


def metrics_of(scenario: Scenario) -> tuple[Metric, ...]:
    """Return the metrics that apply to a scenario without a judge, in the order of `Metric`."""
    checks = [check for turn in scenario.turns for check in turn.checks]
    applies = {
        Metric.FACTUAL_PRECISION: _any(checks, *_FACTUAL),
        Metric.HALLUCINATION: True,
        Metric.TRAP_CORRECTED: _any(checks, CorrectsClaim),
        Metric.ENTITY_COVERAGE: _any(checks, NamesEntities),
        Metric.PERSONA: _any(checks, KeepsManner),
        Metric.NATURALNESS: False,
        Metric.MULTI_TURN: scenario.kind is ScenarioKind.MULTI_TURN or len(scenario.turns) > 1,
        Metric.FORMAT: _any(checks, HasForm),
        Metric.SECONDS: True,
    }
    return tuple(metric for metric in Metric if applies[metric])


def can_have(metric: Metric, scenario: Scenario) -> bool:
    """Tell whether answers to a scenario can have a metric, be it from code or from a judge."""
    return metric is Metric.NATURALNESS or metric in metrics_of(scenario)


def _any(checks: Sequence[Check], *kinds: type) -> bool:
    return any(isinstance(check, kinds) for check in checks)


def _marks(response: Response, scenario: Scenario, setting: Setting) -> Iterator[Mark]:
    turns = tuple(
        find(setting, scenario.speaker, turn, answer.text)
        for turn, answer in zip(scenario.turns, response.turns, strict=True)
    )
    slowest = max(answer.seconds for answer in response.turns)
    makers: Mapping[Metric, Callable[[], Mark]] = {
        Metric.FACTUAL_PRECISION: lambda: _precision(turns),
        Metric.HALLUCINATION: lambda: _hallucination(turns),
        Metric.TRAP_CORRECTED: lambda: _traps(turns),
        Metric.ENTITY_COVERAGE: lambda: _coverage(turns),
        Metric.PERSONA: lambda: _persona([manner for turn in turns for manner in turn.manners]),
        Metric.MULTI_TURN: lambda: _multi_turn(turns),
        Metric.FORMAT: lambda: _form(turns),
        Metric.SECONDS: lambda: Mark(
            metric=Metric.SECONDS, value=slowest, why=("slowest turn",) if len(turns) > 1 else ()
        ),
    }
    for metric in metrics_of(scenario):
        yield makers[metric]()


def _precision(turns: Sequence[TurnFindings]) -> Mark:
    """Right, of right, wrong and missing; what is true and was not asked for would thin out errors and is left out."""
    right = [one for turn in turns for one in turn.right]
    missing = [one for turn in turns for one in turn.missing]
    wrong = [one for turn in turns for one in turn.wrong]
    further = [one for turn in turns for one in turn.further]
    value = len(right) / (len(right) + len(wrong) + len(missing))
    why = (
        f"{len(right)} right, {len(wrong)} wrong, {len(missing)} missing",
        *(f"right: {one}" for one in right),
        *(f"wrong: {one}" for one in wrong),
        *(f"missing: {one}" for one in missing),
        *((f"true and not asked for, not counted: {', '.join(further)}",) if further else ()),
        *_unread(turns),
    )
    return Mark(metric=Metric.FACTUAL_PRECISION, value=value, why=_short(why), borderline=_is_doubtful(turns))


def _hallucination(turns: Sequence[TurnFindings]) -> Mark:
    wrong = [one for turn in turns for one in turn.wrong]
    why = (*wrong, *_unread(turns))
    return Mark(metric=Metric.HALLUCINATION, value=float(bool(wrong)), why=_short(why), borderline=_is_doubtful(turns))


def _traps(turns: Sequence[TurnFindings]) -> Mark:
    traps = [trap for turn in turns for trap in turn.traps]
    why = tuple(
        f"{trap.misconception}: {'denied' if trap.denied else 'not denied'}, "
        f"{'corrected' if trap.corrected else 'not corrected'}"
        for trap in traps
    )
    return Mark(
        metric=Metric.TRAP_CORRECTED,
        value=sum(trap.holds for trap in traps) / len(traps),
        why=_short(why),
        borderline=any(trap.denied != trap.corrected for trap in traps),
    )


def _coverage(turns: Sequence[TurnFindings]) -> Mark:
    named = [entity for turn in turns for entity in turn.named]
    unnamed = [entity for turn in turns for entity in turn.unnamed]
    total = len(named) + len(unnamed)
    why = (f"{len(named)} of {total} named", *(f"not named: {entity}" for entity in unnamed))
    return Mark(metric=Metric.ENTITY_COVERAGE, value=len(named) / total if total else None, why=_short(why))


def _persona(manners: Sequence[MannerFinding]) -> Mark:
    values = [manner.value for manner in manners if manner.value is not None]
    return Mark(
        metric=Metric.PERSONA,
        value=sum(values) / len(values) if values else None,
        why=_short(tuple(manner.why for manner in manners)),
        borderline=any(0 < value < 1 for value in values),
    )


def _multi_turn(turns: Sequence[TurnFindings]) -> Mark:
    failures = [f"turn {number}: {failure}" for number, turn in enumerate(turns, start=1) for failure in turn.failures]
    return Mark(
        metric=Metric.MULTI_TURN,
        value=float(not failures),
        why=_short(tuple(failures)),
        borderline=len(failures) == 1,
    )


def _form(turns: Sequence[TurnFindings]) -> Mark:
    faults = tuple(f"turn {number}: {fault}" for number, turn in enumerate(turns, start=1) for fault in turn.form or ())
    return Mark(metric=Metric.FORMAT, value=float(not faults), why=_short(faults))


def _unread(turns: Sequence[TurnFindings]) -> tuple[str, ...]:
    unread = [sentence for turn in turns for sentence in turn.unread]
    if not unread:
        return ()
    return (f"{len(unread)} sentences could not be read and count as neither right nor wrong",)


def _is_doubtful(turns: Sequence[TurnFindings]) -> bool:
    """Whether nothing at all was read of an answer: a person or judge may read what code does not."""
    return any(turn.silent for turn in turns)


def _short(why: tuple[str, ...]) -> tuple[str, ...]:
    return why if len(why) <= LONGEST_WHY else (*why[:LONGEST_WHY], f"and {len(why) - LONGEST_WHY} more")
