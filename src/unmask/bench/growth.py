"""Whether pages leak: the pool's use after many requests against before."""

from unmask.bench.arms import main_arm
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.sequence import Submission
from unmask.types import Message, Role, StepBudget

WAVE = 500


def page_pool_growth(bench: Bench, requests: int) -> int:
    """Return how many more pages are in use after ``requests`` short requests than before them."""
    arm = main_arm(bench)
    pool = arm.core.batcher.pool
    before = pool.used
    shape = bench.model.network.shape
    canvas = min(shape.canvas_lengths)
    for first in range(0, requests, WAVE):
        wave = [
            Submission(
                prompt=tuple(bench.tokenizer.encode_chat((Message(role=Role.USER, content=f"add {number} + 1"),))),
                max_tokens=canvas,
                canvas_length=canvas,
                context_length=shape.context_length,
                budget=StepBudget(max_steps=1, max_total_steps=1),
                tenant=str(number % 7),
            )
            for number in range(first, min(first + WAVE, requests))
        ]
        drive(arm.core, wave, bench.clock)
    return pool.used - before
