"""Isotonic regression: the rising curve that is nearest to what was measured."""

import numpy as np
from numpy.typing import NDArray


def isotonic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the non-decreasing rows with the least squared distance from ``values``, ``[..., points]``.

    By the min-max formula (Robertson, Wright and Dykstra, 1988): at each point the
    largest, over where a run of points begins, of the smallest, over where it ends,
    mean of the run. Many curves are fitted at once; equal weights, as every budget is
    measured on the same items.
    """
    points = values.shape[-1]
    sums = np.concatenate((np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)), axis=-1)
    places = np.arange(points)
    lengths = np.maximum(places[None, :] - places[:, None] + 1, 1)
    # means[..., i, j] of the run from i to j, where there is one.
    means = (sums[..., None, 1:] - sums[..., :-1, None]) / lengths
    means = np.where(places[None, :] >= places[:, None], means, np.inf)
    # least[..., i, k]: the smallest mean of a run that begins at i and reaches k or further.
    least = np.minimum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]
    reached = np.where(places[None, :] >= places[:, None], least, -np.inf)
    fitted = reached.max(axis=-2)
    # Rounding of the sums must not make it fall by a last bit.
    return np.asarray(np.maximum.accumulate(fitted, axis=-1), dtype=np.float64)
