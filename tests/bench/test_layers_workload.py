"""The workload of the layers bench is what is written down."""

from collections import Counter
from random import Random

import pytest

from tests.bench.small import TOKENIZER, small_model
from unmask.bench.bench import Bench
from unmask.bench.layers_workload import Kind, draw_workload, load_workload_spec, submissions_of
from unmask.bench.reworded import POOLS, reworded
from unmask.clock import SystemClock
from unmask.errors import UnmaskError
from unmask.tasks.item import Split, split_of
from unmask.tasks.registry import all_tasks

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())
SPEC = load_workload_spec()
COUNTED = SPEC.model_copy(
    update={
        "requests": SPEC.requests.model_copy(update={"full": 100}),
        "further": SPEC.further.model_copy(update={"full": 30}),
    }
)


def test_shares_are_as_written() -> None:
    """30 % repeat, half of them in other words; a tenth of the others are the longest; all are of the test split."""
    workload = draw_workload(BENCH, 3, quick=False, spec=COUNTED)
    asks = workload.asks

    assert Counter(ask.kind for ask in asks) == {Kind.FRESH: 70, Kind.REPEATED: 15, Kind.PARAPHRASED: 15}
    lengths = [len(submission.prompt) for submission in submissions_of(BENCH, workload.fresh)]
    assert sum(length >= SPEC.longest.prompt[0] for length in lengths) == 10
    assert max(lengths) <= SPEC.longest.prompt[1]
    assert len({ask.item.digest for ask in workload.fresh}) == len(workload.fresh) == 100
    assert {split_of(ask.item.canonical) for ask in asks} == {Split.TEST}
    for place, ask in enumerate(asks):
        assert (ask.of is None) == (ask.kind is Kind.FRESH)
        if ask.of is not None:
            first = asks[ask.of]
            assert ask.of < place
            assert (first.kind, first.item.digest, first.max_steps) == (Kind.FRESH, ask.item.digest, ask.max_steps)
            assert (first.item.messages == ask.item.messages) == (ask.kind is Kind.REPEATED)


def test_a_seed_has_one_digest() -> None:
    """The same words for the same seed, and a digest that knows them from others."""
    spec = SPEC.model_copy(update={"requests": SPEC.requests.model_copy(update={"quick": 8})})
    found = [draw_workload(BENCH, seed, quick=True, spec=spec) for seed in (1, 1, 2)]

    assert found[0] == found[1]
    assert found[0].digest == found[1].digest != found[2].digest


def test_parts_are_all_that_repeats_nothing() -> None:
    """Each request in one of them; a part without any is refused rather than measured as nothing."""
    workload = draw_workload(BENCH, 3, quick=False, spec=COUNTED)
    parts = [workload.part(number, 4, tuple(all_tasks())) for number in range(4)]

    assert sorted(ask.item.digest for part in parts for ask in part) == sorted(a.item.digest for a in workload.fresh)
    assert {ask.item.task for ask in workload.part(0, 1, ("dialogue",))} == {"dialogue"}
    with pytest.raises(UnmaskError, match="too few requests of dialogue"):
        workload.part(99, 100, ("dialogue",))


@pytest.mark.parametrize("task", sorted(POOLS))
def test_other_words_ask_for_the_same(task: str) -> None:
    """What a verifier reads from the request has not changed, so that it still passes the answer."""
    rng = Random(0)
    words = 0
    for _ in range(12):
        item = all_tasks()[task].generate(rng, Split.TEST)
        other = reworded(rng, item)
        if other is not None:
            words += 1
            assert other.messages != item.messages
            assert (other.answer, other.canonical) == (item.answer, item.canonical)
            assert all_tasks()[task].verify(other.messages, item.answer).passed
    assert words >= 3
