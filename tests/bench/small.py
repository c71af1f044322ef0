"""A model so small that a bench takes no time."""

from unmask.engine.network import Shape
from unmask.engine.weights import LoadedModel
from unmask.testing.networks import make_network
from unmask.text.tokenizer import packaged_tokenizer

TOKENIZER = packaged_tokenizer()
SHAPE = Shape(
    vocabulary=TOKENIZER.size,
    width=16,
    layers=2,
    heads=2,
    hidden=32,
    context_length=768,
    canvas_lengths=(8, 16, 32),
)


def small_model() -> LoadedModel:
    """Return a model of random weights: its answers are nonsense, its steps are steps."""
    return LoadedModel(name="tiny", digest="random", network=make_network(SHAPE))
