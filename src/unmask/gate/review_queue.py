"""What people should read of a run: what failed or nearly did, and answers that chance picked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from unmask.gate.audit import AuditDraw, audited, drawn
from unmask.gate.bar import REVIEWED, passes
from unmask.gate.response import Response, ResponseKey
from unmask.gate.review_errors import ReviewError
from unmask.gate.score import Mark, Metric, Scored


class Look(StrEnum):
    """Why a mark is in the targeted stratum, what matters most first.

    A failure decides a verdict; a borderline mark may be one by chance; what could not be told counts both ways.
    """

    FAILED = "failed"
    BORDERLINE = "borderline"
    UNSCORED = "unscored"


ALL_TAKEN = 1.0
"""With which probability a mark that is worth a look is in the targeted stratum: every one is."""
_MATTERS = (
    Metric.HALLUCINATION,
    Metric.TRAP_CORRECTED,
    Metric.FACTUAL_PRECISION,
    Metric.MULTI_TURN,
    Metric.ENTITY_COVERAGE,
    Metric.FORMAT,
    Metric.PERSONA,
    Metric.NATURALNESS,
)
"""Something false does more harm than something left out, and that more than manners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One mark of one answer that somebody should judge. One that is in both strata has both of their facts.

    Attributes:
        look: why it is in the targeted stratum; ``None`` where it is not.
        targeted: probability with which it is in that one: 1, or ``None`` where it is not.
        audit: probability with which its answer was drawn into the random stratum; ``None`` where it was not.
    """

    response: Response
    scored: Scored
    mark: Mark
    look: Look | None
    targeted: float | None
    audit: float | None

    @property
    def name(self) -> tuple[ResponseKey, Metric]:
        """What a correction of it names."""
        return self.response.key, self.mark.metric


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """All there is to review of a run, in the order in which it should be.

    Targeted items come first, what matters most at the top, all marks of an answer together; then what only chance
    picked, in the order of the draw.
    """

    items: tuple[ReviewItem, ...]
    draw: AuditDraw | None

    @property
    def audit_items(self) -> tuple[ReviewItem, ...]:
        """The random stratum in the order of the draw."""
        if self.draw is None:
            return ()
        chosen = [item for item in self.items if item.audit is not None]
        keys = {item.response.key for item in chosen}
        place = {key: number for number, key in enumerate(drawn(keys, self.draw.seed, len(keys)))}
        return tuple(sorted(chosen, key=lambda item: place[item.response.key]))


def review_queue(responses: Iterable[Response], scores: Iterable[Scored], draw: AuditDraw | None) -> ReviewQueue:
    """Return what there is to review of a scored run.

    Answers that the infrastructure kept from being given are in neither stratum: there is nothing to read. The same
    goes for `Metric.SECONDS`, which no person can judge better than a clock.

    Raises:
        ReviewError: an answer has no score or a score no answer, or the draw was from other answers.
    """
    answers = {response.key: response for response in responses}
    found = _checked(answers, scores)
    chances = audited(draw, readable(answers.values()))
    items = [
        _item(answers[scored.key], scored, mark, chances.get(scored.key))
        for scored in found
        if answers[scored.key].fault is None
        for mark in scored.marks
        if mark.metric in REVIEWED
    ]
    wanted = [item for item in items if item.look is not None or item.audit is not None]
    return ReviewQueue(items=_ordered(wanted, tuple(chances)), draw=draw)


def readable(responses: Iterable[Response]) -> tuple[ResponseKey, ...]:
    """Return the answers that there are to read: all but those that the infrastructure failed."""
    return tuple(response.key for response in responses if response.fault is None)


def look_of(mark: Mark) -> Look | None:
    """Return why a mark is worth a look whatever chance says, if it is."""
    if mark.value is None:
        return Look.UNSCORED
    if not passes(mark.metric, mark.value):
        return Look.FAILED
    return Look.BORDERLINE if mark.borderline else None


def _item(response: Response, scored: Scored, mark: Mark, audit: float | None) -> ReviewItem:
    look = look_of(mark)
    targeted = None if look is None else ALL_TAKEN
    return ReviewItem(response=response, scored=scored, mark=mark, look=look, targeted=targeted, audit=audit)


def _ordered(items: Sequence[ReviewItem], draw_order: Sequence[ResponseKey]) -> tuple[ReviewItem, ...]:
    """Put answers in order by the mark of theirs that matters most, and keep the marks of an answer together."""
    answers: dict[ResponseKey, list[ReviewItem]] = {}
    for item in items:
        answers.setdefault(item.response.key, []).append(item)
    place = {key: number for number, key in enumerate(draw_order)}

    def rank(of_answer: list[ReviewItem]) -> tuple[int, int, int, ResponseKey]:
        key = of_answer[0].response.key
        return (*min(map(_rank, of_answer)), place.get(key, len(place)), key)

    return tuple(item for of_answer in sorted(answers.values(), key=rank) for item in sorted(of_answer, key=_rank))


def _rank(item: ReviewItem) -> tuple[int, int]:
    looks = tuple(Look)
    if item.look is None:
        return len(looks), 0
    return looks.index(item.look), _MATTERS.index(item.mark.metric)


def _checked(answers: Mapping[ResponseKey, Response], scores: Iterable[Scored]) -> tuple[Scored, ...]:
    found = tuple(scores)
    scored = {one.key for one in found}
    for missing, what in ((scored - set(answers), "a score and no answer"), (set(answers) - scored, "no score")):
        unexplained = sorted(key for key in missing if key not in answers or answers[key].fault is None)
        if unexplained:
            first = unexplained[0]
            raise ReviewError(
                f"{len(unexplained)} answers have {what}, such as {first.scenario} (seed {first.seed}, "
                f"{first.system}): score the run again with `unmask gate score`"
            )
    return found
