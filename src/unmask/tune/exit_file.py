"""Tuned exits as a JSON file: what a proposal takes from it, and the evidence for each of its numbers."""

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from unmask.policy.convert import exit_from, raw_exit, raw_strategy, strategy_from
from unmask.policy.digest import canonical_document
from unmask.policy.schema import Digest, Document, ExitDocument, Name, Number, Steps, StrategyDocument
from unmask.stats import Interval, IntervalResult
from unmask.tune.errors import ExitFileError, ExitRunError
from unmask.tune.exit_figures import ExitFigures
from unmask.tune.exits import ExitSearch, TunedExit
from unmask.tune.origin import Origin
from unmask.tune.propose import Extras, TunedStrategy

FORMAT: Literal["unmask.exits/1"] = "unmask.exits/1"
_Count = Annotated[int, Field(ge=0)]
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitSet:
    """Exits of several task types, tuned in one run.

    Attributes:
        finality: digest of the learned part that strategies read, if one was given.
    """

    model: str
    model_digest: str
    canvas_length: int
    finality: str | None
    search: ExitSearch
    origin: Origin
    tasks: tuple[TunedExit, ...]


class OriginDocument(Document):
    """Where and when exits were tuned."""

    machine: str
    commit: str | None = None
    date: str


class EstimateDocument(Document):
    """An estimate with the ends of its interval."""

    estimate: Number
    low: Number
    high: Number


class FiguresDocument(Document):
    """An `ExitFigures`; an interval that there is not enough data for is left out."""

    items: _Count
    mean_steps: Number
    reference_steps: Number
    steps: EstimateDocument | None = None
    saved: EstimateDocument | None = None
    saved_by_exit: EstimateDocument | None = None
    quality: EstimateDocument | None = None
    strategy_quality: EstimateDocument | None = None
    exits: _Count
    misjudged: _Count
    reverse: _Count
    both_wrong: _Count
    lost: _Count
    bound: _Share


class CandidateDocument(Document):
    """A setting that was tried on the tuning split."""

    name: str
    eligible: bool
    figures: FiguresDocument


class TaskExitDocument(Document):
    """What a policy takes for a task type, and why."""

    ceiling: Steps
    strategy: StrategyDocument
    finality: Digest | None = None
    exit: ExitDocument
    candidates: tuple[CandidateDocument, ...]
    chosen: str | None = None
    tested: FiguresDocument | None = None


class ExitSetDocument(Document):
    """The file."""

    format: Literal["unmask.exits/1"]
    model: Name
    model_digest: Digest
    canvas_length: Steps
    seed: int
    tuned_on: Literal["tune"]
    tested_on: Literal["calibrate"]
    items: _Count
    calibrate_items: _Count
    misjudgement_limit: _Share
    quality_limit: _Share
    origin: OriginDocument
    tasks: dict[Name, TaskExitDocument]


def write_exits(path: Path, exits: ExitSet) -> None:
    """Write a set of exits, whole or not at all.

    Raises:
        ExitRunError: it cannot be written.
    """
    partial = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(canonical_document(exit_document(exits)) + b"\n")
        partial.replace(path)
    except OSError as error:
        raise ExitRunError(f"cannot write {str(path)!r}: {error.strerror or error}; free some space") from error


def read_exits(path: Path, *, model: str, model_digest: str) -> Extras:
    """Return what a proposal for a model takes from a file.

    Raises:
        ExitFileError: it cannot be read, is damaged, or is of other weights.
    """
    try:
        document = ExitSetDocument.model_validate_json(path.read_bytes())
    except OSError as error:
        reason = f"{error.strerror or error}; `unmask tune exit` makes it"
        raise ExitFileError(f"cannot read {str(path)!r}: {reason}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ExitFileError(f"{str(path)!r} is no file of exits: {place} {first['msg']}".strip()) from error
    if (document.model, document.model_digest) != (model, model_digest):
        raise ExitFileError(
            f"{str(path)!r} is of {document.model} {document.model_digest}, and this is {model} {model_digest}; tune "
            "its exits anew"
        )
    return Extras(
        exits=MappingProxyType({task: exit_from(found.exit) for task, found in document.tasks.items()}),
        strategies=MappingProxyType(
            {
                task: TunedStrategy(
                    strategy=strategy_from(found.strategy),
                    finality=found.finality,
                )
                for task, found in document.tasks.items()
            }
        ),
    )


def exit_document(exits: ExitSet) -> ExitSetDocument:
    """Return the document of a set of exits."""
    origin, search = exits.origin, exits.search
    return ExitSetDocument(
        format=FORMAT,
        model=exits.model,
        model_digest=exits.model_digest,
        canvas_length=exits.canvas_length,
        seed=search.seed,
        tuned_on="tune",
        tested_on="calibrate",
        items=search.items,
        calibrate_items=search.calibrate_items,
        misjudgement_limit=search.misjudgement_limit,
        quality_limit=search.quality_limit,
        origin=OriginDocument(machine=origin.machine, commit=origin.commit, date=origin.date),
        tasks={found.task: _task(found, exits.finality) for found in exits.tasks},
    )


def figures_document(figures: ExitFigures) -> FiguresDocument:
    """Return the document of figures."""
    return FiguresDocument(
        items=figures.items,
        mean_steps=figures.mean_steps,
        reference_steps=figures.reference_steps,
        steps=_estimate(figures.steps),
        saved=_estimate(figures.saved),
        saved_by_exit=_estimate(figures.saved_by_exit),
        quality=_estimate(figures.quality),
        strategy_quality=_estimate(figures.strategy_quality),
        exits=figures.exits,
        misjudged=figures.misjudged,
        reverse=figures.reverse,
        both_wrong=figures.both_wrong,
        lost=figures.lost,
        bound=figures.bound,
    )


def _task(found: TunedExit, finality: str | None) -> TaskExitDocument:
    strategy = found.strategy
    return TaskExitDocument(
        ceiling=found.ceiling,
        strategy=StrategyDocument.model_validate(raw_strategy(strategy)),
        finality=finality if strategy.name.needs_model else None,
        exit=ExitDocument.model_validate(raw_exit(found.exit)),
        candidates=_candidates(found),
        chosen=None if found.chosen is None else found.chosen.name,
        tested=None if found.tested is None else figures_document(found.tested),
    )


def _candidates(found: TunedExit) -> tuple[CandidateDocument, ...]:
    return tuple(
        CandidateDocument(name=one.setting.name, eligible=one.is_eligible, figures=figures_document(one.figures))
        for one in found.measured
    )


def _estimate(result: IntervalResult) -> EstimateDocument | None:
    if not isinstance(result, Interval):
        return None
    return EstimateDocument(estimate=result.estimate, low=result.low, high=result.high)
