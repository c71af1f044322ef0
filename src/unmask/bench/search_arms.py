"""The arms of the search bench: one candidate, sequential verified retries, and searches, each at several sizes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from unmask.search.plan import BreadthPlan, SearchPlan
from unmask.service import SearchMethod

ONE, RETRIES, DRAFTS = "one", "retries", "drafts"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSizes:
    """How much is measured.

    Attributes:
        calibrate: items a task type whose answers set the threshold.
        tune: those on which the arm of each task type is chosen.
        test: those that all arms are measured on.
        more: further test items of dialogue, on which the chosen arm and what it has to beat are compared as well; the
            target asks for dialogue, and what is to be shown there is smaller than an interval of the others' items.
        grid: most steps of a canvas, rising; paths are searched at the last only.
        widths: of candidates and depth, rising.
        paths: widths of breadth and rollover, rising; each of theirs takes as many steps as there are candidates.
        retries: widths of retries, rising; those between the others cost nothing, as they share runs.
        every: steps between two looks of a breadth-first search that does not wait for the end of a canvas.
    """

    calibrate: int
    tune: int
    test: int
    more: int
    grid: tuple[int, ...]
    widths: tuple[int, ...]
    paths: tuple[int, ...]
    retries: tuple[int, ...]
    every: int


FULL = SearchSizes(
    calibrate=200,
    tune=100,
    test=300,
    more=600,
    grid=(8, 16, 24, 32),
    widths=(2, 4, 8),
    paths=(2, 4),
    retries=(2, 3, 4, 5, 6, 8),
    every=8,
)
QUICK = SearchSizes(calibrate=2, tune=1, test=2, more=1, grid=(4, 16), widths=(2,), paths=(2,), retries=(2,), every=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArm:
    """A way to answer.

    Attributes:
        plan: of a search; ``None`` for retries, which are drawn one after the other until the verifier passes one.
        width: most generations of retries; of others that of the plan.
    """

    name: str
    steps: int
    width: int
    plan: SearchPlan | None

    @property
    def is_baseline(self) -> bool:
        """Whether it is what a search has to beat."""
        return self.name.split("@")[0] in {ONE, RETRIES}

    @property
    def family(self) -> str:
        """The arms that differ from it in width only."""
        return self.name.partition("x")[0]


def arms_of(sizes: SearchSizes, threshold: float | None) -> tuple[SearchArm, ...]:
    """Return all arms.

    Args:
        sizes: of the run.
        threshold: from which depth and rollover accept.
    """
    return tuple(_arms(sizes, threshold))


def _arms(sizes: SearchSizes, threshold: float | None) -> Iterator[SearchArm]:
    candidates = SearchPlan(method=SearchMethod.CANDIDATES)
    for steps in sizes.grid:
        single = replace(candidates, width=1)
        yield SearchArm(name=f"{ONE}@{steps}", steps=steps, width=1, plan=single)
        yield SearchArm(name=f"{DRAFTS}@{steps}", steps=steps, width=1, plan=replace(single, drafts=True))
        for width in sizes.retries:
            yield SearchArm(name=f"{RETRIES}@{steps}x{width}", steps=steps, width=width, plan=None)
        for width in sizes.widths:
            yield _arm("candidates", steps, replace(candidates, width=width))
    steps = sizes.grid[-1]
    depth = SearchPlan(method=SearchMethod.DEPTH, threshold=threshold)
    rollover = SearchPlan(method=SearchMethod.ROLLOVER, threshold=threshold)
    breadth = SearchPlan(method=SearchMethod.BREADTH)
    for width in sizes.widths:
        yield _arm("depth", steps, replace(depth, width=width))
    for width in sizes.paths:
        yield _arm("breadth", steps, replace(breadth, width=width))
        looking = replace(breadth, width=width, breadth=BreadthPlan(every=sizes.every))
        yield _arm(f"breadth_{sizes.every}", steps, looking)
        yield _arm("rollover", steps, replace(rollover, width=width))


def _arm(name: str, steps: int, plan: SearchPlan) -> SearchArm:
    return SearchArm(name=f"{name}@{steps}x{plan.width}", steps=steps, width=plan.width, plan=plan)
