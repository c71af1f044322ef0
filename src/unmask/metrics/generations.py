"""Instruments of generations: their ends, tokens, steps and times."""

from collections.abc import Iterable
from itertools import product

from prometheus_client import CollectorRegistry, Counter, Histogram

from unmask.backend import Generation, Timing, Usage
from unmask.types import ExitReason, FinishReason, Outcome, Verification

STEPS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)
WAITS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
STEP_TIMES_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
OTHER = "other"
"""Label of a model that is not among those served."""


class GenerationInstruments:
    """Counts generations; registers itself with a registry.

    Every series of the served models is there from the start, at zero. A name
    that is not among them is counted as ``other``, so that no caller can add
    series.
    """

    def __init__(self, registry: CollectorRegistry, models: Iterable[str]) -> None:
        self._models = tuple(models)
        make = _Maker(registry, self._models)
        self._ended = make.counter_by("unmask_generations_total", "Generations, by outcome.", "outcome", Outcome)
        self._finished = make.counter_by(
            "unmask_finishes_total", "Completed generations, by why their text ends.", "finish_reason", FinishReason
        )
        self._exits = make.counter_by(
            "unmask_exits_total",
            "Generations that were not abandoned, by why their denoising stopped.",
            "exit_reason",
            ExitReason,
        )
        self._verified = make.counter_by(
            "unmask_verifications_total",
            "Completed generations, by what the verifier said; skipped where no format was asked for.",
            "result",
            Verification,
        )
        self._prompt = make.counter("unmask_prompt_tokens_total", "Prompt tokens, cached ones included.")
        self._cached = make.counter("unmask_cached_tokens_total", "Prompt tokens found in the prefix cache.")
        self._completion = make.counter("unmask_completion_tokens_total", "Output tokens.")
        self._allocated = make.counter("unmask_steps_allocated_total", "Denoise steps that generations were allowed.")
        self._used = make.counter("unmask_steps_used_total", "Denoise steps that generations took.")
        self._estimated = make.counter(
            "unmask_steps_estimated_total", "Those of them that are estimates from counters of the server behind."
        )
        self._ignored = make.counter("unmask_caps_ignored_total", "Generations whose cap on steps was not kept.")
        self._canvases = make.counter("unmask_canvases_total", "Canvases denoised.")
        self._drafted = make.counter("unmask_drafted_tokens_total", "Drafted tokens that speculative steps verified.")
        self._accepted = make.counter("unmask_accepted_tokens_total", "Drafted tokens that became output.")
        self._steps = make.histogram("unmask_generation_steps", "Denoise steps of a completed generation.", STEPS)
        self._first_text = make.histogram(
            "unmask_time_to_first_text_seconds",
            "Time from a streamed generation's start to its first text, queue included.",
            WAITS_S,
        )
        self._queued = make.histogram(
            "unmask_queue_time_seconds", "Time that a completed generation waited for its place in a batch.", WAITS_S
        )
        self._ran = make.histogram(
            "unmask_generation_time_seconds", "Time of a completed generation from its place in a batch on.", WAITS_S
        )
        self._step_time = make.histogram(
            "unmask_step_time_seconds",
            "Generation time over steps of a completed generation: seconds a step, prompt and commits included.",
            STEP_TIMES_S,
        )

    def first_text(self, model: str, seconds: float) -> None:
        """Note how long the first text of a stream took."""
        self._first_text.labels(self._label(model)).observe(seconds)

    def verified(self, model: str, result: Verification) -> None:
        """Count what a verifier says of a completed generation."""
        self._verified.labels(self._label(model), result).inc()

    def abandoned(self, model: str, outcome: Outcome) -> None:
        """Count a generation of which nothing is known but that it ended: its caller left, or the backend broke."""
        self._ended.labels(self._label(model), outcome).inc()

    def ended(self, model: str, generation: Generation) -> None:
        """Count a generation that came back, whatever its outcome."""
        label = self._label(model)
        self._ended.labels(label, generation.outcome).inc()
        self._exits.labels(label, generation.usage.exit_reason).inc()
        self._spent(label, generation.usage)
        if generation.outcome is Outcome.COMPLETED:
            if generation.finish_reason is not None:
                self._finished.labels(label, generation.finish_reason).inc()
            self._took(label, generation.timing, generation.usage)

    def _label(self, model: str) -> str:
        return model if model in self._models else OTHER

    def _spent(self, label: str, usage: Usage) -> None:
        for counter, amount in (
            (self._prompt, usage.prompt_tokens),
            (self._cached, usage.cached_tokens),
            (self._completion, usage.completion_tokens),
            (self._allocated, usage.steps_allocated if usage.has_steps else 0),
            (self._used, usage.steps_used),
            (self._estimated, usage.steps_used if usage.steps_estimated else 0),
            (self._ignored, int(usage.cap_ignored)),
            (self._canvases, usage.canvases),
            (self._drafted, usage.drafted),
            (self._accepted, usage.accepted),
        ):
            # Finding a series takes longer than counting in it, and half of these are 0 as a rule.
            if amount:
                counter.labels(label).inc(amount)

    def _took(self, label: str, timing: Timing, usage: Usage) -> None:
        ran = timing.finished - timing.started
        if usage.steps_known:
            self._steps.labels(label).observe(usage.steps_used)
        self._queued.labels(label).observe(timing.started - timing.arrived)
        self._ran.labels(label).observe(ran)
        if usage.steps_used:
            self._step_time.labels(label).observe(ran / usage.steps_used)


class _Maker:
    """Makes metrics with a series for every served model."""

    def __init__(self, registry: CollectorRegistry, models: tuple[str, ...]) -> None:
        self._registry = registry
        self._models = models

    def counter(self, name: str, meaning: str) -> Counter:
        counter = Counter(name, meaning, ("model",), registry=self._registry)
        for model in self._models:
            counter.labels(model)
        return counter

    def counter_by(self, name: str, meaning: str, label: str, values: Iterable[str]) -> Counter:
        counter = Counter(name, meaning, ("model", label), registry=self._registry)
        for model, value in product(self._models, values):
            counter.labels(model, value)
        return counter

    def histogram(self, name: str, meaning: str, buckets: tuple[float, ...]) -> Histogram:
        histogram = Histogram(name, meaning, ("model",), buckets=buckets, registry=self._registry)
        for model in self._models:
            histogram.labels(model)
        return histogram
