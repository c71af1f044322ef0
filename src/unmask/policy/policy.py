"""A budget policy as a value; `unmask.policy.schema` reads and writes its file."""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from unmask.service import ClassTerms, Criticality, SearchMethod
from unmask.strategy import StrategyChoice
from unmask.types import Bucket, ExitRule, Precision

DEFAULT_TASK = "default"
"""The task type of requests whose own is not known: fixed budget, no exit."""


class BudgetMode(StrEnum):
    """How a task type gets its budget: one for all, or by estimated difficulty."""

    FIXED = "fixed"
    ADAPTIVE = "adaptive"


class Preference(StrEnum):
    """What a service class gives up last: its deadline, or quality."""

    DEADLINE = "deadline"
    QUALITY = "quality"


class AtCap(StrEnum):
    """What becomes of a request that has met a limit: answered as it stands, or failed.

    Its budget was spent without converging, or its further attempts without passing.
    """

    TRUNCATE = "truncate"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitPolicy:
    """A task type's exit rule and how often it may be wrong.

    Attributes:
        enabled: whether it stops requests; until its misjudgement is known to be within the limit, it only observes.
        misjudgement_limit: largest upper end (Wilson, 95 %) of the share of exits that fail while the same request's
            full run passes.
    """

    rule: ExitRule
    enabled: bool
    misjudgement_limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionPolicy:
    """The precisions of a task type's requests in one service class, by criticality; ``None`` is that of ``normal``."""

    service_class: str
    normal: Precision
    low: Precision | None = None
    high: Precision | None = None

    def of(self, criticality: Criticality) -> Precision:
        """Return the precision of requests of a criticality."""
        match criticality:
            case Criticality.LOW:
                return self.low or self.normal
            case Criticality.NORMAL:
                return self.normal
            case Criticality.HIGH:
                return self.high or self.normal
            case _:
                assert_never(criticality)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPolicy:
    """The budget of one task type, in denoise steps a canvas.

    Attributes:
        floor: fewest that may be assigned: above the collapse of its curve.
        default: what a request gets that is not estimated: the knee.
        ceiling: most that are assigned: saturation.
        strategy: which positions its steps reveal; ``None`` leaves it to the request.
        alpha: largest share of requests that may be wrong for the bucket they were given though right at the ceiling.
        shift: what is added to an estimated difficulty, in log2 steps; the larger the safer. Set by calibration.
        finality: digest of the learned finality model that the strategy reads; a part of the policy's folder.
        precision: of its requests, by service class; in others they are run in the model's own.
    """

    task: str
    mode: BudgetMode
    floor: int
    default: int
    ceiling: int
    strategy: StrategyChoice | None
    exit: ExitPolicy | None
    alpha: float
    shift: float
    finality: str | None = None
    precision: tuple[PrecisionPolicy, ...] = ()

    def precision_in(self, service_class: str) -> PrecisionPolicy | None:
        """Return the precisions of its requests in a service class, where it has any."""
        return next((entry for entry in self.precision if entry.service_class == service_class), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPolicy:
    """How requests of one task type are searched that ask for no search themselves.

    Attributes:
        width: how wide; it may take so many times the steps of one answer.
        from_bucket: smallest bucket that is; ``None``: all are.
    """

    task: str
    method: SearchMethod
    width: int
    from_bucket: Bucket | None = None

    def covers(self, bucket: Bucket | None) -> bool:
        """Tell whether a request of a bucket is searched; of one without a bucket nobody knows how hard it is."""
        if self.from_bucket is None:
            return True
        order = list(Bucket)
        return bucket is not None and order.index(bucket) >= order.index(self.from_bucket)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassPolicy:
    """What holds for a service class.

    Attributes:
        prefers: what it gives up last. An estimate gives either the smallest bucket that holds it; with ``quality``
            that is never less than the task's default. An unsure one gives the ceiling either way.
        max_steps: cap of a canvas; ``max_total_steps`` of a request (``None``: per canvas × canvases).
        re_expansions: most further attempts after a failed verification.
        re_expansion_factor: how much larger each one's budget is.
        deadline_s: seconds from arrival in which it is answered; ``None``: whenever.
        weight: its part where classes compete for the machine; ``None`` is 1.
        min_share: share of the machine that it gets while it has work; ``None`` is 0.
        max_share: most of the machine that it gets; ``None`` is all.
        smaller_bucket: whether a request that would be too late gets a smaller bucket rather than a refusal.
        searches: which of its requests are searched; one entry a task type.
        quality_floor: number of the lowest quality level that load brings it to; ``None`` leaves it to the server.
    """

    name: str
    prefers: Preference
    max_steps: int
    max_total_steps: int | None
    at_cap: AtCap
    re_expansions: int
    re_expansion_factor: float
    deadline_s: float | None = None
    weight: float | None = None
    min_share: float | None = None
    max_share: float | None = None
    smaller_bucket: bool | None = None
    searches: tuple[SearchPolicy, ...] = ()
    quality_floor: int | None = None

    def search_of(self, task: str, bucket: Bucket | None) -> SearchPolicy | None:
        """Return how a request of a task type and bucket is searched, or nothing where it is run once."""
        return next((entry for entry in self.searches if entry.task == task and entry.covers(bucket)), None)

    @property
    def terms(self) -> ClassTerms:
        """What its requests' place in the queue goes by; somebody waits for what would rather have its deadline."""
        return ClassTerms(
            name=self.name,
            weight=1.0 if self.weight is None else self.weight,
            min_share=self.min_share or 0.0,
            max_share=1.0 if self.max_share is None else self.max_share,
            deadline_s=self.deadline_s,
            is_interactive=self.prefers is Preference.DEADLINE,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPolicy:
    """Which share of requests is run to its budget, as the control of the exit rules.

    Attributes:
        fraction: share once a task type's rule is settled.
        young_fraction: share before, at least 0.05.
        young_until: controls of a task type after which its rule counts as settled.
    """

    fraction: float
    young_fraction: float
    young_until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSteps:
    """What a bucket stands for, in denoise steps a canvas."""

    bucket: Bucket
    max_steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """All that decides how many steps a request gets. Named by its digest; see `unmask.policy.digest`.

    Attributes:
        model: name and ``model_digest`` of the weights its curves were measured on.
        difficulty: digest of the difficulty estimator it was calibrated with; ``None`` where no task is adaptive.
        buckets: smallest first, steps rising.
        tasks: one entry a task type, ``DEFAULT_TASK`` among them.
        classes: the service classes; ``default_class`` is that of a request which names none.
    """

    model: str
    model_digest: str
    difficulty: str | None
    buckets: tuple[BucketSteps, ...]
    tasks: tuple[TaskPolicy, ...]
    classes: tuple[ClassPolicy, ...]
    default_class: str
    control: ControlPolicy

    def task(self, name: str) -> TaskPolicy:
        """Return a task type's entry, or that of `DEFAULT_TASK` where it has none."""
        found = {entry.task: entry for entry in self.tasks}
        return found.get(name, found[DEFAULT_TASK])

    def service_class(self, name: str | None) -> ClassPolicy | None:
        """Return a service class by name, the default one for ``None``, nothing where there is none of that name."""
        return next((entry for entry in self.classes if entry.name == (name or self.default_class)), None)
