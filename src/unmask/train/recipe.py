"""Sizes and training recipes of the embedded models."""

from dataclasses import dataclass

from unmask.engine.network import Shape
from unmask.errors import ConfigError
from unmask.train.feed import FeedPlan
from unmask.train.vocabulary import VOCABULARY

CONTEXT_LENGTH = 768
CANVAS_LENGTHS = (8, 16, 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides a training run, its length aside."""

    name: str
    shape: Shape
    feed: FeedPlan
    matrix_rate: float
    vector_rate: float
    rate_warm_up: int
    causal_weight: float
    clip: float

    @property
    def label(self) -> str:
        """Name the recipe and its seed, as checkpoints and messages do."""
        return f"{self.name} with seed {self.feed.seed}"


def _shape(width: int, layers: int, heads: int) -> Shape:
    return Shape(
        vocabulary=VOCABULARY,
        width=width,
        layers=layers,
        heads=heads,
        hidden=4 * width,
        context_length=CONTEXT_LENGTH,
        canvas_lengths=CANVAS_LENGTHS,
    )


def recipe(name: str, seed: int) -> Recipe:
    """Return the recipe of ``tiny`` or ``nano``.

    Raises:
        ConfigError: there is no recipe of that name.
    """
    shapes = {"tiny": _shape(192, 5, 6), "nano": _shape(96, 3, 3)}
    # Copying comes later in the smaller network, and lessons in it have to last until then.
    warm_up = {"tiny": 700, "nano": 1400}
    if name not in shapes:
        raise ConfigError(f"there is no recipe {name!r}; choose one of {', '.join(shapes)}", param="name")
    plan = FeedPlan(
        seed=seed,
        documents=32,
        micro_batch_tokens=6144,
        recall_share=0.06,
        telling_share=0.1,
        admitting_share=0.08,
        warm_up_steps=warm_up[name],
        warm_up_documents=96,
        warm_up_recall=0.5,
        warm_up_repeat=0.3,
    )
    return Recipe(
        name=name,
        shape=shapes[name],
        feed=plan,
        matrix_rate=0.02,
        vector_rate=0.003,
        rate_warm_up=50,
        causal_weight=0.25,
        clip=1.0,
    )
