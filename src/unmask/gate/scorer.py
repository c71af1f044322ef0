"""Who scores: code alone, or code and judges; and the digest that tells any two ways of scoring apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from unmask.gate.deterministic import can_have, metrics_of, score_response
from unmask.gate.errors import RunFolderError
from unmask.gate.judges.panel import Question
from unmask.gate.judges.prompt import SYSTEM
from unmask.gate.judges.rubric import Criterion, Rubric, When
from unmask.gate.judges.settings import PanelSettings
from unmask.gate.judges.vote_file import judge_record
from unmask.gate.reading.phrases import Phrases
from unmask.gate.reading.setting import Setting, setting_of
from unmask.gate.response import Response
from unmask.gate.scenario import Scenario, Suite
from unmask.gate.score import Mark, Metric, Scored
from unmask.policy.digest import canonical, content_digest

READING = (
    ("unmask.gate.reading", ("mentions", "normal", "grammar", "clause", "reader", "setting", "tense", "phrases")),
    ("unmask.gate", ("truth", "findings", "manner", "shape", "deterministic")),
    ("unmask.gate.judges", ("prompt", "reply", "panel")),
    ("unmask.tasks", ("dialogue_grammar", "dialogue_phrases")),
)
"""Modules that marks depend on, by package."""


class Scorer:
    """Scores answers to a suite by code; worlds are prepared once a language."""

    def __init__(self, suite: Suite, phrases: Phrases) -> None:
        self.scenarios: Mapping[str, Scenario] = {scenario.id: scenario for scenario in suite.scenarios}
        self._suite = suite
        self._phrases = phrases
        self._settings: dict[tuple[str, str], Setting] = {}

    def setting(self, scenario: Scenario) -> Setting:
        """Return a scenario's world, prepared for its language."""
        name = (scenario.world, scenario.language)
        if name not in self._settings:
            world = self._suite.worlds[scenario.world]
            self._settings[name] = setting_of(world, scenario.language, self._phrases)
        return self._settings[name]

    def scenario(self, response: Response) -> Scenario:
        """Return what an answer is to.

        Raises:
            RunFolderError: the suite has no such scenario.
        """
        found = self.scenarios.get(response.key.scenario)
        if found is None:
            raise RunFolderError(
                f"there is an answer to {response.key.scenario!r}, and suite {self._suite.id} has no such scenario; "
                "name the suite that was asked by --suite"
            )
        return found

    def by_code(self, response: Response) -> Scored:
        """Return the marks of an answer that need no judge."""
        scenario = self.scenario(response)
        return score_response(response, scenario, self.setting(scenario))

    def questions(self, scored: Scored, response: Response, rubric: Rubric) -> tuple[Question, ...]:
        """Return what judges are to be asked about an answer."""
        scenario = self.scenario(response)
        if not _is_whole(response, scenario):
            return ()
        world = self._suite.worlds[scenario.world]
        return tuple(
            Question(criterion=criterion, scenario=scenario, world=world, response=response)
            for criterion in rubric.criteria
            if _is_asked(criterion, scored, scenario)
        )

    def unjudged(self, response: Response, rubric: Rubric) -> tuple[Mark, ...]:
        """Return marks without a value of what only judges mark, for an answer that none can be shown: so it counts."""
        scenario = self.scenario(response)
        if _is_whole(response, scenario):
            return ()
        metrics = {one.metric for one in rubric.criteria if one.when is When.ALWAYS and can_have(one.metric, scenario)}
        why = (response.fault or "there is no answer to every turn",)
        return tuple(Mark(metric=metric, value=None, why=why) for metric in metrics.difference(metrics_of(scenario)))


def _is_whole(response: Response, scenario: Scenario) -> bool:
    return response.fault is None and len(response.turns) == len(scenario.turns)


def _is_asked(criterion: Criterion, scored: Scored, scenario: Scenario) -> bool:
    applies = can_have(criterion.metric, scenario)
    match criterion.when:
        case When.ALWAYS:
            return applies
        case When.UNREAD:
            return applies and any(mark.metric is criterion.metric and mark.borderline for mark in scored.marks)


def with_judged(scored: Scored, judged: Sequence[Mark]) -> Scored:
    """Return marks with those of judges in place of code's; what code said stays in ``why``."""
    by_code = {mark.metric: mark for mark in scored.marks}
    marks = dict(by_code)
    for mark in judged:
        code = by_code.get(mark.metric)
        told = () if code is None else tuple(f"by code: {one}" for one in (_value(code), *code.why))
        marks[mark.metric] = replace(mark, why=(*mark.why, *told))
    return replace(scored, marks=tuple(marks[metric] for metric in Metric if metric in marks))


def _value(mark: Mark) -> str:
    return "no mark" if mark.value is None else f"{mark.value:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerIdentity:
    """What makes marks: equal digests make equal marks of equal answers, judges' votes once given included.

    Attributes:
        parts: digests and names that ``digest`` is of, for people.
    """

    digest: str
    parts: Mapping[str, object]


def identity_of(phrases: Phrases, panel: PanelSettings | None) -> ScorerIdentity:
    """Return what tells a scorer from any other: code, phrases, rubric, judges, and how often they are asked."""
    parts: dict[str, object] = {
        "code": _code_digest(),
        "phrases": content_digest(phrases.text.encode()),
        "judges": [] if panel is None else [judge_record(judge) for judge in panel.judges],
        "votes": 0 if panel is None else panel.votes,
        "rubric": None if panel is None else _rubric_digest(panel.rubric),
    }
    return ScorerIdentity(digest=content_digest(canonical(parts)), parts=parts)


def _rubric_digest(rubric: Rubric) -> str:
    record = [
        {
            "criterion": one.name,
            "metric": one.metric.value,
            "when": one.when.value,
            "question": one.question,
            "scale": {str(number): words for number, words in one.scale.items()},
            "passes": one.passes,
            "margin": one.margin,
        }
        for one in rubric.criteria
    ]
    return content_digest(canonical({"system": SYSTEM, "criteria": record}))


def _code_digest() -> str:
    sources = [
        files(package).joinpath(f"{module}.py").read_bytes() for package, modules in READING for module in modules
    ]
    return content_digest(b"\0".join(sources))
