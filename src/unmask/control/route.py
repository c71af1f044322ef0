"""Which of two models a request goes to first: the smaller one where it is likely enough to be right."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from unmask.backend import ModelInfo
from unmask.control.difficulty import TaskModel
from unmask.control.features import Features
from unmask.policy.digest import canonical, content_digest

SHORT_DIGEST = 16
"""Characters of the digest that names a route."""


class RouteReason(StrEnum):
    """Why a request went where it went.

    ``likely``: the small model is likely enough to be right. ``unlikely``: it is not. ``unknown``: nothing is known of
    requests like it. ``never``: on its task type the small model has not been shown to be good enough, or to save
    anything. ``unfit``: the small model's policy does not allow what is asked. ``unavailable``: the small model is not
    loaded, or makes no progress. All but the first go to the large one.
    """

    LIKELY = "likely"
    UNLIKELY = "unlikely"
    UNKNOWN = "unknown"
    NEVER = "never"
    UNFIT = "unfit"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Where one request of a route goes first.

    Attributes:
        route: the route's name, which the client asked for.
        reason: why; the small model only where it is ``likely``.
        probability: with which the small model is right; ``None`` where that is not known.
    """

    route: str
    reason: RouteReason
    probability: float | None = None

    @property
    def is_small(self) -> bool:
        """Whether the small model is tried."""
        return self.reason is RouteReason.LIKELY


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRoute:
    """What is known of one task type.

    Attributes:
        model: its score is the log-odds of the small model's answer being right.
        threshold: least probability to try the small model at, where an answer that fails its verifiers is attempted
            again by the large one; ``None``: it is never tried.
        threshold_alone: the same where the first answer is the last.
    """

    model: TaskModel
    threshold: float | None
    threshold_alone: float | None

    def probability(self, features: Features, task_confidence: float = 1.0) -> float | None:
        """Return the probability that the small model is right; nothing for a request unlike those it was fitted to."""
        found = self.model.difficulty(features)
        return logistic(found.score) if found.is_sure(task_confidence) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteEnd:
    """One of a route's two models: its name and the digest of its weights."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteFit:
    """What `unmask tune routing` found, by task type.

    Attributes:
        digest: names the file.
    """

    small: RouteEnd
    large: RouteEnd
    digest: str
    tasks: Mapping[str, TaskRoute]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A name that requests may ask for as a model, and the two models that serve it.

    Attributes:
        small: ``None`` where it is not loaded; the large one serves everything then.
        fit: what predicts whether the small model is right; ``None``: nothing does.
        threshold: least probability to try the small model at, in place of the fit's; 0 tries it on every request,
            whatever is known of it.
    """

    name: str
    small_name: str
    small: ModelInfo | None
    large: ModelInfo
    fit: RouteFit | None = None
    threshold: float | None = None

    @property
    def digest(self) -> str:
        """Names what answers: both models' weights, and what chooses between them."""
        said = {
            "small": None if self.small is None else self.small.digest,
            "large": self.large.digest,
            "fit": None if self.fit is None else self.fit.digest,
            "threshold": self.threshold,
        }
        return content_digest(canonical(said))[:SHORT_DIGEST]

    @property
    def model(self) -> ModelInfo:
        """What may be asked of the route: what both models take."""
        if self.small is None:
            return replace(self.large, name=self.name, digest=self.digest, parameters=None)
        small, large = self.small, self.large
        lengths = tuple(length for length in large.canvas_lengths if length in small.canvas_lengths)
        default = large.default_canvas_length
        return replace(
            large,
            name=self.name,
            digest=self.digest,
            parameters=None,
            precision=large.precision if large.precision is small.precision else None,
            approximate=large.approximate if large.approximate == small.approximate else None,
            context_length=min(small.context_length, large.context_length),
            canvas_lengths=lengths,
            default_canvas_length=lengths[0] if lengths and default not in lengths else default,
            max_steps=min(small.max_steps, large.max_steps),
            default_steps=min(small.default_steps, large.default_steps),
            default_max_tokens=min(small.default_max_tokens, large.default_max_tokens),
            levers=tuple(lever for lever in large.levers if lever in small.levers),
            on_grid=small.on_grid or large.on_grid,
            template_tokens=max(small.template_tokens, large.template_tokens),
        )

    @property
    def note(self) -> str | None:
        """What whoever runs the server should know; nothing while both models share the work."""
        if self.small is None:
            return f"{self.name}: {self.small_name} is not loaded: all requests go to {self.large.name}"
        tasks = {} if self.fit is None else self.fit.tasks
        if self.threshold is None and all(
            threshold is None for task in tasks.values() for threshold in (task.threshold, task.threshold_alone)
        ):
            return (
                f"{self.name}: {self.small_name} was not shown to be good enough at less cost on any task type: "
                f"all requests go to {self.large.name}"
            )
        return None

    def decide(self, features: Features, *, task_confidence: float = 1.0, can_escalate: bool) -> Decision:
        """Return which of the two loaded models a request goes to first.

        Args:
            features: of the request.
            task_confidence: how sure its task type is; 1 where the client named it.
            can_escalate: whether a failed answer of the small model is attempted again by the large one.
        """
        known = None if self.fit is None else self.fit.tasks.get(features.task)
        found = None if known is None else known.probability(features, task_confidence)
        threshold = self.threshold
        if threshold is None and known is not None:
            threshold = known.threshold if can_escalate else known.threshold_alone
            if threshold is None:
                return Decision(route=self.name, reason=RouteReason.NEVER, probability=found)
        if threshold is None or (found is None and threshold > 0):
            return Decision(route=self.name, reason=RouteReason.UNKNOWN)
        is_likely = found is None or found >= threshold
        return Decision(
            route=self.name, reason=RouteReason.LIKELY if is_likely else RouteReason.UNLIKELY, probability=found
        )


def logistic(log_odds: float) -> float:
    """Return the probability of log-odds."""
    if log_odds < 0:
        return 1.0 - 1.0 / (1.0 + math.exp(max(log_odds, -700.0)))
    return 1.0 / (1.0 + math.exp(-log_odds))
