"""How a request is searched: which method, how wide, and what each method needs to know."""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from unmask.backend import HIGHEST_TEMPERATURE, Lever, ModelInfo
from unmask.errors import InvalidRequestError
from unmask.service import MOST_WIDTH, SearchMethod

WARM = 0.7
"""Temperature at which an answer is drawn that is to differ from the likeliest one, unless the request's is higher."""
DRAWS = 4
"""Most draws of one of rollover's canvases, as a multiple of the width: short ones would else go on for long."""
MOST_LOOKS = 64
"""Looks at one canvas that are reckoned with where they are taken every few steps."""
_PATH_LEVERS = (Lever.BUDGET, Lever.DRAFT, Lever.TRACE)


class Children(StrEnum):
    """What becomes of paths by their weights.

    ``resample``: the likely ones have several children, and there are as many paths as before. ``prune``: each path
    that would have a child goes on once, so that the width, and with it the cost, shrinks.
    """

    RESAMPLE = "resample"
    PRUNE = "prune"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreadthPlan:
    """What breadth-first search goes by.

    Attributes:
        every: denoise steps of a canvas between two looks, 2 or more; ``None`` looks where canvases end.
        children: what becomes of paths at a look.
        sharpness: nats of mean log-probability that make one path e times as likely to have a child as another.
    """

    every: int | None = None
    children: Children = Children.RESAMPLE
    sharpness: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthPlan:
    """What depth-first search goes by.

    Attributes:
        back: steps whose tokens are taken back, twice as many each time that nothing better comes of it.
        every: denoise steps of a canvas between two looks whether a run can still pass, or already does; 2 or more.
    """

    back: int = 4
    every: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """A search as it is asked for. Whatever the method, width 1 runs the request once, as without a search.

    Attributes:
        width: candidates; paths of breadth; runs of depth, each after the first a step back; and of rollover
            how many draws of every canvas its quota of steps pays for.
        temperature: at which all but the first are drawn, unless the request's own is higher.
        max_total_steps: most denoise steps of everything that runs; ``None``: ``width`` × the request's own.
        votes: whether a text that several answers share counts for more than one that only one gives.
        drafts: whether an answer's own drafts vote on what it says, which takes no step.
        stops_at_pass: whether candidates behind the first that passes the verifier are dropped.
        threshold: mean log-probability a token, in nats, from which an answer or a canvas is accepted; see
            `unmask.search.calibrate`. ``None``: what passes the verifier is.
        breadth: of breadth.
        depth: of depth.
        weights: of rollover's canvases, in order: a canvas of weight 2 has twice the steps of one of 1. Those
            without a weight have 1.
    """

    method: SearchMethod = SearchMethod.NONE
    width: int = 4
    temperature: float = WARM
    max_total_steps: int | None = None
    votes: bool = True
    drafts: bool = False
    stops_at_pass: bool = False
    threshold: float | None = None
    breadth: BreadthPlan = BreadthPlan()
    depth: DepthPlan = DepthPlan()
    weights: tuple[float, ...] = ()

    @property
    def runs_once(self) -> bool:
        """Whether the request is run once, as without a search."""
        return self.method is SearchMethod.NONE or self.width == 1

    def most_runs(self, canvases: int, steps: int, *, is_looked_at: bool) -> int:
        """Return the most generations that a search of a request takes.

        Args:
            canvases: most canvases of its answer.
            steps: most steps of each.
            is_looked_at: whether runs of depth are, on their way.
        """
        match self.method:
            case SearchMethod.NONE:
                return 1
            case SearchMethod.CANDIDATES:
                return self.width
            case SearchMethod.DEPTH:
                return self.width * (canvases * -(-steps // self.depth.every) + 1 if is_looked_at else 1)
            case SearchMethod.BREADTH:
                # A look every two steps at the very most, and one run that ends what no path has ended.
                looks = 1 if self.breadth.every is None else MOST_LOOKS
                return self.width * canvases * looks + 1
            case SearchMethod.ROLLOVER:
                return DRAWS * self.width * canvases
            case _:
                assert_never(self.method)


def check_plan(plan: SearchPlan, model: ModelInfo, *, has_verifier: bool) -> None:
    """Refuse a search that cannot be run.

    Raises:
        InvalidRequestError: a value is not allowed, or not with this model, or not without a verifier.
    """
    _check_numbers(plan)
    needed: tuple[Lever, ...] = ()
    if plan.method in {SearchMethod.DEPTH, SearchMethod.BREADTH, SearchMethod.ROLLOVER}:
        needed = _PATH_LEVERS
    if plan.method is SearchMethod.BREADTH and plan.breadth.every is not None:
        needed = (*needed, Lever.EXIT)
    if plan.drafts:
        needed = (*needed, Lever.TRACE)
    missing = [lever for lever in needed if lever not in model.levers]
    if missing:
        raise InvalidRequestError(
            "diffusion.search",
            f"{plan.method} with model {model.name}, which has no {missing[0]}",
            f"{SearchMethod.NONE}, {SearchMethod.CANDIDATES} without drafts",
            "Its server takes no such requests.",
        )
    judges = plan.method in {SearchMethod.DEPTH, SearchMethod.ROLLOVER}
    if judges and not has_verifier and plan.threshold is None:
        raise InvalidRequestError(
            "diffusion.search",
            f"{plan.method} with neither verifier nor threshold",
            "a request with a verifier, or a threshold",
            f"Nothing would say what is good enough; {SearchMethod.CANDIDATES} needs neither.",
        )


def _check_numbers(plan: SearchPlan) -> None:
    if not 1 <= plan.width <= MOST_WIDTH:
        raise InvalidRequestError("diffusion.width", plan.width, f"1 to {MOST_WIDTH}", "1 runs the request once.")
    if not 0 <= plan.temperature <= HIGHEST_TEMPERATURE:
        allowed = f"0 to {HIGHEST_TEMPERATURE:g}"
        raise InvalidRequestError("search.temperature", plan.temperature, allowed, "At 0 candidates are alike.")
    if plan.max_total_steps is not None and plan.max_total_steps < 1:
        raise InvalidRequestError(
            "diffusion.max_total_steps", plan.max_total_steps, "1 or more", "It caps the steps of all that runs."
        )
    back, look = plan.depth.back, plan.depth.every
    if back < 1:
        raise InvalidRequestError("search.depth.back", back, "1 or more", "It counts the steps that are taken back.")
    if look < 2:
        raise InvalidRequestError("search.depth.every", look, "2 or more", "It counts the steps between two looks.")
    if plan.threshold is not None and not plan.threshold <= 0:
        raise InvalidRequestError("search.threshold", plan.threshold, "0 or less", "It is a log-probability, in nats.")
    every = plan.breadth.every
    if every is not None and every < 2:
        raise InvalidRequestError(
            "search.breadth.every", every, "2 or more", "Leave it out to look where canvases end."
        )
    if not plan.breadth.sharpness > 0:
        raise InvalidRequestError(
            "search.breadth.sharpness", plan.breadth.sharpness, "above 0", "It is a share of a nat."
        )
    light = [weight for weight in plan.weights if not 0 < weight < float("inf")]
    if light:
        raise InvalidRequestError("search.weights", light[0], "above 0", "A canvas without steps has no text.")
