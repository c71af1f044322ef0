"""A scored run with all that people said of it: what commands and pages show and decide on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from unmask.gate.apply_corrections import apply_corrections
from unmask.gate.artefacts import RunFolder
from unmask.gate.audit import next_draw
from unmask.gate.correction import Correction, Ruling, corrected
from unmask.gate.response import Binding, Response, ResponseKey, SystemLabel
from unmask.gate.review_errors import ReviewError
from unmask.gate.review_queue import ReviewItem, ReviewQueue, readable, review_queue
from unmask.gate.review_store import ReviewStore
from unmask.gate.score import Mark, Metric, Scored
from unmask.gate.standing import Judged, Standing, standing_of


class Stratum(StrEnum):
    """Why a mark is to be judged: it is worth a look, or chance picked its answer. One may be in both."""

    TARGETED = "targeted"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How many marks of a stratum are judged."""

    judged: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedRun:
    """A run as it is at one moment; `open_reviewed` has it anew."""

    folder: RunFolder
    binding: Binding
    responses: tuple[Response, ...]
    scores: tuple[Scored, ...]
    queue: ReviewQueue
    corrections: tuple[Correction, ...]
    standing: Standing

    @property
    def store(self) -> ReviewStore:
        """Where decisions are added."""
        return ReviewStore(self.folder)

    @property
    def corrected_scores(self) -> tuple[Scored, ...]:
        """The scores with every decision in force put into them."""
        return apply_corrections(self.scores, self.standing)

    @property
    def targeted(self) -> Progress:
        """How far the failed, borderline and unscored marks are judged."""
        return self._progress(self.items(Stratum.TARGETED))

    @property
    def audit(self) -> Progress:
        """How far the marks of the random stratum are judged."""
        return self._progress(self.items(Stratum.AUDIT))

    def refreshed(self) -> "ReviewedRun":
        """Return the same run with the decisions that there are now; answers, scores and draw are not read again."""
        corrections = self.store.corrections()
        return replace(self, corrections=corrections, standing=standing_of(corrections, self.responses))

    def is_judged(self, item: ReviewItem) -> bool:
        """Whether anybody has judged a mark, or has found its scenario at fault, which settles all of its marks."""
        return item.name in self.standing.latest or item.response.key.scenario in self.standing.scenario_errors

    def pending(self, stratum: Stratum | None = None, *, second: str | None = None) -> tuple[ReviewItem, ...]:
        """Return what is still to be judged: by anybody, or by a ``second`` reviewer what others have judged.

        The random stratum alone comes in the order of its draw, so that what is judged is a random sample at any time.
        """
        items = self.items(stratum)
        if second is None:
            return tuple(item for item in items if not self.is_judged(item))
        return tuple(
            item
            for item in items
            if (words := self.standing.of_each.get(item.name)) and second not in {word.who for word in words}
        )

    def items(self, stratum: Stratum | None = None) -> tuple[ReviewItem, ...]:
        """Return all there is to judge, of one stratum or of both."""
        match stratum:
            case None:
                return self.queue.items
            case Stratum.TARGETED:
                return tuple(item for item in self.queue.items if item.look is not None)
            case Stratum.AUDIT:
                return self.queue.audit_items
            case _:
                assert_never(stratum)

    def correction_of(self, name: Judged, ruling: Ruling, *, who: str, when: datetime) -> Correction:
        """Return a decision on any mark of the run, whether it is in the queue or not; adds nothing.

        Raises:
            ReviewError: there is no such mark, or the ruling contradicts itself.
        """
        response, mark = self._found(name)
        return corrected(response, mark, ruling, who=who, when=when.isoformat())

    def _found(self, name: Judged) -> tuple[Response, Mark]:
        key, metric = name
        response = next((one for one in self.responses if one.key == key), None)
        scored = next((one for one in self.scores if one.key == key), None)
        words = f"{key.scenario}:{key.seed}:{key.system}"
        if response is None or scored is None or response.fault is not None:
            raise ReviewError(
                f"{words} is no answer of this run. `unmask gate review RUN --list` names them", param="key"
            )
        mark = next((mark for mark in scored.marks if mark.metric is metric), None)
        if mark is None:
            has = ", ".join(mark.metric for mark in scored.marks) or "none"
            raise ReviewError(f"{words} has no {metric}, allowed: {has}", param="metric")
        return response, mark

    def _progress(self, items: Sequence[ReviewItem]) -> Progress:
        return Progress(judged=sum(map(self.is_judged, items)), of=len(items))


def open_reviewed(url: str) -> ReviewedRun:
    """Read a scored run and what people said of it.

    Raises:
        RunFolderError: the folder cannot be read or is damaged.
        ReviewError: it holds no run, or one that is not scored.
        ReviewStoreError: the decisions are damaged.
    """
    folder = RunFolder(url)
    binding = folder.binding()
    if binding is None:
        raise ReviewError(f"{url} holds no gate run: name the folder that `unmask gate generate` wrote to")
    responses, scores = folder.responses(), folder.scores()
    if not scores:
        raise ReviewError(f"the run in {url} has no scores: run `unmask gate score` first")
    store = ReviewStore(folder)
    corrections = store.corrections()
    return ReviewedRun(
        folder=folder,
        binding=binding,
        responses=responses,
        scores=scores,
        queue=review_queue(responses, scores, store.draw()),
        corrections=corrections,
        standing=standing_of(corrections, responses),
    )


def draw_audit(url: str, n: int, *, seed: int | None, who: str, when: datetime) -> None:
    """Draw the random stratum of a run, or more of it.

    Raises:
        ReviewError: there are not so many answers, fewer are wanted than were drawn, or with another seed.
        ReviewStoreError: it cannot be kept.
    """
    folder = RunFolder(url)
    answers = readable(folder.responses())
    ReviewStore(folder).extend_draw(
        lambda earlier: next_draw(earlier, n=n, of=len(answers), seed=seed, who=who, when=when.isoformat())
    )


def judged_of(text: str) -> Judged:
    """Return the mark that ``SCENARIO:SEED:SYSTEM:METRIC`` names.

    Raises:
        ReviewError: it names none.
    """
    parts = text.rsplit(":", 3)
    metrics, systems = [metric.value for metric in Metric], [label.value for label in SystemLabel]
    if len(parts) != 4 or not parts[1].isdecimal() or parts[2] not in systems or parts[3] not in metrics:
        raise ReviewError(
            f"{text[:80]!r} names no mark, allowed: SCENARIO:SEED:SYSTEM:METRIC, with {' or '.join(systems)} and one "
            f"of {', '.join(metrics)}"
        )
    return ResponseKey(scenario=parts[0], seed=int(parts[1]), system=SystemLabel(parts[2])), Metric(parts[3])
