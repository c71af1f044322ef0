"""Recipes by name."""

import pytest

from unmask.errors import ConfigError
from unmask.text.tokenizer import packaged_tokenizer
from unmask.train.batch import COPIES
from unmask.train.recipe import recipe


@pytest.mark.parametrize("name", ["tiny", "nano"])
def test_recipes_fit_the_tokenizer_and_themselves(name: str) -> None:
    """Vocabulary, heads and canvas lengths agree with each other."""
    chosen = recipe(name, 3)
    assert chosen.name == name
    assert chosen.label == f"{name} with seed 3"
    assert chosen.shape.vocabulary == packaged_tokenizer().size
    assert chosen.shape.heads * chosen.shape.head_width == chosen.shape.width
    assert chosen.shape.canvas_lengths == chosen.feed.canvas_lengths == tuple(COPIES)
    assert sum(chosen.feed.canvas_weights) == pytest.approx(1.0)


def test_nano_is_the_smaller_one() -> None:
    """The second model exists to be smaller."""
    assert recipe("nano", 1).shape.width < recipe("tiny", 1).shape.width


def test_unknown_names_are_a_config_error() -> None:
    """A name that is no recipe's is answered by those that are."""
    with pytest.raises(ConfigError, match=r"'mega'.*tiny, nano") as caught:
        recipe("mega", 1)
    assert caught.value.param == "name"
