"""Invented names: pieces, the held-out fifth, and how the packaged tokenizer cuts them."""

from random import Random

import pytest

from unmask.tasks.item import Split
from unmask.tasks.names import CLOSED_PIECES, OPEN_PIECES, PIECES, draw_name, draw_names, is_held_out
from unmask.text.tokenizer import packaged_tokenizer


def is_built_from_pieces(parts: list[str]) -> bool:
    """Tell whether tokens are the pieces of a name, the first one capitalised."""
    return bool(parts) and parts[0].lower() in PIECES and all(part in PIECES for part in parts[1:])


def test_pieces_are_all_different() -> None:
    """No piece stands in both lists."""
    assert len(set(PIECES)) == len(PIECES) == len(OPEN_PIECES) + len(CLOSED_PIECES)


@pytest.mark.parametrize("split", Split)
def test_only_the_test_split_uses_held_out_names(split: Split) -> None:
    """Every name of the test split is held out, none of any other split is."""
    rng = Random(1)
    assert {is_held_out(draw_name(rng, split)) for _ in range(500)} == {split is Split.TEST}


def test_one_name_in_five_is_held_out() -> None:
    """The hash keeps back a fifth of all names."""
    rng = Random(2)
    n = 5000
    names = ["".join(rng.choices(PIECES, k=3)).capitalize() for _ in range(n)]
    share = sum(map(is_held_out, names)) / n
    assert abs(share - 0.2) < 4.5 * (0.2 * 0.8 / n) ** 0.5


def test_names_of_a_draw_differ() -> None:
    """Asked for many names, no name comes twice, and there are as many as asked."""
    names = draw_names(Random(3), Split.TRAIN, 60)
    assert len(set(names)) == 60
    assert all(name[0].isupper() and name[1:].islower() for name in names)


def test_equal_seeds_draw_equal_names() -> None:
    """Names are a function of the generator's state and the split."""
    assert draw_names(Random(4), Split.TEST, 20) == draw_names(Random(4), Split.TEST, 20)


@pytest.mark.parametrize("split", [Split.TRAIN, Split.TEST])
def test_the_tokenizer_cuts_names_into_their_pieces(split: Split) -> None:
    """At least 99 of 100 names are cut into pieces, so that a name never seen is made of tokens that were."""
    tokenizer = packaged_tokenizer()
    names = draw_names(Random(5), split, 3000)
    cut = [[tokenizer.decode([token]) for token in tokenizer.encode(name)] for name in names]
    assert sum(map(is_built_from_pieces, cut)) >= 0.99 * len(names)


def test_a_name_is_the_same_tokens_wherever_it_stands() -> None:
    """Copying a name is copying tokens: neither what precedes nor what follows changes them."""
    tokenizer = packaged_tokenizer()
    for name in draw_names(Random(6), Split.TEST, 300):
        alone = tokenizer.encode(name)
        for text in (
            f"# {name}\n- home {name}",
            f"{name} ally {name}.",
            f"Is {name}, your ally?",
            f'{{"name":"{name}"}}',
        ):
            tokens = tokenizer.encode(text)
            found = sum(tokens[at : at + len(alone)] == alone for at in range(len(tokens)))
            assert found == text.count(name)
