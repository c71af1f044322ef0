"""The seeds of the choices of one call."""

from hashlib import blake2b

SEED_BYTES = 8
LEAST_SEED = -(1 << (8 * SEED_BYTES - 1))
LARGEST_SEED = (1 << (8 * SEED_BYTES - 1)) - 1


def choice_seeds(seed: int, count: int) -> tuple[int, ...]:
    """Return a seed for each choice: the call's own for the first, so that it is the answer without others.

    The others are the first 8 bytes of BLAKE2b over seed and index, each as 8 bytes,
    big-endian and signed. Neighbouring seeds share no choice that way, which counting
    up would give them.
    """
    return (seed, *(_derived(seed, index) for index in range(1, count)))


def _derived(seed: int, index: int) -> int:
    parts = (number.to_bytes(SEED_BYTES, "big", signed=True) for number in (seed, index))
    digest = blake2b(b"".join(parts), digest_size=SEED_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)
