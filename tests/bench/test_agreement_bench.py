"""The bench of approximate caches: equal tokens and answers, and the speed that goes with them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.families.published import Published
from unmask.bench import agreement_bench
from unmask.bench.agreement import equal_share
from unmask.bench.agreement_bench import Compared, run_agreement_bench
from unmask.bench.report import BenchReport, to_json
from unmask.clock import SystemClock
from unmask.engine.families.folder import unheard
from unmask.engine.families.shape import tensor_shapes
from unmask.errors import ConfigError, UnmaskError
from unmask.savings.result import figures_of
from unmask.sched.settings import SchedSettings
from unmask.testing.checkpoints import random_weights, write_checkpoint
from unmask.types import ApproximateCache, ApproximateKv

TOKENS = st.lists(st.integers(0, 3), max_size=6)


def write(folder: Path, family: str, **changes: object) -> Path:
    """Write the random checkpoint of a family."""
    published = Published.read(family)
    described = published.description
    weights = random_weights(tensor_shapes(described.shape, described.names), published.seed)
    write_checkpoint(folder, published.config | changes, weights)
    return folder


def run(folder: Path, refresh: int | None, *, items: int = 2, quick: bool = True) -> BenchReport:
    """Compare a cache with none."""
    approximate = ApproximateKv(cache=ApproximateCache.DUAL, refresh=refresh)
    compared = Compared(path=folder, approximate=approximate, items=items, steps=2)
    return run_agreement_bench(compared, SystemClock(), seed=1, quick=quick, progress=lambda _, __: None, say=unheard)


@given(one=TOKENS, other=TOKENS)
def test_shares_of_equal_tokens(one: list[int], other: list[int]) -> None:
    """From 0 to 1, the same both ways, and 1 of the same tokens alone: what only one has is not equal."""
    share = equal_share(one, other)

    assert 0 <= share <= 1
    assert share == equal_share(other, one)
    assert (share == 1) is (one == other)


def test_a_cache_that_is_always_fresh_agrees(tmp_path: Path) -> None:
    """Tokens and answers are all equal, the intervals have some width, and no token less is run."""
    report = run(write(tmp_path / "llada", "llada"), 1)
    figures = {figure.name: figure for figure in report.figures}

    assert figures["tokens_equal"].value == figures["answers_equal"].value == 1
    assert (figures["tokens_equal"].low or 0) < 1
    assert figures["dual.tokens_per_step"].value == figures["off.tokens_per_step"].value
    assert [record.item for record in report.records[:2]] == [record.item for record in report.records[2:]]


def test_a_cache_that_is_kept_runs_less_and_says_what_it_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten rounds a saving can be kept: how much quicker steps are, with the share of tokens that are others."""
    monkeypatch.setattr(agreement_bench, "SETTINGS", SchedSettings(pages=32, max_rows=1))
    report = run(write(tmp_path / "dream", "dream"), None, items=10, quick=False)
    figures = {figure.name: figure for figure in report.figures}
    (saving,) = figures_of(to_json(report), measured="2026-12-01")

    assert figures["dual.tokens_per_step"].value < figures["off.tokens_per_step"].value
    assert figures["tokens_equal"].value < 1
    assert (saving.saving, saving.items, saving.model_digest) == ("approximate_cache", 10, report.model_digest)
    assert saving.quality.value == pytest.approx(figures["tokens_equal"].value - 1)


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    """A cache that is exact; a context that has no room for an item and its answer."""
    with pytest.raises(ConfigError, match="allowed with sdar: off"):
        run(write(tmp_path / "sdar", "sdar"), 1)
    with pytest.raises(UnmaskError, match="room for only 0 of 1 items"):
        run(write(tmp_path / "llada", "llada", max_sequence_length=130), 1, items=1)
