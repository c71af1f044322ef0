"""The journal of a row: what was measured, round by round, so that a killed run goes on with what there is."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from unmask.bench.journal import Journal, open_journal
from unmask.bench.layer_row import Round

FORMAT = "unmask.bench.layers/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOf:
    """What all rounds of a journal share: rounds of two machines or versions are not one measurement."""

    row: str
    model_digest: str
    precision: str
    workload: str
    seed: int
    rounds: int
    machine: str
    commit: str | None

    @property
    def file_name(self) -> str:
        """Its name in the folder."""
        return f"{self.row}-{self.model_digest}-{self.precision}-{self.workload[:12]}-{self.seed}-{self.rounds}.jsonl"


def open_row_journal(folder: Path, of: RowOf) -> AbstractContextManager[Journal[Round]]:
    """Open the journal of a row, or begin it; see `unmask.bench.journal.open_journal`."""
    return open_journal(folder / of.file_name, of, Round, FORMAT)
