"""The policy file: one document, strict; `unmask.policy.fields` reads the manual and the messages off it."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from unmask.policy.policy import AtCap, BudgetMode, Preference
from unmask.service import LEAST_WEIGHT, MOST_WIDTH, SearchMethod
from unmask.strategy import StrategyName
from unmask.types import Bucket, Precision, ProgressSignal

MOST_STEPS = 1_000_000
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
DIGEST = "[0-9a-f]{16,64}"

Name = Annotated[str, StringConstraints(pattern=f"^{NAME}$")]
Digest = Annotated[str, StringConstraints(pattern=f"^{DIGEST}$")]
Steps = Annotated[int, Field(ge=1, le=MOST_STEPS)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Document(BaseModel):
    """A part of the file: no other names, nothing converted."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", frozen=True)


class LearnedDocument(Document):
    """A learned score of signals."""

    version: Digest = Field(description="Digest of what was learnt; it changes apart from the model's.")
    bias: Number = Field(description="Log-odds where every signal is 0.")
    weights: dict[ProgressSignal, Number] = Field(description="Log-odds per unit of each signal that it reads.")
    threshold: Share = Field(description="Least probability, that stopping here costs nothing, to stop at.")


class ExitDocument(Document):
    """When a canvas may stop before its budget is spent."""

    enabled: bool = Field(
        description="Whether it stops requests. Until its misjudgement is known to be within the limit it only "
        "observes."
    )
    misjudgement_limit: Share = Field(
        description="Largest upper end (Wilson, 95 %) of the share of exits that fail while the same request's full "
        "run passes."
    )
    conditions: dict[ProgressSignal, Number] = Field(
        default_factory=dict,
        description="Bounds that all have to hold: the largest value of signals that are small when a canvas has "
        "settled, the least of the others, and 1 for `format`, the draft passes. With the learned score, signals of "
        "at least two kinds.",
    )
    learned: LearnedDocument | None = Field(
        default=None, description="A learned score that has to be met too. Left out: none."
    )
    patience: Steps = Field(default=1, description="How many steps in a row must meet it. Left out: 1.")
    min_steps: Steps = Field(default=1, description="Fewest steps of a canvas. Left out: 1.")


class StrategyDocument(Document):
    """Which positions a step reveals."""

    name: StrategyName = Field(description="The strategy.")
    threshold: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Its threshold, at most 1 where it is a probability. Left out: the strategy's own default.",
    )
    window: Steps | None = Field(
        default=None,
        description="How many of the leftmost open positions a step chooses among. Left out: the strategy's own.",
    )


class PrecisionDocument(Document):
    """The precisions of a task type's requests in one service class."""

    normal: Precision = Field(
        description="What requests are run in, where the server has it; else in the model's own precision."
    )
    low: Precision | None = Field(
        default=None, description="What those of low criticality are run in. Left out: as `normal`."
    )
    high: Precision | None = Field(
        default=None, description="What those of high criticality are run in. Left out: as `normal`."
    )


class TaskDocument(Document):
    """The budget of a task type, in denoise steps a canvas."""

    mode: BudgetMode = Field(
        description="One budget for all requests, or by estimated difficulty. That of `default` is fixed."
    )
    floor: Steps = Field(description="Fewest steps that may be assigned: above the collapse of its curve.")
    default: Steps = Field(description="Steps of a request that is not estimated: the knee of its curve.")
    ceiling: Steps = Field(description="Most steps that are assigned: saturation of its curve.")
    strategy: StrategyDocument | None = Field(
        default=None, description="Which positions a step reveals. Left out: the request says."
    )
    finality: Digest | None = Field(
        default=None,
        description="Digest of the learned finality model that the strategy reads, a file of `parts/`. Left out: none.",
    )
    precision: dict[Name, PrecisionDocument] | None = Field(
        default=None, description="Precisions of its requests, by service class. Left out: the model's own."
    )
    exit: ExitDocument | None = Field(
        default=None, description="When it stops early. Left out: never. That of `default` cannot be enabled."
    )
    alpha: Share = Field(
        description="Largest share of requests that may be wrong for the bucket they were given though right at the "
        "ceiling."
    )
    shift: Annotated[float, Field(ge=-20, le=20, allow_inf_nan=False)] = Field(
        description="Added to an estimated difficulty, in log2 steps; the larger the safer. Set by calibration."
    )


class SearchDocument(Document):
    """How requests of a task type are searched that ask for no search themselves."""

    method: SearchMethod = Field(description="How; any but `none`, which is what leaving the entry out means.")
    width: Annotated[int, Field(ge=2, le=MOST_WIDTH)] = Field(
        description="How wide: a search may take so many times the steps of one answer."
    )
    from_bucket: Bucket | None = Field(
        default=None,
        description="Smallest bucket that is searched, so that only requests that look hard are. Left out: all are.",
    )


class ClassDocument(Document):
    """What holds for a service class."""

    prefers: Preference = Field(
        description="What it gives up last. An estimate gives the smallest bucket that holds it; with `quality` that "
        "is never less than the task's default. An unsure estimate gives the ceiling either way."
    )
    max_steps: Steps = Field(description="Cap on the steps of a canvas, at least the floor of every task type.")
    max_total_steps: Steps | None = Field(
        default=None, description="Cap on the steps of a request. Left out: `max_steps` times its canvases."
    )
    at_cap: AtCap = Field(
        description="What becomes of a request that has met a limit (its budget spent without converging, or its "
        "further attempts without passing): it is answered as it stands, or fails."
    )
    re_expansions: Annotated[int, Field(ge=0, le=16)] = Field(
        description="Most further attempts after a failed verification."
    )
    re_expansion_factor: Annotated[float, Field(ge=1, le=64, allow_inf_nan=False)] = Field(
        description="How much larger the budget of each further attempt is; above 1 where there are any."
    )
    deadline_s: Annotated[float, Field(ge=0.01, le=86_400, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Seconds from arrival in which a request is answered; one that would be later is refused, or gets "
        "a smaller bucket. Left out: whenever.",
    )
    weight: Annotated[float, Field(ge=LEAST_WEIGHT, le=1_000, allow_inf_nan=False)] | None = Field(
        default=None, description="Its part where classes compete for the machine. Left out: 1."
    )
    min_share: Fraction | None = Field(
        default=None,
        description="Share of the machine that it gets while it has work, lent to others while it has none; those of "
        "all classes are at most 1 together. Left out: 0.",
    )
    max_share: Annotated[float, Field(ge=0.01, le=1, allow_inf_nan=False)] | None = Field(
        default=None, description="Most of the machine that it gets, even where nobody else wants it. Left out: all."
    )
    smaller_bucket: bool | None = Field(
        default=None,
        description="Whether a request that would be too late gets a smaller bucket, not below the floor of its task "
        "type, rather than a refusal. Left out: it is refused.",
    )
    searches: dict[Name, SearchDocument] | None = Field(
        default=None,
        description="By task type how its requests are searched for a better answer where they neither ask for a "
        "search nor name steps. Left out: none is.",
    )
    quality_floor: Annotated[int, Field(ge=0, le=4)] | None = Field(
        default=None,
        description="Lowest quality level that load brings it to: searches as wide as asked for with 0, of at most 4, "
        "2 and 1 answers with 1, 2 and 3, and with 4 the next smaller bucket too, not below the floor of a task type. "
        "Left out: the setting `quality_floor`.",
    )


class ControlDocument(Document):
    """Which share of requests is run to its budget, as the control of the exit rules."""

    fraction: Fraction = Field(
        description="Share once a task type's rule is settled; above 0 while any exit is enabled."
    )
    young_fraction: Fraction = Field(description="Share before that; at least 0.05 while any exit is enabled.")
    young_until: Annotated[int, Field(ge=1, le=1_000_000_000)] = Field(
        description="Controls of a task type after which its rule counts as settled."
    )


class PolicyDocument(Document):
    """A budget policy."""

    model: Name = Field(description="Name of the model whose curves it was made from.")
    model_digest: Digest = Field(description="Digest of that model's weights; it holds for no others.")
    difficulty: Digest | None = Field(
        default=None,
        description="Digest of the difficulty estimator it was calibrated with, a file of `parts/`. Left out: none, "
        "and no task type is adaptive.",
    )
    buckets: dict[Bucket, Steps] = Field(description="Steps a canvas that each bucket stands for, rising.")
    default_class: Name = Field(description="Service class of a request that names none.")
    classes: dict[Name, ClassDocument] = Field(description="The service classes by name.")
    tasks: dict[Name, TaskDocument] = Field(
        description="The task types by name. `default` is that of requests whose own is not known."
    )
    control: ControlDocument = Field(
        description="Which share of requests is run to its budget, as the control of the exit rules."
    )
