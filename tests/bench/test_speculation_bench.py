"""The speculation bench from end to end, and drafts of another model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.small import TOKENIZER, small_model
from unmask.bench import speculation_bench
from unmask.bench.bench import Bench
from unmask.bench.speculation_bench import MODES, TASKS, run_speculation_bench
from unmask.bench.two_models import TwoModelDecoder
from unmask.clock import SystemClock
from unmask.engine.engine import Engine
from unmask.testing.networks import TINY_ADAPTER
from unmask.testing.table_runner import TableRunner

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())
TABLES = st.lists(st.integers(1, 63), min_size=64, max_size=64)


def test_all_is_measured_and_nothing_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every item is a record of both modes; the targets are the speed, and that answers are the same."""
    monkeypatch.setattr(speculation_bench, "QUICK_ITEMS", 1)
    monkeypatch.setattr(speculation_bench, "QUICK_ROUNDS", 1)
    report = run_speculation_bench(BENCH, seed=1, quick=True, progress=lambda _stage, _share: None)
    figures = {figure.name: figure for figure in report.figures}

    assert [entry.name for entry in report.must_reach] == ["speculation_speedup", "different_answers"]
    assert report.must_reach[1].holds
    assert len(report.records) == len(TASKS) * len(MODES)
    assert {"speculation_speedup_batch_16", "nano_drafts.speedup", "dialogue.accepted_per_round"} <= set(figures)
    assert figures["all.answer_tokens"].value >= speculation_bench.FEWEST_TOKENS


@given(TABLES, TABLES, st.integers(1, 40), st.booleans())
def test_two_models_write_what_the_verifier_says(
    following: list[int], other: list[int], max_tokens: int, agree: bool
) -> None:
    """However the drafter speaks; one that says the same makes every round as long as its canvas and one more."""
    drafter, verifier = (Engine(TableRunner(table), TINY_ADAPTER) for table in ([other, following][agree], following))
    decoder = TwoModelDecoder(drafter, verifier, pages=8, length=8, mask=TINY_ADAPTER.mask, end=TINY_ADAPTER.end)
    expected = [following[5]]
    while expected[-1] != TINY_ADAPTER.end and len(expected) < max_tokens:
        expected.append(following[expected[-1]])
    found = decoder.decode((7, 5), max_tokens)

    assert list(found.tokens) == expected
    assert found.rounds <= len(expected)
    assert not agree or found.rounds <= -(-len(expected) // 9) + 1
