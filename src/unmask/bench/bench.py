"""What every measurement of a bench shares."""

from dataclasses import dataclass

from unmask.clock import Clock
from unmask.engine.weights import LoadedModel
from unmask.text.tokenizer import TextTokenizer
from unmask.types import Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What is measured, and by which clock; ``precision`` is what arms run in where nothing else is said."""

    model: LoadedModel
    tokenizer: TextTokenizer
    clock: Clock
    precision: Precision = Precision.FLOAT32
