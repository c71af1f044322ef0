"""Requests of mixed buckets and one canvas each, for benches of batches and queues."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from unmask.backend import Request
from unmask.bench.arriving import Arrival
from unmask.bench.bench import Bench
from unmask.bench.workload import MAX_PROMPT, MIN_PROMPT, mixture_item
from unmask.local.limits import make_submission
from unmask.local.model import model_info
from unmask.sequence import Submission
from unmask.service import ClassTerms
from unmask.tasks.item import Item
from unmask.types import Bucket, StepBudget

STEPS = dict(zip(Bucket, (2, 4, 8, 16, 32), strict=True))
"""What each bucket stands for, in steps of a canvas."""


def bucketed(bench: Bench, seed: int, count: int) -> list[Submission]:
    """Draw requests of the frozen mixture, each with the smallest canvas that holds its answer and any bucket up to it.

    A client knows about how long an answer it wants; a budget beyond one step a position would not be taken.
    """
    rng = Random(seed)
    info = model_info(bench.model, bench.precision)
    found: list[Submission] = []
    while len(found) < count:
        item = mixture_item(rng)
        prompt = bench.tokenizer.encode_chat(item.messages)
        fitting = [length for length in sorted(info.canvas_lengths) if length > _answer_length(bench, item)]
        if not fitting or not MIN_PROMPT <= len(prompt) <= MAX_PROMPT:
            continue
        bucket = rng.choice([bucket for bucket, steps in STEPS.items() if steps <= fitting[0]])
        request = Request(
            model=info.name,
            messages=item.messages,
            max_tokens=fitting[0],
            canvas_length=fitting[0],
            budget=StepBudget(max_steps=STEPS[bucket]),
            bucket=bucket,
        )
        found.append(make_submission(request, info, tuple(prompt)))
    return found


def poisson(
    work: Sequence[Submission], rng: Random, *, rate: float, seconds: float, kind: str, terms: ClassTerms
) -> Iterator[Arrival]:
    """Yield any of the requests at random times, so many a second on average, as a tenant named as their kind."""
    now = rng.expovariate(rate)
    while now < seconds:
        yield Arrival(now, kind, replace(rng.choice(work), terms=terms, tenant=kind))
        now += rng.expovariate(rate)


def _answer_length(bench: Bench, item: Item) -> int:
    return len(bench.tokenizer.encode(item.answer))
