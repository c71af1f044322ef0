"""A gate's file: the least that an answer's figures must be, each with the business reason for it."""

import json
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from unmask.config.placed_yaml import Placed, read_placed
from unmask.errors import shown
from unmask.gate.decide_errors import GateFileError
from unmask.gate.scenario import ScenarioKind
from unmask.gate.score import Metric
from unmask.policy.digest import canonical, content_digest

EXAMPLE = "example"
"""Stands for the gate that comes with the package, where a file is named."""
LARGEST_FILE = 1 << 20
MOST_UNSCORED = 0.02
SHORTEST_REASON = 10


class Statistic(StrEnum):
    """What is made of many marks.

    ``rate`` is the share of answers without fault: marked 1, or 0 where less is better. ``mean`` is that of the marks.
    Both are taken in each cluster first, so that a cluster counts as one.
    """

    RATE = "rate"
    MEAN = "mean"
    P50 = "p50"
    P95 = "p95"


PERCENTILES = {Statistic.P50: 0.5, Statistic.P95: 0.95}


class Bound(StrEnum):
    """Which side of the threshold passes; the threshold itself does."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One condition.

    Attributes:
        threshold: seconds for a percentile, else in (0, 1).
        reason: of the business, why this threshold and no other.
        kinds: of the scenarios that it is about; empty for all that have the metric.
        most_unscored: largest share of answers without a mark with which anything is decided.
        margin: how much worse than the system it is held against it may be; ``None`` where that decides nothing.
    """

    name: str
    metric: Metric
    statistic: Statistic
    bound: Bound
    threshold: float
    reason: str
    kinds: tuple[ScenarioKind, ...] = ()
    most_unscored: float = MOST_UNSCORED
    margin: float | None = None

    @property
    def words(self) -> str:
        """The condition as people read it, such as ``rate of factual_precision >= 0.95``."""
        sign = ">=" if self.bound is Bound.AT_LEAST else "<="
        return f"{self.statistic} of {self.metric} {sign} {self.threshold:g}"

    @property
    def unit(self) -> str:
        """What counts as one in its interval."""
        return "scenario" if self.statistic in PERCENTILES else "cluster"

    def clears(self, value: float) -> bool:
        """Tell whether a value is on the side that passes."""
        return value >= self.threshold if self.bound is Bound.AT_LEAST else value <= self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Conditions that all have to hold.

    Attributes:
        digest: of all that decides; the words of reasons do not.
    """

    rows: tuple[Row, ...]
    digest: str


class _RowDocument(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    metric: Metric
    statistic: Statistic
    at_least: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    at_most: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=SHORTEST_REASON)]
    kinds: list[ScenarioKind] = Field(default_factory=list)
    most_unscored: Annotated[float, Field(ge=0, lt=1)] = MOST_UNSCORED
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None


class _GateDocument(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    rows: Annotated[list[_RowDocument], Field(min_length=1)]


def read_gate(name: str) -> Gate:
    """Read a gate file, or the example of the package where ``name`` is `EXAMPLE`.

    Raises:
        GateFileError: it cannot be read, or does not fit; names the file, the line, what is allowed and the fix.
    """
    path = Path(str(files("unmask.gate"))) / "gates" / "example.yaml" if name == EXAMPLE else Path(name)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise GateFileError(f"{path} is larger than a gate may be, allowed: up to {LARGEST_FILE} bytes")
        return parse_gate(content.decode("utf-8-sig"), str(path))
    except OSError as error:
        raise GateFileError(f"the gate cannot be read from {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GateFileError(f"{path} is no text in UTF-8, byte {error.start}; save it as UTF-8") from error


def parse_gate(text: str, name: str = "gate") -> Gate:
    """Read a gate from YAML; ``name`` stands in messages.

    Raises:
        GateFileError: as `read_gate`.
    """
    document = read_placed(text)
    if document.faults:
        fault = document.faults[0]
        raise GateFileError(f"{name}:{fault.line}: {fault.message}")
    root = document.root
    if root is None or not isinstance(root.plain, dict):
        raise GateFileError(f"{name}:1: it holds no mapping, allowed: `rows:` with at least one row")
    try:
        parsed = _GateDocument.model_validate_json(json.dumps(root.plain))
    except ValidationError as error:
        raise _misfit(error, root, name) from error
    rows: list[Row] = []
    for number, raw in enumerate(parsed.rows):
        try:
            rows.append(_row(raw, {row.name for row in rows}))
        except GateFileError as error:
            raise GateFileError(f"{name}:{root.line_at(('rows', number))}: {error.message}") from error
    return gate_of(tuple(rows))


def gate_of(rows: tuple[Row, ...]) -> Gate:
    """Return the gate of rows that were read or made."""
    decides = [
        [
            row.name,
            row.metric,
            row.statistic,
            row.bound,
            row.threshold,
            sorted(row.kinds),
            row.most_unscored,
            row.margin,
        ]
        for row in rows
    ]
    return Gate(rows=rows, digest=content_digest(canonical(decides)))


def _row(raw: _RowDocument, names: set[str]) -> Row:
    if raw.name in names:
        raise GateFileError(f"the row {raw.name} is there twice; rename one of them")
    if (raw.at_least is None) == (raw.at_most is None):
        raise GateFileError(f"the row {raw.name} needs one threshold, allowed: either at_least or at_most")
    row = Row(
        name=raw.name,
        metric=raw.metric,
        statistic=raw.statistic,
        bound=Bound.AT_MOST if raw.at_least is None else Bound.AT_LEAST,
        threshold=float(raw.at_most or raw.at_least or 0),
        reason=raw.reason,
        kinds=tuple(raw.kinds),
        most_unscored=raw.most_unscored,
        margin=raw.margin,
    )
    _check(row)
    return row


def _check(row: Row) -> None:
    is_time = row.metric is Metric.SECONDS
    if is_time != (row.statistic in PERCENTILES):
        allowed = "p50 or p95 for seconds, rate or mean for all else"
        raise GateFileError(f"the row {row.name} asks for the {row.statistic} of {row.metric}, allowed: {allowed}")
    less_is_better = is_time or row.metric is Metric.HALLUCINATION
    if less_is_better != (row.bound is Bound.AT_MOST):
        right = Bound.AT_MOST if less_is_better else Bound.AT_LEAST
        better = "less" if less_is_better else "more"
        raise GateFileError(
            f"the row {row.name} has {row.bound}, allowed: {right}, as {better} of {row.metric} is better"
        )
    if not is_time and row.threshold >= 1:
        raise GateFileError(
            f"the row {row.name} has the threshold {row.threshold:g}, allowed: above 0 and below 1, since no number of "
            "answers shows that all there will ever be are right. Lower it to what the business can bear"
        )
    if is_time and row.margin is not None:
        raise GateFileError(f"the row {row.name} has a margin, allowed: for rate and mean. Remove it")


def _misfit(error: ValidationError, root: Placed, name: str) -> GateFileError:
    found = error.errors(include_url=False, include_context=False)[0]
    place, kind = found["loc"], found["type"]
    path = ".".join(map(str, place))
    line = root.line_at(tuple(place))
    return GateFileError(f"{name}:{line}: {_complaint(path, str(place[-1]), kind, found)}", param=path)


def _complaint(path: str, field: str, kind: str, found: Any) -> str:  # noqa: ANN401 - as pydantic hands it out
    if kind == "extra_forbidden":
        known = tuple(_RowDocument.model_fields) if path.startswith("rows.") else tuple(_GateDocument.model_fields)
        close = get_close_matches(field, known, 1)
        meant = f", did you mean {close[0]}?" if close else "."
        return f"{path} is no field{meant} Allowed: {', '.join(known)}. Remove or rename it."
    if field == "reason":
        return f"{path} is missing or too short, allowed: a sentence that says why the business needs this row. Add it."
    if kind == "missing":
        return f"{path} is missing. Add it."
    return f"{path} is {shown(found['input'])}: {found['msg']}. Change it."
