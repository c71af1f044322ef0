"""The seeds of the choices of one call."""

from unmask.types import SEED_BYTES, Sampling

LEAST_SEED = -(1 << (8 * SEED_BYTES - 1))
LARGEST_SEED = (1 << (8 * SEED_BYTES - 1)) - 1


def choice_seeds(seed: int, count: int) -> tuple[int, ...]:
    """Return a seed for each choice: the call's own for the first, so that it is the answer without others."""
    call = Sampling(seed=seed)
    return (seed, *(call.reseeded(index).seed for index in range(1, count)))
