"""Behaviour of `unmask.bench.ledger_bench`."""

from pathlib import Path

import pytest

from tests.bench.small import TOKENIZER, small_model
from unmask.bench import ledger_bench
from unmask.bench.bench import Bench
from unmask.bench.pictures import save_picture
from unmask.bench.report import BenchReport
from unmask.clock import SystemClock

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())


def run(monkeypatch: pytest.MonkeyPatch) -> BenchReport:
    """Run it with as few requests as there can be."""
    monkeypatch.setattr(ledger_bench, "WRITERS", 3)
    monkeypatch.setattr(ledger_bench, "QUICK_REQUESTS", 2)
    monkeypatch.setattr(ledger_bench, "QUICK_ROUNDS", 2)
    return ledger_bench.run_ledger_bench(BENCH, seed=0, quick=True, progress=lambda _, __: None)


def test_without_a_server_files_alone_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Both durabilities, each with rate and waits; and a note says what is missing."""
    monkeypatch.setattr(ledger_bench, "find_spec", lambda _: None)
    report = run(monkeypatch)
    save_picture(report, tmp_path / "ledger.png")
    figures = {figure.name: figure for figure in report.figures}

    assert {name.split(".")[0] for name in figures} == {"sqlite_process", "sqlite_power", "databases"}
    assert figures["sqlite_process.reserve_p99"].n == 12
    assert figures["sqlite_power.rows_per_s"].value > 0
    assert "not installed" in figures["databases"].note
    assert len(report.records) == 12


@pytest.mark.slow
@pytest.mark.bench
def test_both_databases_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real server too."""
    names = {figure.name.split(".")[0] for figure in run(monkeypatch).figures}

    assert names == {"sqlite_process", "sqlite_power", "postgresql_process", "postgresql_power", "databases"}
