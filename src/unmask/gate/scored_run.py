"""A run's scores as they lie in its folder, with the digest of what made them."""

from dataclasses import replace
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.gate.apply_corrections import apply_corrections
from unmask.gate.artefacts import RESPONSES, RunFolder
from unmask.gate.decide import ScoredRun
from unmask.gate.decide_errors import UndecidableError
from unmask.gate.deterministic import can_have
from unmask.gate.errors import RunFolderError
from unmask.gate.judges.vote_file import VOTES
from unmask.gate.kept import chained
from unmask.gate.response import ResponseKey, SystemLabel
from unmask.gate.review_store import ReviewStore
from unmask.gate.scenario import Suite
from unmask.gate.score import Mark, Metric, Scored
from unmask.gate.standing import standing_of

SCORER = "scorer.json"
FORMAT: Literal["unmask.gate.scorer/1"] = "unmask.gate.scorer/1"


class _Scorer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["unmask.gate.scorer/1"]
    digest: str


def write_scorer(folder: RunFolder, digest: str) -> None:
    """Keep what made a folder's scores: the digest of checks, rubrics, judges and what they were asked."""
    folder.write_text(SCORER, orjson.dumps({"format": FORMAT, "digest": digest}).decode() + "\n")


def read_scored_run(folder: RunFolder) -> ScoredRun:
    """Return a folder's run with its scores, as far as reviewers let them stand.

    Raises:
        UndecidableError: it holds no run, or nothing was scored.
        RunFolderError: it cannot be read or is damaged.
        ReviewStoreError: what reviewers decided is damaged.
    """
    binding = folder.binding()
    if binding is None:
        raise UndecidableError(f"{folder.url} holds no gate run; make one with unmask gate generate")
    text = folder.read_text(SCORER)
    scored = folder.scores()
    if text is None or not scored:
        raise UndecidableError(f"{folder.url} holds no scores; make them with unmask gate score {folder.url}")
    try:
        scorer = _Scorer.model_validate_json(text)
    except ValidationError as error:
        raise RunFolderError(f"{folder.url}/{SCORER} is not what was written; score the run again") from error
    corrected = _corrected(folder, scored)
    return ScoredRun(
        binding=binding,
        scored=corrected,
        scorer=scorer.digest,
        corrected=sum(
            mark not in before.marks for before, after in zip(scored, corrected, strict=True) for mark in after.marks
        ),
        answers=chained(folder.lines(RESPONSES)),
        votes=chained(folder.lines(VOTES)),
    )


def _corrected(folder: RunFolder, scored: tuple[Scored, ...]) -> tuple[Scored, ...]:
    corrections = ReviewStore(folder).corrections()
    return apply_corrections(scored, standing_of(corrections, folder.responses())) if corrections else scored


def with_unasked(run: ScoredRun, suite: Suite) -> ScoredRun:
    """Return a run in which scenarios of its suite that were never asked are there, without marks.

    Who stops a run while it looks good has chosen its scenarios; so those left out count as unscored, in the metrics
    that they would have.

    Raises:
        UndecidableError: the suite is another than the run's.
    """
    if suite.digest != run.binding.suite:
        raise UndecidableError(
            f"run {run.binding.run} is of suite {run.binding.suite[:12]} and {suite.id} is {suite.digest[:12]}; name "
            "the suite as it was asked"
        )
    seen = {mark.metric for item in run.scored for mark in item.marks}
    unasked = tuple(
        Scored(
            key=ResponseKey(scenario=scenario.id, seed=run.binding.seeds[0], system=SystemLabel.MODEL),
            kind=scenario.kind,
            cluster=scenario.cluster,
            marks=tuple(
                Mark(metric=metric, value=None, why=("never asked",))
                for metric in Metric
                if can_have(metric, scenario) and (metric is not Metric.NATURALNESS or metric in seen)
            ),
        )
        for scenario in suite.scenarios
        if scenario.id not in run.scenarios
    )
    return replace(run, scored=run.scored + unasked)
