"""The bench of precisions compares each with single precision, item by item."""

from pathlib import Path

import pytest

from tests.bench.small import TOKENIZER, small_model
from unmask.bench.bench import Bench
from unmask.bench.pictures import save_picture
from unmask.bench.precision_bench import PrecisionSizes, run_precision_bench
from unmask.clock import SystemClock

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())
SMALL = PrecisionSizes(rounds=1, batched=2, single=1, quality=8)


@pytest.mark.bench
def test_every_precision_has_its_speed_memory_and_quality(tmp_path: Path) -> None:
    """Those that the widths do not allow are left out; weights that know nothing lose nothing."""
    shares: list[float] = []
    report = run_precision_bench(BENCH, seed=0, quick=True, progress=lambda _, share: shares.append(share), sizes=SMALL)
    figures = {figure.name: figure for figure in report.figures}

    assert {record.arm for record in report.records} == {"float32", "bfloat16", "int8"}
    for name in ("bfloat16", "int8"):
        for batch in ("batch_16", "batch_1"):
            assert figures[f"{name}.{batch}.requests_per_s_vs_float32"].value > 0
        assert figures[f"{name}.kv_bytes_per_token"].value * 2 == figures["float32.kv_bytes_per_token"].value
        assert 0 < figures[f"{name}.memory_saving"].value < 1
        assert figures[f"{name}.quality_vs_float32"].value == 0
        assert any(found.startswith(f"{name}.") and found.count(".") == 2 for found in figures if "quality_vs" in found)
    assert figures["int8.weight_bytes"].value < figures["bfloat16.weight_bytes"].value
    assert figures["float32.quality"].n == len([record for record in report.records if record.arm == "float32"])
    assert shares[-1] == 1.0
    save_picture(report, tmp_path / "precision.png")
    assert (tmp_path / "precision.png").stat().st_size > 10_000
