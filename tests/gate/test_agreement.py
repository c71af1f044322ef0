"""Agreement of raters, against published examples."""

import pytest

from unmask.gate.agreement import (
    Level,
    agreement_of,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    observed_agreement,
)
from unmask.stats import Interval, NotEnoughData

FLEISS = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip
"""Ten items, fourteen raters, counts of five categories; kappa is 0.210."""
_: int | None = None
KRIPPENDORFF = tuple(zip(
    (1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3),
    (_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _),
    strict=True,
))  # fmt: skip
"""Example C of "Computing Krippendorff's Alpha-Reliability" (2011): nominal 0.743, ordinal 0.815; AC1 is 0.775."""


def fleiss_ratings() -> list[list[int]]:
    """Return a rating for each count."""
    return [[category for category, count in enumerate(row) for _ in range(count)] for row in FLEISS]


def test_cohen_by_hand() -> None:
    """Agreement 0.7, chance 0.5."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15

    assert cohen_kappa(first, second) == pytest.approx(0.4)


def test_fleiss_example() -> None:
    """The published value."""
    assert fleiss_kappa(fleiss_ratings()) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(("level", "alpha"), [(Level.NOMINAL, 0.743), (Level.ORDINAL, 0.815)])
def test_krippendorff_example(level: Level, alpha: float) -> None:
    """The published values, with ratings missing."""
    assert krippendorff_alpha(KRIPPENDORFF, level) == pytest.approx(alpha, abs=5e-4)


def test_gwet_example() -> None:
    """The published value for the same ratings."""
    assert gwet_ac1(KRIPPENDORFF) == pytest.approx(0.775, abs=5e-4)


def test_where_nearly_all_pass_kappa_falls_and_ac1_does_not() -> None:
    """118 of 125 pairs agree, and all that do agree on a pass."""
    first = [1] * 123 + [0] * 2
    second = [1] * 118 + [0] * 5 + [1] * 2

    assert cohen_kappa(first, second) == pytest.approx(-0.0234, abs=5e-5)
    assert gwet_ac1(list(zip(first, second, strict=True))) == pytest.approx(0.9408, abs=5e-5)


def test_all_the_same_has_no_kappa_and_full_ac1() -> None:
    """All answers identical: no chance to be better than, and agreement all the same."""
    same = [[1.0, 1.0, 1.0]] * 20
    found = agreement_of(same, seed=0)

    assert isinstance(cohen_kappa([1] * 20, [1] * 20), NotEnoughData)
    assert isinstance(found.kappa.value, NotEnoughData)
    assert isinstance(found.alpha.value, NotEnoughData)
    assert found.ac1.value == 1.0
    assert isinstance(found.ac1.interval, NotEnoughData)


@pytest.mark.parametrize("ratings", [[], [[1.0], [None]]])
def test_without_pairs_there_is_no_agreement(ratings: list[list[float | None]]) -> None:
    """One rating an item says nothing."""
    for found in (fleiss_kappa(ratings), gwet_ac1(ratings), observed_agreement(ratings)):
        assert isinstance(found, NotEnoughData)


def test_raters_must_have_rated_the_same_items() -> None:
    """A missing rating is a mistake of the caller."""
    with pytest.raises(ValueError, match="a rating of each rater"):
        cohen_kappa([1], [1, 0])


def test_interval_holds_its_estimate_and_is_the_same_for_a_seed() -> None:
    """Items are resampled by a seed."""
    found = agreement_of([[float(one) for one in row] for row in fleiss_ratings()], seed=1)

    assert isinstance(found.kappa.interval, Interval)
    assert found.kappa.interval.low < found.kappa.interval.estimate < found.kappa.interval.high
    assert found == agreement_of([[float(one) for one in row] for row in fleiss_ratings()], seed=1)
    assert found.items == 10


def test_few_items_have_no_interval() -> None:
    """Nine items tell little of others, though the coefficients have values."""
    found = agreement_of([[float(one) for one in row] for row in fleiss_ratings()[:9]], seed=1)

    assert isinstance(found.kappa.value, float)
    assert isinstance(found.kappa.interval, NotEnoughData)


def test_one_item_that_differs_has_no_interval_for_kappa() -> None:
    """A third of the draws would not have it, and their kappas have no value."""
    found = agreement_of([[1.0, 1.0]] * 19 + [[0.0, 1.0]], seed=1)

    assert isinstance(found.kappa.interval, NotEnoughData)
    assert isinstance(found.ac1.interval, Interval)
