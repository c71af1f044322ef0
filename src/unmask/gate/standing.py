"""What reviewers' decisions come to: which of them count, and where two people disagree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from unmask.gate.correction import Correction, answer_digest
from unmask.gate.response import Response, ResponseKey
from unmask.gate.score import Metric

Judged = tuple[ResponseKey, Metric]
"""Names one mark of one answer of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A mark on which reviewers are not of one mind: the last word of each, oldest first. The last of all counts."""

    name: Judged
    words: tuple[Correction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Decisions in force.

    Attributes:
        latest: by mark, the decision that counts: the last valid one.
        of_each: by mark, the last valid decision of each reviewer, oldest first.
        scenario_errors: by scenario, the last decision that it is at fault.
        foreign: decisions on answers that the run does not have, or has otherwise; they count for nothing.
    """

    latest: Mapping[Judged, Correction]
    of_each: Mapping[Judged, tuple[Correction, ...]]
    scenario_errors: Mapping[str, Correction]
    foreign: tuple[Correction, ...]

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Where two reviewers let an answer pass and fail, or where one of them blames the scenario."""
        return tuple(
            Disagreement(name=name, words=words)
            for name, words in sorted(self.of_each.items())
            if len({word.passed for word in words}) > 1
        )


def standing_of(corrections: Sequence[Correction], responses: Iterable[Response]) -> Standing:
    """Return what decisions come to, given them oldest first.

    A decision is valid while the answer is the one that was read. It stays so when the answer is scored anew: it is
    of the answer, and says by ``of_score`` which mark was seen.
    """
    read = {correction.key for correction in corrections}
    texts = {response.key: answer_digest(response) for response in responses if response.key in read}
    latest: dict[Judged, Correction] = {}
    of_each: dict[Judged, dict[str, Correction]] = {}
    foreign = []
    for correction in corrections:
        name = correction.key, correction.metric
        if texts.get(correction.key) != correction.of_answer:
            foreign.append(correction)
            continue
        words = of_each.setdefault(name, {})
        # The last word of a reviewer is put last, wherever an earlier one of theirs was.
        words.pop(correction.who, None)
        words[correction.who] = latest[name] = correction
    return Standing(
        latest=latest,
        of_each={name: tuple(words.values()) for name, words in of_each.items()},
        scenario_errors={found.key.scenario: found for found in latest.values() if found.passed is None},
        foreign=tuple(foreign),
    )
