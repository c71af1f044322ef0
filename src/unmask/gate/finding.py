"""What a review changes: a new scenario, a rubric or a threshold, and which decisions it comes from."""

from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    """What is changed."""

    SCENARIO = "scenario"
    RUBRIC = "rubric"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One change and where it comes from.

    Attributes:
        run: id of the run whose answers were reviewed.
        corrections: ids of the corrections that it comes from.
        to: the file that is changed.
        scenario: id of the scenario that was written, if one was.
        note: what is changed and why.
        when: in UTC, as ISO 8601 writes it.
    """

    kind: FindingKind
    run: str
    corrections: tuple[str, ...]
    to: str
    scenario: str | None
    note: str
    who: str
    when: str
