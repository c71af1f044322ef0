"""A run's scores as they lie in its folder, with the digest of what made them."""

from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.gate.artefacts import RunFolder
from unmask.gate.decide import ScoredRun
from unmask.gate.decide_errors import UndecidableError
from unmask.gate.errors import RunFolderError

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
    """Return a folder's run with its scores.

    Raises:
        UndecidableError: it holds no run, or nothing was scored.
        RunFolderError: it cannot be read or is damaged.
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
    return ScoredRun(binding=binding, scored=scored, scorer=scorer.digest)
