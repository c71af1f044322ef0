"""Learning the tokenizer."""

from itertools import islice
from random import Random

import pytest

from unmask.tasks.item import Split
from unmask.tasks.names import OPEN_PIECES, PIECES, draw_names
from unmask.train.vocabulary import OPEN_REPEATS, VOCABULARY, corpus, learn_tokenizer


def test_name_pieces_come_first_and_often() -> None:
    """The corpus begins with the open pieces, in both cases, often enough to be merged before anything else."""
    first = next(iter(corpus(1)))
    assert first.count(f"{OPEN_PIECES[0]}\n") == first.count(f"{OPEN_PIECES[0].capitalize()}\n") == 100
    block = list(islice(corpus(1), OPEN_REPEATS // 100 + 1))
    assert set(block[:-1]) == {first}
    assert block[-1] != first


@pytest.mark.slow
def test_a_learnt_tokenizer_is_like_the_packaged_one() -> None:
    """Learning gives the size wanted, cuts names into pieces, loses no text, and is repeatable (about 20 seconds)."""
    learnt = learn_tokenizer(1)
    assert learnt.size == VOCABULARY
    names = draw_names(Random(1), Split.TEST, 1000)
    cut = [[learnt.decode([token]).lower() for token in learnt.encode(name)] for name in names]
    assert sum(set(parts) <= set(PIECES) for parts in cut) >= 0.99 * len(names)
    sample = "Kaloren's 12 + 3, 가나 \U0001f600 שלום"
    assert learnt.decode(learnt.encode(sample)) == sample
    assert learn_tokenizer(1).encode(sample) == learnt.encode(sample)
