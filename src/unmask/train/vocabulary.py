"""Learns the tokenizer from the generators' text."""

from collections.abc import Iterator
from random import Random

from unmask.tasks.item import Split
from unmask.tasks.names import CLOSED_PIECES, OPEN_PIECES
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import TextTokenizer

VOCABULARY = 1280
ITEMS_PER_TASK = 3000
# Name pieces are repeated until their merges come before any merge across pieces: every name is then cut into its
# pieces. Open pieces come first, so that "lo" + "re" never becomes "lor" + "e".
OPEN_REPEATS = 60_000
CLOSED_REPEATS = 3_000


def corpus(seed: int) -> Iterator[str]:
    """Yield the text the tokenizer learns from."""
    rng = Random(seed)
    for pieces, repeats in ((OPEN_PIECES, OPEN_REPEATS), (CLOSED_PIECES, CLOSED_REPEATS)):
        for piece in pieces:
            yield from [f"{piece}\n{piece.capitalize()}\n" * 100] * (repeats // 100)
    for task in all_tasks().values():
        for _ in range(ITEMS_PER_TASK):
            item = task.generate(rng, Split.TRAIN)
            yield from (message.content for message in item.messages)
            yield item.answer


def learn_tokenizer(seed: int) -> TextTokenizer:
    """Learn the embedded models' tokenizer."""
    return TextTokenizer.train(corpus(seed), VOCABULARY)
