"""An answer as far as it has been denoised: canvases whose tokens know which step fixed them, and how surely."""

import codecs
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean

from unmask.backend import Generation, Request
from unmask.search.score import Score, verdict_of
from unmask.types import Draft, DraftCheck, ExitReason, FinishReason, StepTrace, Verification

_Utf8 = codecs.getincrementaldecoder("utf-8")
LEAST_PROBABILITY = 1e-9
"""What a probability of less is taken for: its logarithm has to be finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A token, its log-probability at the step that fixed it, and the number of that step along its path."""

    token: int
    logprob: float
    step: int


Canvas = tuple[Placed | None, ...]
"""What stands at each position; nothing where it is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The canvases of an answer, of which the last may be open, and what the answer would be if it ended here.

    Attributes:
        canvases: from the first on; all but the last are full.
        steps: denoise steps of everything along the path, those whose tokens were taken back included.
        taken: steps of the open canvas; 0 where none is open.
        ended: whether the answer is whole.
        generation: the latest run; its text is the draft of the answer, with what is open filled by its last step.
        confidence: mean log-probability of the tokens of that draft, in nats; the open ones by the last step.
        last: the same of its last canvas alone.
    """

    canvases: tuple[Canvas, ...] = ()
    steps: int = 0
    taken: int = 0
    ended: bool = False
    generation: Generation | None = None
    confidence: float = 0.0
    last: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether its last canvas has positions to denoise."""
        return bool(self.canvases) and None in self.canvases[-1]

    @property
    def full(self) -> tuple[Canvas, ...]:
        """The canvases that have no open position."""
        return self.canvases[:-1] if self.is_open else self.canvases

    def request(self, request: Request) -> Request:
        """Return a request that goes on where the path is: traced, with nothing that stands being reopened."""
        before = tuple(placed.token for canvas in self.full for placed in canvas if placed is not None)
        canvas = self.canvases[-1] if self.is_open else ()
        kept = frozenset(place for place, placed in enumerate(canvas) if placed is not None)
        draft = Draft(
            tokens=tuple(None if placed is None else placed.token for placed in canvas), frozen=kept, before=before
        )
        return replace(request, trace=True, draft=draft if before or kept else None)

    @property
    def beginning(self) -> str:
        """The text of the tokens that stand from the first on, up to the first open position or half a character."""
        stand = sum(map(len, self.full))
        if self.is_open:
            stand += self.canvases[-1].index(None)
        told = () if self.generation is None else self.generation.logprobs[:stand]
        return _Utf8("replace").decode(b"".join(token.chosen.data for token in told))

    def score(self, check: DraftCheck | None) -> Score:
        """Return the score of its draft: what a verifier says only of a whole one, as a part of a text is no answer."""
        text = "" if self.generation is None else self.generation.text
        verdict = verdict_of(check, text) if self.is_whole else Verification.SKIPPED
        return Score(verdict=verdict, confidence=self.confidence)

    @property
    def is_whole(self) -> bool:
        """Whether its draft is a whole answer, be it final or not."""
        return (self.generation is not None and self.generation.finish_reason is FinishReason.STOP) or self.ended


def extended(path: Path, generation: Generation, *, max_tokens: int, window: int | None) -> Path:
    """Return a path after a run of `Path.request`.

    A run that an exit has stopped ends in a canvas that was filled from its draft. Its trace says what the strategy
    had revealed before that: this stands, and what the exit filled is open again, but for the surest of it. These are
    as many as an even share of it for each step that the canvas had left, among the leftmost of the window: what a
    step of the default strategy reveals. So the step that was spent on looking is not lost.

    Args:
        path: as it was before the run.
        generation: traced.
        max_tokens: most tokens of a whole answer.
        window: of the request's strategy.
    """
    start = path.canvases[-1] if path.is_open else ()
    traced = [list(steps) for _, steps in groupby(generation.trace, key=lambda entry: entry.canvas)]
    done = path.steps
    canvases = list(path.full)
    for number, steps in enumerate(traced):
        canvases.append(placed_by(steps, start if number == 0 else (), done))
        done += len(steps)
    joined = tuple(canvases)
    exited = generation.usage.exit_reason is ExitReason.EARLY_EXIT and bool(traced)
    output = len(generation.tokens)
    ended = not exited and (generation.finish_reason is FinishReason.STOP or output >= max_tokens)
    before = sum(map(len, joined[:-1]))
    found = Path(
        canvases=joined,
        steps=done,
        ended=ended,
        generation=_with_logprobs(generation, path),
        confidence=_mean(joined, 0, output),
        last=_mean(joined, before, output),
    )
    if not exited:
        return found
    last = traced[-1]
    shown = _opened(joined[-1], last, path.steps + sum(map(len, traced[:-1])), output - before, window)
    return replace(found, canvases=(*joined[:-1], shown), taken=path.taken + len(last) if None in shown else 0)


def placed_by(steps: Sequence[StepTrace], start: Canvas, done: int) -> Canvas:
    """Return the canvas that traced steps have ended with.

    Args:
        steps: of one canvas, to its end.
        start: what the canvas began with; empty for masks.
        done: steps along the path before these.
    """
    length = len(steps[0].draft)
    placed: list[Placed | None] = [*start, *(None,) * (length - len(start))][:length]
    for number, entry in enumerate(steps):
        for place, fixed in enumerate(entry.fixed):
            if not fixed:
                placed[place] = None
            elif placed[place] is None:
                placed[place] = Placed(
                    token=entry.draft[place], logprob=_log(entry.confidence[place]), step=done + number
                )
    return tuple(placed)


def taken_back(path: Path, depth: int) -> Path:
    """Return a path without the tokens of the last steps of the canvas that holds its least sure token.

    What is behind a token that is taken back was written upon it, so the canvases after that one go too.

    Args:
        path: whole, and of at least one canvas.
        depth: how many steps; one that has fixed nothing which still stands does not count.
    """
    assert path.generation is not None, "only what was run is taken back"
    output = len(path.generation.tokens)
    flat = [placed for canvas in path.canvases for placed in canvas if placed is not None][:output]
    least = min(range(len(flat)), key=lambda place: flat[place].logprob, default=0)
    number, behind = 0, least
    while behind >= len(path.canvases[number]):
        behind -= len(path.canvases[number])
        number += 1
    canvas = path.canvases[number]
    steps = sorted({placed.step for placed in canvas if placed is not None})
    from_step = steps[-depth] if depth < len(steps) else steps[0]
    kept = tuple(placed if placed is not None and placed.step < from_step else None for placed in canvas)
    return Path(canvases=(*path.canvases[:number], kept), steps=path.steps, generation=path.generation)


def _opened(canvas: Canvas, steps: Sequence[StepTrace], done: int, output: int, window: int | None) -> Canvas:
    """Open what an exit has filled, but for the surest of what may become output."""
    last = steps[-1]
    filled = [
        place for place, placed in enumerate(canvas) if placed is not None and placed.step == done + len(steps) - 1
    ]
    within = [place for place in filled if place < output]
    share = -(-len(within) // max(1, last.max_steps - last.step))
    near = within if window is None else within[: max(window, share)]
    surest = sorted(near, key=lambda place: (-_sure(canvas, place), place))[:share]
    opened = set(filled) - set(surest)
    return tuple(None if place in opened else placed for place, placed in enumerate(canvas))


def _sure(canvas: Canvas, place: int) -> float:
    placed = canvas[place]
    return -math.inf if placed is None else placed.logprob


def _mean(canvases: Sequence[Canvas], start: int, end: int) -> float:
    flat = [placed for canvas in canvases for placed in canvas]
    found = [placed.logprob for placed in flat[start:end] if placed is not None]
    return fmean(found) if found else 0.0


def _log(probability: float) -> float:
    return math.log(max(probability, LEAST_PROBABILITY))


def _with_logprobs(generation: Generation, path: Path) -> Generation:
    """Give the tokens of earlier canvases the log-probabilities that they had there."""
    if path.generation is None or not generation.logprobs:
        return generation
    kept = sum(map(len, path.full))
    return replace(generation, logprobs=path.generation.logprobs[:kept] + generation.logprobs)
