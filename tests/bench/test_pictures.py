"""Pictures: each bench has one, and it shows something."""

import re
from pathlib import Path

import pytest

from unmask.bench.pictures import save_picture
from unmask.bench.report import BenchReport, Figure
from unmask.types import Precision

_GATEWAY = (("latency_p50_ms", 0.298, "ms"), ("requests_per_s", 8153.4, "1/s"))


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


def test_a_unit_is_said_once_and_thousands_in_digits(tmp_path: Path) -> None:
    """Neither ``ms ms`` nor ``8.15e+03``."""
    fast, slow = (Figure(name=f"bare.{what}", value=value, unit=unit) for what, value, unit in _GATEWAY)
    save_picture(report("gateway", fast, slow), tmp_path / "gateway.svg")
    # Glyphs are drawn as paths, each text with a comment that says it.
    said = set(re.findall("<!-- (.*) -->", (tmp_path / "gateway.svg").read_text(encoding="utf-8")))
    assert {"latency p50, ms", "0.298", "requests per s", "8,153"} <= said


def test_a_bench_without_a_picture_is_named(tmp_path: Path) -> None:
    """Empty axes would be taken for a result."""
    with pytest.raises(ValueError, match="nobody has said how the picture of news is drawn"):
        save_picture(report("news"), tmp_path / "news.png")
