"""What a client says of the budget, beside what is in its `Request`."""

from dataclasses import dataclass

from unmask.search.plan import SearchPlan
from unmask.service import Criticality
from unmask.types import Bucket

MAX_STEPS = "diffusion.max_steps"
MAX_TOTAL_STEPS = "diffusion.max_total_steps"
TASK = "diffusion.task"
SEARCH = "diffusion.search"
SEGMENT_WEIGHTS = "diffusion.segment_weights"
WIDTH = "diffusion.width"
SERVICE_CLASS = "diffusion.service_class"
MAX_REEXPANSIONS = "diffusion.max_reexpansions"
SERVICE_TIER = "service_tier"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """What a client allows the cache, in the words of ``Cache-Control`` (RFC 9111, section 5.2.1).

    Attributes:
        may_read: whether its answer may be one that was given before (not with ``no-cache``).
        may_store: whether its answer may be kept (not with ``no-store``).
        max_age_s: how old an answer may be (``max-age``).
    """

    may_read: bool = True
    may_store: bool = True
    max_age_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was said in so many words; a default that was filled in for the client is not.

    Attributes:
        task: task type.
        service_class: name of a service class.
        max_steps: steps of a canvas, under the name ``max_steps_field``.
        bucket: budget tier, asked for in place of steps.
        has_strategy: whether the request's strategy, its threshold or its window is the client's.
        early_exit: whether the answer may stop before its budget is spent.
        max_reexpansions: most further attempts after a failed verification.
        may_wait: whether the client waits for the answer that is accepted. One that is sent canvases as they are
            finished does not, and what it has been sent cannot be taken back, so it gets no further attempts.
        service_tier: tier of the OpenAI API, which stands for a service class.
        search: how steps beyond one answer's are spent; ``None`` leaves it to the policy.
        is_repeatable: whether the same request would be answered alike: nothing is drawn, or the seed is the client's.
        cache: what it allows the cache.
        criticality: how much hangs on the answer; the policy may have another precision for each.
        default_task: task type of the caller's requests that name none.
        allowed_classes: service classes that the caller may use, in the order that they were allowed in; ``None`` for
            all of them.
    """

    task: str | None = None
    service_class: str | None = None
    max_steps: int | None = None
    max_steps_field: str = MAX_STEPS
    bucket: Bucket | None = None
    has_strategy: bool = False
    early_exit: bool = True
    max_reexpansions: int | None = None
    may_wait: bool = True
    service_tier: str | None = None
    criticality: Criticality = Criticality.NORMAL
    search: SearchPlan | None = None
    is_repeatable: bool = True
    cache: CacheUse = CacheUse()
    default_task: str | None = None
    allowed_classes: tuple[str, ...] | None = None
