"""``unmask bench conversation``: what a conversation holds in KV pages as it grows, and what of it is found again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from unmask.bench.arms import BASE, main_arm
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record
from unmask.core.core import Core
from unmask.local.model import page_bytes
from unmask.sequence import Sequence, Submission
from unmask.types import Message, Role, StepBudget
from unmask.work import GROWTH_BOUNDS

CONVERSATIONS, QUICK_CONVERSATIONS = 32, 2
STEPS = 4
"""Of a canvas: pages do not depend on them."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An ended turn of a conversation, with the tokens of its prompt that the prefix cache had."""

    conversation: int
    number: int
    prompt: int
    cached: int
    seconds: float


def run_conversation_bench(bench: Bench, *, seed: int, quick: bool, progress: Progress) -> BenchReport:
    """Let conversations grow until their context is full, one after the other, in one pool."""
    core = main_arm(bench).core
    count = QUICK_CONVERSATIONS if quick else CONVERSATIONS
    turns: list[Turn] = []
    for number in range(count):
        progress("conversations", number / count)
        turns += _turns(bench, core, number, Random(seed * count + number))
    progress("done", 1.0)
    return bench.report(
        "conversation",
        seed=seed,
        quick=quick,
        figures=(*_by_length(bench, core), *_found_again(turns)),
        must_reach=(
            MustReach(
                name="pages_held_at_the_end",
                value=core.batcher.pool.used,
                bound=core.batcher.pool.used,
                op=Op.EQUAL,
                target=0,
            ),
        ),
        records=tuple(
            Record(
                item=f"{turn.conversation}/{turn.number}",
                arm="engine",
                task="conversation",
                difficulty=f"prompt={turn.prompt}, cached={turn.cached}",
                steps=STEPS,
                seconds=turn.seconds,
                correct=None,
            )
            for turn in turns
        ),
    )


def _turns(bench: Bench, core: Core, conversation: int, random: Random) -> Iterator[Turn]:
    """Ask turn after turn, each with all that was said before, until no answer fits any more."""
    shape = bench.model.network.shape
    canvas = max(shape.canvas_lengths)
    said: list[Message] = []
    for number in range(shape.context_length):
        terms = " + ".join(str(random.randint(1, 99)) for _ in range(random.randint(2, 4)))
        said.append(Message(role=Role.USER, content=f"add {terms}"))
        prompt = tuple(bench.tokenizer.encode_chat(tuple(said)))
        if len(prompt) + canvas > shape.context_length:
            return
        submission = Submission(
            prompt=prompt,
            max_tokens=canvas,
            canvas_length=canvas,
            context_length=shape.context_length,
            budget=StepBudget(max_steps=STEPS, max_total_steps=STEPS),
            tenant=str(conversation),
        )
        run = drive(core, [submission], bench.clock)
        (sequence,) = run.sequences
        said.append(Message(role=Role.ASSISTANT, content=_answer(sequence)))
        yield Turn(
            conversation=conversation,
            number=number,
            prompt=len(prompt),
            cached=sequence.cached_tokens,
            seconds=run.seconds,
        )


def _answer(sequence: Sequence) -> str:
    # An answer of no words would end the conversation's growth.
    return sequence.text.strip() or "."


def _by_length(bench: Bench, core: Core) -> Iterator[Figure]:
    """Yield for each band of lengths what the metrics of a server would say of it."""
    size = page_bytes(bench.model.network, BASE.page_size, bench.precision)
    yield Figure(name="kv_bytes_per_token", value=size / BASE.page_size, unit="bytes")
    for bound, band in zip((*GROWTH_BOUNDS, None), core.batcher.made.growth, strict=True):
        if not band.generations:
            continue
        name = f"up_to_{bound}_tokens" if bound else f"above_{GROWTH_BOUNDS[-1]}_tokens"
        pages = band.pages / band.generations
        yield Figure(name=f"{name}_pages", value=pages, unit="pages", n=band.generations)
        yield Figure(name=f"{name}_kv", value=pages * size / 1024, unit="KiB", n=band.generations)
        filled = band.kv_tokens / (band.pages * BASE.page_size)
        yield Figure(name=f"{name}_filled_share", value=filled, n=band.generations, note="of the pages reserved")


def _found_again(turns: list[Turn]) -> Iterator[Figure]:
    """Yield which share of later turns' prompts need not be computed again."""
    later = [turn for turn in turns if turn.number]
    prompts = sum(turn.prompt for turn in later)
    if prompts:
        share = sum(turn.cached for turn in later) / prompts
        yield Figure(name="found_in_prefix_cache_share", value=share, n=len(later), note="of later turns' prompts")
