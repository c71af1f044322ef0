"""What a body asks of the step budget, under all the names that there are for it."""

from dataclasses import dataclass

from unmask.api.effort import BUCKETS, bucket_steps
from unmask.api.errors import UnsupportedFieldError
from unmask.api.refusals import refusal
from unmask.api.schema import DiffusionOptions, GeneratingBody, VllmArguments
from unmask.backend import Lever, ModelInfo
from unmask.errors import InvalidRequestError
from unmask.types import Bucket, StepBudget


@dataclass(frozen=True, slots=True)
class Named:
    """A number and the field that the client sent it in."""

    param: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBudget:
    """What was asked for; ``None`` leaves it to the model.

    Attributes:
        steps: steps of a canvas in a number, which ``budget`` holds as well, and the field that they were sent in.
    """

    budget: StepBudget | None
    canvas_length: int | None
    bucket: Bucket | None
    steps: Named | None = None


def asked_budget(body: GeneratingBody, model: ModelInfo) -> AskedBudget:
    """Return the budget that a body asks for.

    Raises:
        InvalidRequestError: fields contradict each other or exceed what the model takes.
    """
    if Lever.BUDGET not in model.levers:
        _check_silent(body, model)
        return AskedBudget(budget=None, canvas_length=None, bucket=None)
    options = body.diffusion or DiffusionOptions()
    arguments = body.vllm_xargs or VllmArguments()
    canvas = _agreed(
        ("diffusion.canvas_length", options.canvas_length),
        ("vllm_xargs.diffusion_canvas_length", arguments.diffusion_canvas_length),
    )
    steps = _agreed(
        ("diffusion.max_steps", options.max_steps),
        ("num_denoising_steps", body.num_denoising_steps),
        ("vllm_xargs.diffusion_max_steps", arguments.diffusion_max_steps),
    )
    _check_canvas(canvas, model)
    _check_steps(steps, body, model)
    canvas_length = canvas.value if canvas else None
    bucket = BUCKETS[body.reasoning_effort] if body.reasoning_effort else None
    asked = bucket_steps(bucket, model, canvas_length) if bucket else steps.value if steps else None
    max_steps = asked or model.default_steps_of(canvas_length)
    _check_least(options.min_steps, max_steps)
    silent = asked is None and options.max_total_steps is None
    budget = None if silent else StepBudget(max_steps=max_steps, max_total_steps=options.max_total_steps)
    return AskedBudget(budget=budget, canvas_length=canvas_length, bucket=bucket, steps=steps)


def _check_silent(body: GeneratingBody, model: ModelInfo) -> None:
    """Refuse every field about steps and canvases: what serves the model would not heed them."""
    options, arguments = body.diffusion or DiffusionOptions(), body.vllm_xargs or VllmArguments()
    for param, value in (
        ("diffusion.max_steps", options.max_steps),
        ("diffusion.max_total_steps", options.max_total_steps),
        ("diffusion.min_steps", options.min_steps),
        ("diffusion.canvas_length", options.canvas_length),
        ("num_denoising_steps", body.num_denoising_steps),
        ("vllm_xargs.diffusion_max_steps", arguments.diffusion_max_steps),
        ("vllm_xargs.diffusion_canvas_length", arguments.diffusion_canvas_length),
        ("reasoning_effort", None if body.reasoning_effort is None else str(body.reasoning_effort)),
    ):
        if value is not None:
            fix = f"{model.name} is served by another server, which has no step budget: leave it out."
            raise UnsupportedFieldError(param, value, "null", fix)


def _agreed(*fields: tuple[str, int | None]) -> Named | None:
    """Return the first field that is sent; a later one may only repeat it."""
    sent = [Named(param, value) for param, value in fields if value is not None]
    for other in sent[1:]:
        if other.value != sent[0].value:
            raise InvalidRequestError(
                other.param,
                other.value,
                f"{sent[0].value}, as {sent[0].param} says",
                "They mean the same: send one of them.",
            )
    return sent[0] if sent else None


def _check_canvas(canvas: Named | None, model: ModelInfo) -> None:
    if canvas and canvas.value not in model.canvas_lengths:
        raise InvalidRequestError(
            canvas.param,
            canvas.value,
            ", ".join(map(str, model.canvas_lengths)),
            f"{model.name} is trained on these.",
        )


def _check_steps(steps: Named | None, body: GeneratingBody, model: ModelInfo) -> None:
    if steps is None:
        return
    if body.reasoning_effort is not None:
        raise InvalidRequestError(
            steps.param,
            steps.value,
            f"null, as reasoning_effort is {str(body.reasoning_effort)!r}",
            "Both set the steps of a canvas: send one of them.",
        )
    if steps.value > model.max_steps:
        raise InvalidRequestError(
            steps.param, steps.value, f"1 to {model.max_steps}", f"{model.name} takes no more per canvas."
        )


def _check_least(least: int | None, max_steps: int) -> None:
    if least is not None and least > max_steps:
        raise InvalidRequestError(
            "diffusion.min_steps",
            least,
            f"at most {max_steps}, which is the most steps of a canvas",
            "Raise diffusion.max_steps or leave min_steps out.",
        )
    if least is not None and least > 1:
        raise refusal("diffusion.min_steps", least, "1")
