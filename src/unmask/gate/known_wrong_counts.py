"""How scoring fared on answers that were made wrong on purpose, as `unmask gate score` leaves it in a run's folder."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from unmask.gate.judge_quality import KnownWrong
from unmask.gate.review_errors import ReviewStoreError
from unmask.gate.score import Metric, Scored

KNOWN_WRONG = "known-wrong.json"
BY_CODE, BY_JUDGES = "code", "judges"


class TextFolder(Protocol):
    """What holds files: `unmask.gate.artefacts.RunFolder`."""

    @property
    def url(self) -> str:
        """Where it is."""
        ...

    def read_text(self, name: str) -> str | None:
        """Return a file, or nothing where there is none."""
        ...


class _Counts(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    caught: int = Field(ge=0)
    of: int = Field(ge=0)


class _Document(RootModel[dict[str, dict[Metric, _Counts]]]):
    """Counts by who marks and by metric."""


def known_wrong_of(folder: TextFolder, scores: Iterable[Scored]) -> Mapping[Metric, KnownWrong]:
    """Return the counts of those who gave a run's marks, by metric; nothing where none were tried.

    A mark with votes is a judge's, another one is of code. Where a metric has both, it has the counts of whichever
    caught the smaller share: nobody knows beforehand which of them will meet a wrong answer.

    Raises:
        ReviewStoreError: the file is damaged.
        RunFolderError: it cannot be read.
    """
    text = folder.read_text(KNOWN_WRONG)
    if text is None:
        return {}
    try:
        counts = _Document.model_validate_json(text).root
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ReviewStoreError(
            f"{folder.url}/{KNOWN_WRONG} is damaged: {place}: {first['msg']}. Score the run again with "
            "`unmask gate score`"
        ) from error
    markers = {(mark.metric, BY_JUDGES if mark.votes else BY_CODE) for one in scores for mark in one.marks}
    found: dict[Metric, KnownWrong] = {}
    for metric, marker in sorted(markers):
        tried = counts.get(marker, {}).get(metric)
        if tried is not None and tried.of:
            known = KnownWrong(caught=tried.caught, of=tried.of)
            found[metric] = min(found.get(metric, known), known, key=lambda one: one.caught / one.of)
    return found
