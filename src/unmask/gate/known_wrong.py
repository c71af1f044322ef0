"""Tries a scorer on answers that were made wrong: the run's own right ones, each changed in one thing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from unmask.gate.discrimination import Discrimination, Verdict, discrimination_of
from unmask.gate.judges.panel import Panel, Question
from unmask.gate.judges.rubric import Criterion
from unmask.gate.judges.settings import PanelSettings
from unmask.gate.mutations import Mutated, Mutation, mutate
from unmask.gate.response import Response
from unmask.gate.score import Metric
from unmask.gate.scorer import Scorer

RIGHT = 1.0
"""A mark below this is no right answer to begin with, and a mutated answer that still has it was not caught."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A wrong answer, and the right one that it was made of.

    Attributes:
        mutation: ``None`` for the right one itself.
    """

    metric: Metric
    mutation: Mutation | None
    response: Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a metric fared on answers of known truth, and how many of each mutation it caught, of how many."""

    metric: Metric
    by: str
    discrimination: Discrimination
    caught: Mapping[Mutation, tuple[int, int]]


def trials_of(scorer: Scorer, responses: Sequence[Response], rng: Random, most: int) -> tuple[Trial, ...]:
    """Draw up to ``most`` wrong answers a metric from answers of one turn, each with the right one it was made of.

    Right is what code gives full marks for everything but its manner; where it shows no manner that is taken as is.
    """
    pool = [one for one in responses if one.fault is None and len(one.turns) == 1]
    trials: list[Trial] = []
    left = dict.fromkeys(Metric, most)
    for response in rng.sample(pool, len(pool)):
        for mutated in _mutations(scorer, response, rng):
            if left[mutated.metric] > 0:
                left[mutated.metric] -= 1
                wrong = replace(response, turns=(replace(response.turns[0], text=mutated.text),))
                trials.append(Trial(metric=mutated.metric, mutation=mutated.mutation, response=wrong))
                trials.append(Trial(metric=mutated.metric, mutation=None, response=response))
    return tuple(trials)


def _mutations(scorer: Scorer, response: Response, rng: Random) -> tuple[Mutated, ...]:
    scenario = scorer.scenario(response)
    marks = {mark.metric: mark.value for mark in scorer.by_code(response).marks}
    if len(scenario.turns) != 1 or marks[Metric.HALLUCINATION] or marks.get(Metric.FACTUAL_PRECISION, RIGHT) != RIGHT:
        return ()
    found = mutate(scorer.setting(scenario), scenario.speaker, scenario.turns[0], response.turns[0].text, rng)
    return tuple(one for one in found if marks.get(one.metric, RIGHT) in {None, RIGHT})


def tried_by_code(scorer: Scorer, trials: Sequence[Trial]) -> tuple[Outcome, ...]:
    """Return how the marks of code fare."""

    def value(trial: Trial) -> float | None:
        marks = scorer.by_code(trial.response).marks
        return next((mark.value for mark in marks if mark.metric is trial.metric), None)

    return _outcomes("code", trials, [_passed(value(trial), RIGHT) for trial in trials])


async def tried_by_judges(
    scorer: Scorer, trials: Sequence[Trial], settings: PanelSettings, panel: Panel, progress: Callable[[int, int], None]
) -> tuple[Outcome, ...]:
    """Return how judges fare on the metrics that a criterion is of, asked of every answer whatever its ``when``.

    Raises:
        JudgeError: a judge cannot be asked as it is set up.
    """
    criteria = {criterion.metric: criterion for criterion in settings.rubric.criteria}
    judged = [trial for trial in trials if trial.metric in criteria]
    questions = [_question(scorer, criteria[trial.metric], trial) for trial in judged]
    marks = await panel.marks(questions, progress)
    passed = [_passed(mark.value, criteria[trial.metric].passes) for trial, mark in zip(judged, marks, strict=True)]
    return _outcomes("judges", judged, passed)


def known_wrong_counts(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    """Return how many wrong answers were caught, of how many that were scored, by metric."""
    return {
        outcome.metric.value: {"caught": outcome.discrimination.caught, "of": outcome.discrimination.wrong}
        for outcome in outcomes
    }


def _question(scorer: Scorer, criterion: Criterion, trial: Trial) -> Question:
    scenario = scorer.scenario(trial.response)
    world = scorer.setting(scenario).world
    return Question(criterion=criterion, scenario=scenario, world=world, response=trial.response)


def _passed(value: float | None, bar: float) -> bool | None:
    return None if value is None else value >= bar


def _outcomes(by: str, trials: Sequence[Trial], passed: Sequence[bool | None]) -> tuple[Outcome, ...]:
    pairs = list(zip(trials, passed, strict=True))
    return tuple(
        Outcome(
            metric=metric,
            by=by,
            discrimination=discrimination_of(
                Verdict(is_right=trial.mutation is None, passed=one) for trial, one in pairs if trial.metric is metric
            ),
            caught={
                mutation: (
                    sum(one is False for trial, one in pairs if (trial.metric, trial.mutation) == (metric, mutation)),
                    sum(
                        one is not None for trial, one in pairs if (trial.metric, trial.mutation) == (metric, mutation)
                    ),
                )
                for mutation in Mutation
                if any((trial.metric, trial.mutation) == (metric, mutation) for trial in trials)
            },
        )
        for metric in Metric
        if any(trial.metric is metric for trial in trials)
    )
