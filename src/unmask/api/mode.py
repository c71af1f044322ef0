"""How a body asks for its answer to be written, and what does not go with that."""

from unmask.api.schema import DiffusionOptions, GeneratingBody, VllmArguments
from unmask.backend import Lever, ModelInfo
from unmask.errors import InvalidRequestError
from unmask.service import SearchMethod
from unmask.types import Mode


def asked_mode(body: GeneratingBody, model: ModelInfo) -> Mode:
    """Return the mode that a body asks for.

    Raises:
        InvalidRequestError: another field means nothing in that mode, or the model does not heed modes.
    """
    options = body.diffusion or DiffusionOptions()
    mode = Mode.DIFFUSION if options.mode is None else Mode(options.mode)
    if not mode.is_causal:
        return mode
    if Lever.MODE not in model.levers:
        raise InvalidRequestError(
            "diffusion.mode", mode.value, f"{Mode.DIFFUSION} or null", f"{model.name} writes in one way: leave it out."
        )
    _check_options(options, body.vllm_xargs or VllmArguments(), mode)
    if mode is Mode.SPECULATIVE and body.temperature:
        raise InvalidRequestError(
            "temperature",
            body.temperature,
            f"0 with diffusion.mode {mode}",
            f"A draft is verified against the likeliest tokens: draw with diffusion.mode {Mode.AUTOREGRESSIVE}.",
        )
    return mode


def _check_options(options: DiffusionOptions, arguments: VllmArguments, mode: Mode) -> None:
    """Refuse what only a canvas that becomes the answer has."""
    search = None if options.search is SearchMethod.NONE else options.search
    has_canvas = mode is not Mode.AUTOREGRESSIVE
    snapshots = options.stream if options.stream == "snapshots" else None
    for name, value in (
        ("diffusion.canvas_length", None if has_canvas else options.canvas_length),
        ("vllm_xargs.diffusion_canvas_length", None if has_canvas else arguments.diffusion_canvas_length),
        ("diffusion.strategy", options.strategy),
        ("diffusion.threshold", options.threshold),
        ("diffusion.window", options.window),
        ("diffusion.search", search),
        ("diffusion.stream", snapshots),
    ):
        if value is not None:
            raise InvalidRequestError(
                name,
                value if isinstance(value, int | float) else str(value),
                f"null with diffusion.mode {mode}",
                "It is about canvases that become the answer: leave out one of the two.",
            )
