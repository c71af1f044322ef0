"""What a bench found: figures, targets, and where it was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

import orjson

from unmask.stats import Interval, IntervalResult, NotEnoughData
from unmask.tune.origin import commit, machine
from unmask.types import Precision


class Op(StrEnum):
    """How a bound is compared with its target."""

    AT_LEAST = ">="
    AT_MOST = "<="
    LESS = "<"
    ABOVE = ">"
    EQUAL = "=="


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured value, of ``n`` items; ``low`` and ``high`` are a 95 % interval, absent without sampling error."""

    name: str
    value: float
    unit: str = ""
    low: float | None = None
    high: float | None = None
    n: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MustReach:
    """A target and the unfavourable end of what was measured; no bound means not enough data."""

    name: str
    value: float
    bound: float | None
    op: Op
    target: float

    @property
    def holds(self) -> bool:
        """Whether the bound meets the target."""
        if self.bound is None:
            return False
        match self.op:
            case Op.AT_LEAST:
                return self.bound >= self.target
            case Op.AT_MOST:
                return self.bound <= self.target
            case Op.LESS:
                return self.bound < self.target
            case Op.ABOVE:
                return self.bound > self.target
            case Op.EQUAL:
                return self.bound == self.target
            case _:
                assert_never(self.op)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One item in one arm."""

    item: str
    arm: str
    task: str
    difficulty: str
    steps: int
    seconds: float
    correct: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """Everything a bench prints and keeps; ``policy`` and ``workload`` are digests, where there is one to name."""

    name: str
    model: str
    model_digest: str
    precision: Precision
    seed: int
    quick: bool
    figures: tuple[Figure, ...]
    must_reach: tuple[MustReach, ...]
    records: tuple[Record, ...]
    policy: str | None = None
    workload: str | None = None


def measured(
    name: str, result: IntervalResult, *, fallback: float, unit: str = "", n: int | None = None, note: str = ""
) -> Figure:
    """Return a figure from an interval; without one, the bare value and the reason."""
    match result:
        case Interval():
            return Figure(name=name, value=result.estimate, unit=unit, low=result.low, high=result.high, n=n, note=note)
        case NotEnoughData():
            return Figure(
                name=name, value=fallback, unit=unit, n=n, note=f"{note} no interval: {result.reason}".strip()
            )
        case _:
            assert_never(result)


def target(figure: Figure, op: Op, value: float, *, sampled: bool = True) -> MustReach:
    """Return a target on a figure: judged by its unfavourable end, or by its value if it has no sampling error."""
    match op:
        case Op.AT_LEAST | Op.ABOVE:
            bound = figure.low
        case Op.AT_MOST | Op.LESS:
            bound = figure.high
        case Op.EQUAL:
            bound = figure.value
        case _:
            assert_never(op)
    return MustReach(
        name=figure.name, value=figure.value, bound=bound if sampled else figure.value, op=op, target=value
    )


def to_json(report: BenchReport) -> bytes:
    """Return the report as the JSON object that is printed and kept."""
    return orjson.dumps(
        {
            "bench": report.name,
            "machine": machine(),
            "commit": commit(),
            "model": report.model,
            "model_digest": report.model_digest,
            "precision": report.precision,
            **({} if report.policy is None else {"policy": report.policy}),
            **({} if report.workload is None else {"workload": report.workload}),
            "seed": report.seed,
            "quick": report.quick,
            "figures": [
                {
                    "name": figure.name,
                    "value": figure.value,
                    "unit": figure.unit,
                    "low": figure.low,
                    "high": figure.high,
                    "n": figure.n,
                    "note": figure.note,
                }
                for figure in report.figures
            ],
            "must_reach": [
                {
                    "name": entry.name,
                    "value": entry.value,
                    "bound": entry.bound,
                    "op": entry.op,
                    "target": entry.target,
                    "holds": entry.holds,
                }
                for entry in report.must_reach
            ],
        },
        option=orjson.OPT_INDENT_2,
    )


def record_lines(records: Sequence[Record]) -> bytes:
    """Return one JSON line per item and arm."""
    return b"".join(orjson.dumps(record) + b"\n" for record in records)
