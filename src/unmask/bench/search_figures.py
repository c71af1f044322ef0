"""What answers of the search bench come to: quality over steps, and whether a search beats what it has to beat."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unmask.bench.report import Figure, MustReach, Op, measured, target
from unmask.bench.search_arms import ONE, SearchArm
from unmask.bench.search_asking import Answers
from unmask.bench.search_items import DIALOGUE
from unmask.stats import Interval, bootstrap_mean, paired_difference, wilson

Floats = NDArray[np.float64]
WORTH = 0.01
"""Points of quality that make twice the width worth its steps."""
NEAR = 2.0
"""Steps of a baseline, as a multiple of an arm's, beyond which it is no part of what the arm is compared with."""
CLEARLY_BETTER = "tasks_clearly_better_at_equal_steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """A search against the best baseline that takes no more steps.

    Attributes:
        is_clear: whether the whole interval of the difference by item is above 0.
    """

    task: str
    figure: Figure
    is_clear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A baseline, or two of which a dearer one answers a share of the requests, drawn by lot."""

    cheap: str
    dear: str
    share: float

    @property
    def name(self) -> str:
        """Who answers."""
        return f"{self.cheap}, {self.share:.0%} {self.dear}" if self.share else self.cheap

    def of(self, cheap: float, dear: float) -> float:
        """Return what a value comes to on average, from that of either."""
        return (1 - self.share) * cheap + self.share * dear

    def correct(self, answers: Answers) -> Floats:
        """Return how likely each item is answered right."""
        return (1 - self.share) * correct(answers, self.cheap) + self.share * correct(answers, self.dear)

    def steps(self, answers: Answers) -> float:
        """Return the steps it takes on average."""
        return self.of(float(steps(answers, self.cheap).mean()), float(steps(answers, self.dear).mean()))


def correct(answers: Answers, arm: str) -> Floats:
    """Return 1 or 0 by item."""
    return np.array([float(one.correct) for one in answers[arm]])


def steps(answers: Answers, arm: str) -> Floats:
    """Return denoise steps by item."""
    return np.array([float(one.steps) for one in answers[arm]])


def rival_of(answers: Answers, arms: Sequence[SearchArm], arm: str) -> Rival:
    """Return what is right most often of all that baselines can be with no more steps than an arm takes, on average.

    That is a baseline, or one for some requests and a dearer one for the others, so that both together take as many
    steps: a search gains nothing by lying between two of them. It is picked on the answers that are compared, which
    favours it. Where each baseline takes more, it is the one that takes least.
    """
    limit = float(steps(answers, arm).mean())
    taken = {one.name: float(steps(answers, one.name).mean()) for one in arms if one.is_baseline}
    right = {name: float(correct(answers, name).mean()) for name in taken}
    cheap = [Rival(cheap=name, dear=name, share=0.0) for name in taken if taken[name] <= limit]
    if not cheap:
        least = min(taken, key=taken.__getitem__)
        return Rival(cheap=least, dear=least, share=0.0)
    mixed = [
        Rival(cheap=one.cheap, dear=name, share=(limit - taken[one.cheap]) / (taken[name] - taken[one.cheap]))
        for one in cheap
        for name in taken
        if taken[name] > limit
    ]
    return max(
        (*cheap, *mixed),
        key=lambda one: (one.of(right[one.cheap], right[one.dear]), -one.of(taken[one.cheap], taken[one.dear])),
    )


def comparable(answers: Answers, arms: Sequence[SearchArm], arm: SearchArm) -> list[SearchArm]:
    """Return an arm, and the baselines that it may have to beat on other items; see `NEAR`.

    The baseline that takes least is always among them, and one candidate with all its steps.
    """
    taken = {one: float(steps(answers, one.name).mean()) for one in arms if one.is_baseline}
    always = {min(taken, key=taken.__getitem__), whole_of(arms)}
    limit = NEAR * steps(answers, arm.name).mean()
    return [*(one for one in taken if one in always or taken[one] <= limit), arm]


def best_arm(answers: Answers, arms: Sequence[SearchArm]) -> SearchArm:
    """Return the search that leads its rival by most; of several alike the one with the fewest steps."""
    searches = [arm for arm in arms if not arm.is_baseline]

    def lead(arm: SearchArm) -> tuple[float, float]:
        rival = rival_of(answers, arms, arm.name)
        ahead = correct(answers, arm.name).mean() - rival.correct(answers).mean()
        return float(ahead), -float(steps(answers, arm.name).mean())

    return max(searches, key=lead)


def gain_of(task: str, answers: Answers, arms: Sequence[SearchArm], arm: SearchArm, seed: int) -> Gain:
    """Compare an arm, chosen on other items, with its rival."""
    rival = rival_of(answers, arms, arm.name)
    ours, theirs = correct(answers, arm.name), rival.correct(answers)
    result = paired_difference(ours, theirs, seed, bounds=(-1.0, 1.0))
    spent = f"{steps(answers, arm.name).mean():.1f} steps against {rival.steps(answers):.1f}"
    figure = measured(
        f"{task}.gain_at_equal_steps",
        result,
        fallback=float((ours - theirs).mean()),
        n=len(ours),
        note=f"{arm.name} against {rival.name}, {spent}",
    )
    return Gain(task=task, figure=figure, is_clear=isinstance(result, Interval) and result.low > 0)


def whole_of(arms: Sequence[SearchArm]) -> SearchArm:
    """Return one candidate with all its steps."""
    return max((arm for arm in arms if arm.family.startswith(f"{ONE}@")), key=lambda arm: arm.steps)


def over_one(task: str, answers: Answers, arms: Sequence[SearchArm], arm: SearchArm, seed: int) -> Figure:
    """Return what an arm gains over one candidate with all its steps, whichever takes more."""
    one = whole_of(arms).name
    ours, theirs = correct(answers, arm.name), correct(answers, one)
    return measured(
        f"{task}.gain_over_one",
        paired_difference(ours, theirs, seed, bounds=(-1.0, 1.0)),
        fallback=float((ours - theirs).mean()),
        n=len(ours),
        note=f"{arm.name}, {steps(answers, arm.name).mean():.1f} steps against {steps(answers, one).mean():.1f}",
    )


def clearly_better(gains: Sequence[Gain]) -> tuple[Figure, MustReach]:
    """Return on how many task types the search is clearly better; the target asks for dialogue to be one of them."""
    clear = [gain.task for gain in gains if gain.is_clear]
    counted = len(clear) if DIALOGUE in clear else min(len(clear), 1)
    left_out = "" if counted == len(clear) else f"; without {DIALOGUE} no more than one counts"
    note = f"{', '.join(clear) or 'none'}{left_out}"
    figure = Figure(name=CLEARLY_BETTER, value=counted, n=len(gains), note=note)
    return figure, target(figure, Op.AT_LEAST, 2, sampled=False)


def arm_figures(task: str, answers: Answers, seed: int) -> list[Figure]:
    """Return quality and mean steps of every arm."""
    found: list[Figure] = []
    for name in answers:
        right, taken = correct(answers, name), steps(answers, name)
        quality = wilson(int(right.sum()), len(right))
        found += [
            measured(f"{task}.{name}.quality", quality, fallback=float(right.mean()), n=len(right)),
            measured(
                f"{task}.{name}.mean_steps",
                bootstrap_mean(taken, seed),
                fallback=float(taken.mean()),
                n=len(taken),
                unit="steps",
            ),
        ]
    return found


def width_figures(task: str, answers: Answers, arms: Sequence[SearchArm], seed: int) -> list[Figure]:
    """Return what each doubling of candidates buys, at the most steps of a canvas."""
    most = max(arm.steps for arm in arms)
    chain = [f"one@{most}", *(arm.name for arm in arms if arm.family == f"candidates@{most}")]
    found: list[Figure] = []
    for narrow, wide in pairwise(chain):
        difference = correct(answers, wide) - correct(answers, narrow)
        result = paired_difference(correct(answers, wide), correct(answers, narrow), seed, bounds=(-1.0, 1.0))
        name = f"{task}.{wide}.gain_over_{narrow.partition('x')[2] or '1'}"
        found.append(measured(name, result, fallback=float(difference.mean()), n=len(difference)))
    return found


def default_width(by_task: Sequence[Sequence[Figure]], widths: Sequence[int]) -> Figure:
    """Return the width after which another doubling gains less than a point over all task types; see `WORTH`."""
    chosen = 1
    for place, width in enumerate(widths):
        gain = float(np.mean([figures[place].value for figures in by_task]))
        if gain < WORTH:
            break
        chosen = width
    return Figure(
        name="default_width", value=chosen, note=f"the last doubling that gains {WORTH:.0%} or more, on average"
    )
