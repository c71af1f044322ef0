"""Scores a run's answers and keeps the marks, with the digest of what made them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from unmask.gate.agreement import Agreement, Level, agreement_of
from unmask.gate.artefacts import RunFolder
from unmask.gate.errors import RunFolderError
from unmask.gate.judges.panel import Panel
from unmask.gate.judges.settings import PanelSettings
from unmask.gate.reading.phrases import Phrases
from unmask.gate.scenario import Suite
from unmask.gate.score import Metric, Scored
from unmask.gate.scored_run import write_scorer
from unmask.gate.scorer import Scorer, ScorerIdentity, identity_of, with_judged

DETAILS = "scoring.json"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswers:
    """A scored run.

    Attributes:
        identity: what scored it.
        agreement: of judges' votes, by metric; none where no judge was asked.
    """

    scored: tuple[Scored, ...]
    identity: ScorerIdentity
    agreement: Mapping[Metric, Agreement]


async def score_run(
    folder: RunFolder,
    suite: Suite,
    phrases: Phrases,
    panel: tuple[PanelSettings, Panel] | None,
    progress: Progress,
) -> ScoredAnswers:
    """Score every answer of a folder and write the marks; answers are never changed.

    Args:
        folder: a run of ``suite``.
        suite: what was asked.
        phrases: what answers are read with.
        panel: judges, if any.
        progress: told how many questions to judges are done, of how many.

    Raises:
        RunFolderError: it holds no run, or one of another suite.
        JudgeError: a judge cannot be asked as it is set up. Votes until then are kept, and marks are not written.
    """
    check_suite(folder, suite)
    responses = folder.responses()
    scorer = Scorer(suite, phrases)
    scored = [scorer.by_code(response) for response in responses]
    if panel is not None:
        settings, judges = panel
        questions = [
            (number, question)
            for number, response in enumerate(responses)
            for question in scorer.questions(scored[number], response, settings.rubric)
        ]
        marks = await judges.marks([question for _, question in questions], progress)
        judged = {n: list(scorer.unjudged(response, settings.rubric)) for n, response in enumerate(responses)}
        for (number, _), mark in zip(questions, marks, strict=True):
            judged[number].append(mark)
        scored = [with_judged(one, judged[number]) for number, one in enumerate(scored)]
    identity = identity_of(phrases, None if panel is None else panel[0])
    answers = ScoredAnswers(scored=tuple(scored), identity=identity, agreement=_agreement(scored))
    _write(folder, answers)
    return answers


def check_suite(folder: RunFolder, suite: Suite) -> None:
    """Make sure that a folder's answers are to a suite.

    Raises:
        RunFolderError: it holds no run, or one of another suite; names both.
    """
    binding = folder.binding()
    if binding is None:
        raise RunFolderError(f"{folder.url} holds no gate run; make one with unmask gate generate")
    if binding.suite != suite.digest:
        raise RunFolderError(
            f"{folder.url} is a run of suite {binding.suite[:12]} and {suite.id} is {suite.digest[:12]}; name the "
            "suite that was asked, as it was then, by --suite"
        )


def _write(folder: RunFolder, answers: ScoredAnswers) -> None:
    details = {"digest": answers.identity.digest, **answers.identity.parts}
    folder.write_text(DETAILS, orjson.dumps(details, option=orjson.OPT_INDENT_2).decode() + "\n")
    folder.write_scores(answers.scored)
    write_scorer(folder, answers.identity.digest)


def _agreement(scored: Sequence[Scored]) -> Mapping[Metric, Agreement]:
    """Return how far votes on the same answers agree, each judge's votes as raters beside the others'."""
    ratings: dict[Metric, list[list[float | None]]] = {}
    for one in scored:
        for mark in one.marks:
            if mark.votes:
                ratings.setdefault(mark.metric, []).append([vote.value for vote in mark.votes])
    return {metric: agreement_of(rows, seed=0, level=Level.ORDINAL) for metric, rows in ratings.items()}
