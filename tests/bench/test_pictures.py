"""Pictures: each bench has one, and it shows something."""

from pathlib import Path

import pytest

from unmask.bench.pictures import save_picture
from unmask.bench.report import BenchReport, Figure
from unmask.types import Precision


def report(name: str, *figures: Figure) -> BenchReport:
    """Return a bench's report of some figures."""
    return BenchReport(
        name=name,
        model="tiny",
        model_digest="0",
        precision=Precision.FLOAT32,
        seed=0,
        quick=True,
        figures=figures,
        must_reach=(),
        records=(),
    )


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("scale", ("throughput[1]", "throughput[2]", "hit_rate[rule]", "hit_rate[random]")),
        ("conversation", ("up_to_64_tokens_kv", "up_to_64_tokens_filled_share")),
    ],
)
def test_arms_are_drawn(name: str, figures: tuple[str, ...], tmp_path: Path) -> None:
    """By their names, whether they have an interval or not."""
    drawn = [Figure(name=figure, value=1.0, low=0.4, high=2.0) for figure in figures]
    save_picture(report(name, *drawn), tmp_path / "full.png")
    assert (tmp_path / "full.png").stat().st_size > 5_000


def test_a_bench_without_a_picture_is_named(tmp_path: Path) -> None:
    """Empty axes would be taken for a result."""
    with pytest.raises(ValueError, match="nobody has said how the picture of news is drawn"):
        save_picture(report("news"), tmp_path / "news.png")
