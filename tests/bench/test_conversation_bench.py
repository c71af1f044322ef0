"""What the bench of conversations says of pages."""

from dataclasses import replace

import pytest

from tests.bench.small import SHAPE, TOKENIZER
from unmask.bench.arms import BASE
from unmask.bench.bench import Bench
from unmask.bench.conversation_bench import run_conversation_bench
from unmask.clock import SystemClock
from unmask.engine.weights import LoadedModel
from unmask.testing.networks import make_network

SHORT = replace(SHAPE, context_length=160)
MODEL = LoadedModel(name="tiny", digest="random", network=make_network(SHORT))


@pytest.mark.bench
def test_longer_conversations_hold_more_and_leave_nothing() -> None:
    """Pages follow from the length; later turns find what was said before; at the end all pages are back."""
    bench = Bench(model=MODEL, tokenizer=TOKENIZER, clock=SystemClock())
    report = run_conversation_bench(bench, seed=1, quick=True, progress=lambda _stage, _share: None)
    figures = {figure.name: figure.value for figure in report.figures}
    pages = [value for name, value in figures.items() if name.endswith("_pages")]

    assert figures["kv_bytes_per_token"] == SHORT.layers * 2 * SHORT.width * 4
    assert pages == sorted(pages)
    assert len(pages) > 1
    assert pages[-1] <= -(-SHORT.context_length // BASE.page_size)
    assert 0 < figures["found_in_prefix_cache_share"] < 1
    assert [entry.holds for entry in report.must_reach] == [True]
    assert len(report.records) == sum(figure.n or 0 for figure in report.figures if figure.name.endswith("_pages"))
