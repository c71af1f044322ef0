"""Invented names, built from two to four trained pieces.

One name in five is held out by its hash: only the test split uses those, so a
model that answers with them has learnt to copy, not to recall.
"""

import zlib
from random import Random

from unmask.tasks.item import Split

ONSETS = "bdfgklmnrstvz"
VOWELS = "aeiou"
OPEN_PIECES = tuple(onset + vowel for onset in ONSETS for vowel in VOWELS)
CLOSED_PIECES = (
    "bar", "bel", "bis", "dan", "dor", "dus", "fal", "fen", "gar", "gol", "kel", "kir", "kon", "lan", "lor",
    "lus", "mar", "mel", "mis", "nar", "nim", "nol", "ran", "ris", "rol", "sal", "sen", "sul", "tal", "tan",
    "tor", "tus", "val", "ven", "vor", "zan", "zel", "zir",
)  # fmt: skip
PIECES = OPEN_PIECES + CLOSED_PIECES
PIECE_COUNTS = (2, 3, 4)
PIECE_COUNT_WEIGHTS = (0.65, 0.27, 0.08)
HELD_OUT_MODULUS = 5


def is_held_out(name: str) -> bool:
    """Tell whether a name is kept for the test split."""
    return zlib.crc32(name.encode()) % HELD_OUT_MODULUS == 0


def draw_name(rng: Random, split: Split) -> str:
    """Draw one capitalised name that the split may use."""
    while True:
        count = rng.choices(PIECE_COUNTS, PIECE_COUNT_WEIGHTS)[0]
        name = "".join(rng.choices(PIECES, k=count)).capitalize()
        if is_held_out(name) == (split is Split.TEST):
            return name


def draw_names(rng: Random, split: Split, count: int) -> list[str]:
    """Draw ``count`` different names."""
    names: dict[str, None] = {}
    while len(names) < count:
        names[draw_name(rng, split)] = None
    return list(names)
