"""What answers of the search bench come to: quality over steps, and whether a search beats what it has to beat."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unmask.bench.report import Figure, MustReach, Op, measured, target
from unmask.bench.search_arms import SearchArm
from unmask.bench.search_asking import Answers
from unmask.bench.search_items import DIALOGUE
from unmask.stats import Interval, bootstrap_mean, paired_difference, wilson

Floats = NDArray[np.float64]
WORTH = 0.01
"""Points of quality that make twice the width worth its steps."""
NEAR = 1.5
"""Steps of a baseline on some items, as a multiple of an arm's, that may still be no more than its on others."""
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


def correct(answers: Answers, arm: str) -> Floats:
    """Return 1 or 0 by item."""
    return np.array([float(one.correct) for one in answers[arm]])


def steps(answers: Answers, arm: str) -> Floats:
    """Return denoise steps by item."""
    return np.array([float(one.steps) for one in answers[arm]])


def rival_of(answers: Answers, arms: Sequence[SearchArm], arm: str) -> str:
    """Return the baseline that is right most often among those that take no more steps than an arm, on average.

    It is picked on the answers that are compared, which favours it. Where each takes more, the one that takes least.
    """
    baselines = [one.name for one in arms if one.is_baseline]
    limit = steps(answers, arm).mean()
    cheap = [name for name in baselines if steps(answers, name).mean() <= limit]
    if not cheap:
        return min(baselines, key=lambda name: steps(answers, name).mean())
    return max(cheap, key=lambda name: (correct(answers, name).mean(), -steps(answers, name).mean()))


def comparable(answers: Answers, arms: Sequence[SearchArm], arm: SearchArm) -> list[SearchArm]:
    """Return an arm, and the baselines that may take no more steps than it on other items; see `NEAR`.

    The baseline that takes least is always among them; see `rival_of`.
    """
    limit = NEAR * steps(answers, arm.name).mean()
    least = min((one for one in arms if one.is_baseline), key=lambda one: steps(answers, one.name).mean())
    near = [one for one in arms if one.is_baseline and (one is least or steps(answers, one.name).mean() <= limit)]
    return [*near, arm]


def best_arm(answers: Answers, arms: Sequence[SearchArm]) -> SearchArm:
    """Return the search that leads its rival by most; of several alike the one with the fewest steps."""
    searches = [arm for arm in arms if not arm.is_baseline]

    def lead(arm: SearchArm) -> tuple[float, float]:
        rival = rival_of(answers, arms, arm.name)
        ahead = correct(answers, arm.name).mean() - correct(answers, rival).mean()
        return float(ahead), -float(steps(answers, arm.name).mean())

    return max(searches, key=lead)


def gain_of(task: str, answers: Answers, arms: Sequence[SearchArm], arm: SearchArm, seed: int) -> Gain:
    """Compare an arm, chosen on other items, with its rival."""
    rival = rival_of(answers, arms, arm.name)
    ours, theirs = correct(answers, arm.name), correct(answers, rival)
    result = paired_difference(ours, theirs, seed, bounds=(-1.0, 1.0))
    spent = f"{steps(answers, arm.name).mean():.1f} steps against {steps(answers, rival).mean():.1f}"
    figure = measured(
        f"{task}.gain_at_equal_steps",
        result,
        fallback=float((ours - theirs).mean()),
        n=len(ours),
        note=f"{arm.name} against {rival}, {spent}",
    )
    return Gain(task=task, figure=figure, is_clear=isinstance(result, Interval) and result.low > 0)


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
