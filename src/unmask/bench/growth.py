"""Whether pages leak: the pool's use after many requests against before."""

from unmask.bench.arms import BASE, MAIN, make_arm
from unmask.bench.drive import drive
from unmask.clock import Clock
from unmask.engine.weights import LoadedModel
from unmask.sequence import Submission
from unmask.text.tokenizer import TextTokenizer
from unmask.types import Message, Role, StepBudget

WAVE = 500


def page_pool_growth(model: LoadedModel, tokenizer: TextTokenizer, clock: Clock, requests: int) -> int:
    """Return how many more pages are in use after ``requests`` short requests than before them."""
    arm = make_arm(MAIN, BASE, model, tokenizer, clock)
    pool = arm.core.batcher.pool
    before = pool.used
    shape = model.network.shape
    canvas = min(shape.canvas_lengths)
    for first in range(0, requests, WAVE):
        wave = [
            Submission(
                prompt=tuple(tokenizer.encode_chat((Message(role=Role.USER, content=f"add {number} + 1"),))),
                max_tokens=canvas,
                canvas_length=canvas,
                context_length=shape.context_length,
                budget=StepBudget(max_steps=1, max_total_steps=1),
                tenant=str(number % 7),
            )
            for number in range(first, min(first + WAVE, requests))
        ]
        drive(arm.core, wave, clock)
    return pool.used - before
