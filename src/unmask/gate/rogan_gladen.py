"""What a rate would be if the judge that counted it made no mistakes.

Rogan and Gladen (Am. J. Epidemiology 1978) correct a rate by how often its test is right; Lee et al., *How to
correctly report LLM-as-a-judge evaluations* (arXiv 2511.21140), do so for rates by a language model. A judge that lets
0.97 of right answers pass and never errs otherwise shows 0.95 where 0.98 is true, which is more than any sampling
error of a large suite.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

from unmask.stats import NotEnoughData, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """A corrected rate and the interval it lies in.

    Attributes:
        untruncated: the estimate as the formula has it; noise may put it outside of [0, 1], and ``estimate`` is then
            the end of it.
    """

    estimate: float
    low: float
    high: float
    untruncated: float

    @property
    def is_truncated(self) -> bool:
        """Whether the formula's own estimate is no rate."""
        return self.estimate != self.untruncated


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBetterThanChance:
    """The judge lets wrong answers pass as often as right ones, so its rate says nothing, corrected or not."""

    sensitivity: float
    specificity: float


RateResult: TypeAlias = CorrectedRate | NoBetterThanChance | NotEnoughData


def corrected_rate(raw: Share, sensitivity: Share, specificity: Share, confidence: float = 0.95) -> RateResult:
    """Return a rate of passes corrected for a judge's mistakes, all three known from samples of their own.

    The estimate is (raw + specificity - 1) / (sensitivity + specificity - 1). The interval is that of Lang and
    Reiczigel (Preventive Veterinary Medicine, 2014), which Lee et al. use: the delta method on rates that have a few
    successes and failures added, shifted by a bias of its own; it is cut at 0 and 1. Where the sum of the two rates
    cannot be told from 1, the formula divides by what may be nothing, and there is no interval.

    Args:
        raw: share of answers that the judge lets pass.
        sensitivity: share of right answers that it lets pass.
        specificity: share of wrong answers that it fails.
        confidence: of the interval, strictly between 0 and 1.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    informedness = sensitivity.rate + specificity.rate - 1
    if informedness <= 0:
        return NoBetterThanChance(sensitivity=sensitivity.rate, specificity=specificity.rate)
    p, se, sp = _padded(raw, z * z), _padded(sensitivity, 2), _padded(specificity, 2)
    slope = se.rate + sp.rate - 1
    if slope <= z * math.sqrt(_variance(se) + _variance(sp)):
        least = math.floor(min(sensitivity.n, specificity.n))
        return NotEnoughData(n=least, reason=f"{least} labels of a kind cannot tell this judge from chance")
    centre = (p.rate + sp.rate - 1) / slope
    shift = 2 * z * z * (centre * _variance(se) - (1 - centre) * _variance(sp))
    spread = math.sqrt(_variance(p) + centre**2 * _variance(se) + (1 - centre) ** 2 * _variance(sp)) / slope
    untruncated = (raw.rate + specificity.rate - 1) / informedness
    estimate = _cut(untruncated)
    return CorrectedRate(
        estimate=estimate,
        low=min(estimate, _cut(centre + shift - z * spread)),
        high=max(estimate, _cut(centre + shift + z * spread)),
        untruncated=untruncated,
    )


def _padded(share: Share, more: float) -> Share:
    """Add ``more`` units, half of them successes, so that a rate of 0 or 1 has a spread too."""
    return Share(rate=(share.rate * share.n + more / 2) / (share.n + more), n=share.n + more)


def _variance(share: Share) -> float:
    return share.rate * (1 - share.rate) / share.n


def _cut(rate: float) -> float:
    return min(1.0, max(0.0, rate))
