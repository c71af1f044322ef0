"""Instruments of budgets, control runs and exits that failed."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import product
from types import MappingProxyType

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import InfoMetricFamily
from prometheus_client.registry import Collector

from unmask.metrics.routes import RouteInstruments
from unmask.types import Bucket, Precision

NO_BUCKET = "none"
UNKNOWN = "unknown"


class ControlEnd(StrEnum):
    """What became of a control run: on record, lost to a folder that cannot be written, or never finished."""

    RECORDED = "recorded"
    LOST = "lost"
    UNFINISHED = "unfinished"


class ControlVerdict(StrEnum):
    """What a control run says of its exit: its full run and the draft at the exit, as their checker judges them.

    ``misjudged``: the full run passes, the exit fails. ``reversed``: the other way round. ``unmet``: the rule never
    was. ``unjudged``: there is no checker.
    """

    BOTH_PASS = "both_pass"
    BOTH_FAIL = "both_fail"
    MISJUDGED = "misjudged"
    REVERSED = "reversed"
    UNMET = "unmet"
    UNJUDGED = "unjudged"


_PAIRED: Mapping[tuple[bool, bool], str] = MappingProxyType(
    {(True, True): "both", (True, False): "unrefined", (False, True): "refined", (False, False): "neither"}
)
"""Labels by whether the unrefined and the refined answer passed."""


class ControlInstruments:
    """Counts what requests were given and what came of it; every series is there from the start, at zero.

    Args:
        registry: where it registers.
        models: names of those served.
        sources: what budgets are taken from.
        reasons: why there are generations beyond a request's first.

    Attributes:
        routes: told of what routes decide.
    """

    def __init__(
        self, registry: CollectorRegistry, models: Iterable[str], sources: Iterable[str], reasons: Iterable[str]
    ) -> None:
        self._registry = registry
        self._models = tuple(models)
        self.routes = RouteInstruments(registry)
        reasons = tuple(reasons)
        self._budgets = self._counter(
            "unmask_budgets_total", "Generations given a budget, by what it was taken from.", "source", sources
        )
        self._buckets = self._counter(
            "unmask_buckets_total",
            "Generations given a budget, by its bucket; none where no policy is approved and no effort was asked for.",
            "bucket",
            (NO_BUCKET, *Bucket),
        )
        self._precisions = self._counter(
            "unmask_precisions_total",
            "Generations given a budget, by the precision they run in; unknown where another server does not say.",
            "precision",
            (*Precision, UNKNOWN),
        )
        self._controls = self._counter(
            "unmask_controls_total", "Control runs, by what became of them.", "result", ControlEnd
        )
        self._extra_steps = self._counter(
            "unmask_control_extra_steps_total", "Denoise steps of control runs beyond where they would have exited."
        )
        self._verdicts = self._counter(
            "unmask_control_verdicts_total",
            "Control runs on record, by what their exit would have done to the answer.",
            "verdict",
            ControlVerdict,
        )
        self._answers = self._counter("unmask_answers_total", "Requests that were given an answer.")
        self._reexpanded = self._counter(
            "unmask_answers_reexpanded_total", "Of these, those that took further attempts after a failed verification."
        )
        self._attempts = self._counter(
            "unmask_attempts_total",
            "Generations beyond the first of a request: further attempts after a failed verification, by what was "
            "tried, and samples that answers were compared with.",
            "reason",
            reasons,
        )
        self._attempt_steps = self._counter("unmask_attempt_steps_total", "Denoise steps of these.", "reason", reasons)
        self._refined_tokens = self._counter(
            "unmask_prompt_tokens_saved_total", "Prompt tokens that refinement spared requests that were answered."
        )
        self._pairs = self._counter(
            "unmask_refinement_pairs_total",
            "Requests answered unrefined and refined, by which answer passed its verifiers.",
            "passed",
            _PAIRED.values(),
        )
        self._failures = self._counter(
            "unmask_exit_failures_total", "Answers that were stopped early and failed their verifier."
        )

    def refined(self, model: str, tokens: int) -> None:
        """Count prompt tokens that were spared."""
        if tokens:
            self._refined_tokens.labels(model).inc(tokens)

    def compared(self, model: str, *, passed: bool, refined_passed: bool) -> None:
        """Count a request that was answered unrefined and refined."""
        self._pairs.labels(model, _PAIRED[passed, refined_passed]).inc()

    def assigned(self, model: str, source: str, bucket: Bucket | None, precision: Precision | None) -> None:
        """Count a generation that was given its budget and precision."""
        self._budgets.labels(model, source).inc()
        self._buckets.labels(model, bucket or NO_BUCKET).inc()
        self._precisions.labels(model, precision or UNKNOWN).inc()

    def control_ended(self, model: str, result: ControlEnd, extra_steps: int = 0) -> None:
        """Count a control run, and what it cost to let it run on."""
        self._controls.labels(model, result).inc()
        self._extra_steps.labels(model).inc(extra_steps)

    def control_judged(self, model: str, verdict: ControlVerdict) -> None:
        """Count what a control run says of its exit."""
        self._verdicts.labels(model, verdict).inc()

    def answered(self, model: str, reexpansions: int) -> None:
        """Count an answer, and whether it took further attempts."""
        self._answers.labels(model).inc()
        if reexpansions:
            self._reexpanded.labels(model).inc()

    def attempted(self, model: str, reason: str, steps: int) -> None:
        """Count a generation beyond the first of its request, and what it cost."""
        self._attempts.labels(model, reason).inc()
        self._attempt_steps.labels(model, reason).inc(steps)

    def exit_failed(self, model: str) -> None:
        """Count an answer that was stopped early and failed."""
        self._failures.labels(model).inc()

    def _counter(self, name: str, meaning: str, label: str = "", values: Iterable[str] = ()) -> Counter:
        counter = Counter(name, meaning, ("model", label) if label else ("model",), registry=self._registry)
        for found in product(self._models, values) if label else product(self._models):
            counter.labels(*found)
        return counter


class PolicyCollector(Collector):
    """Writes which policy is in force for each model, as of the moment it is asked.

    Args:
        registry: where it registers.
        policies: returns models with the names of their policies.
    """

    def __init__(self, registry: CollectorRegistry, policies: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self._policies = policies
        registry.register(self)

    def collect(self) -> Iterator[InfoMetricFamily]:
        """Read the policies."""
        family = InfoMetricFamily(
            "unmask_policy", "Digest of the approved policy of a model, or fixed; always 1.", labels=("model",)
        )
        for model, policy in self._policies():
            family.add_metric((model,), {"digest": policy})
        yield family
