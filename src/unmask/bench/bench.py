"""What every measurement of a bench shares."""

from dataclasses import dataclass

from unmask.bench.report import BenchReport, Figure, MustReach, Record
from unmask.clock import Clock
from unmask.engine.weights import LoadedModel
from unmask.text.tokenizer import TextTokenizer
from unmask.types import Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What is measured, and by which clock; ``precision`` is what arms run in where nothing else is said."""

    model: LoadedModel
    tokenizer: TextTokenizer
    clock: Clock
    precision: Precision = Precision.FLOAT32

    def report(
        self,
        name: str,
        *,
        seed: int,
        quick: bool,
        figures: tuple[Figure, ...],
        records: tuple[Record, ...],
        must_reach: tuple[MustReach, ...] = (),
        policy: str | None = None,
        workload: str | None = None,
    ) -> BenchReport:
        """Return what a bench of this found, headed by what was measured."""
        return BenchReport(
            name=name,
            model=self.model.name,
            model_digest=self.model.digest,
            precision=self.precision,
            seed=seed,
            quick=quick,
            figures=figures,
            must_reach=must_reach,
            records=records,
            policy=policy,
            workload=workload,
        )
