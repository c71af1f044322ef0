"""Batch invariance on the weights that ship: what users get does not depend on who else is served."""

from random import Random

import pytest

from unmask.engine.matrix import can_pack
from unmask.engine.precision import dtype_of
from unmask.engine.weights import load_weights, packaged_models, packaged_weights
from unmask.local.model import serve_model
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.strategy import StrategyName
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.testing.cores import run_all
from unmask.testing.learned import make_choice
from unmask.testing.manual_clock import ManualClock
from unmask.testing.submissions import make_submission
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import Mode, Outcome, Precision, Sampling

TOGETHER = SchedSettings(pages=256, page_size=16, prefill_tokens=64, max_rows=12)
ALONE = SchedSettings(
    pages=64,
    page_size=32,
    max_rows=1,
    chunked_prefill=False,
    prefix_cache=False,
    fused_prefill=False,
    fused_commit=False,
)
EACH = 2
# In bfloat16 the last bit of a product is often enough to change a token; only kernels of its own are that exact.
PRECISIONS = [precision for precision in Precision if precision is Precision.FLOAT32 or can_pack(dtype_of(precision))]
CASES = [
    (name, precision)
    for name in packaged_models()
    for precision in PRECISIONS
    # Weights of whole numbers differ in the products alone, so one model tells.
    if name == "tiny" or precision in {Precision.FLOAT32, Precision.BFLOAT16}
]


def requests(context_length: int) -> list[Submission]:
    """Return a few questions of every task, no two run alike."""
    rng = Random(7)
    tokenizer = packaged_tokenizer()
    found: list[Submission] = []
    for task in all_tasks().values():
        for _ in range(EACH):
            item = task.generate(rng, Split.TRAIN)
            number = len(found)
            mode = Mode.AUTOREGRESSIVE if number % 11 == 10 else Mode.DIFFUSION
            found.append(
                make_submission(
                    tuple(tokenizer.encode_chat(item.messages)),
                    max_tokens=40,
                    canvas_length=(8, 16, 32)[number % 3],
                    context_length=context_length,
                    max_steps=(2, 6, 12)[number // 3 % 3],
                    strategy=make_choice(tuple(StrategyName)[number % len(StrategyName)]),
                    sampling=Sampling(temperature=0.0 if number % 4 else 0.8, seed=number),
                    mode=mode,
                    max_total_steps=40 if mode is Mode.AUTOREGRESSIVE else None,
                )
            )
    return [submission for submission in found if submission.max_length <= context_length]


def essence(sequence: Sequence) -> tuple[object, ...]:
    """Return what a client sees."""
    return sequence.outcome, sequence.output, sequence.text, sequence.steps, sequence.exit_reason


def test_there_are_weights_to_test() -> None:
    """The package ships at least one model; without one nothing can be served."""
    assert packaged_models(), "no weights in the package: train them with `unmask train`"


@pytest.mark.parametrize(("name", "precision"), CASES)
def test_shipped_models_answer_the_same_in_any_batch(name: str, precision: Precision) -> None:
    """Twelve rows together, chunked, cached and fused, draw the tokens that each request draws alone."""
    loaded = load_weights(packaged_weights(name))
    submissions = requests(loaded.network.shape.context_length)
    tokenizer, clock = packaged_tokenizer(), ManualClock()
    together = run_all(serve_model(loaded, tokenizer, TOGETHER, clock, precision=precision).core, submissions)
    core = serve_model(loaded, tokenizer, ALONE, clock, precision=precision).core
    alone = [sequence for submission in submissions for sequence in run_all(core, [submission])]

    assert {sequence.outcome for sequence in together} == {Outcome.COMPLETED}
    assert list(map(essence, together)) == list(map(essence, alone))
