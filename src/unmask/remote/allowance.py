"""What a diffusion engine may take for a request, and how that is said to it."""

from dataclasses import dataclass
from random import Random

from unmask.backend import ModelInfo, Request
from unmask.errors import InvalidRequestError
from unmask.remote.engines import PoolSettings, SglangSettings, VllmSettings
from unmask.types import Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Steps of a canvas, and how many positions it has."""

    steps: int
    width: int

    def canvases(self, tokens: int) -> int:
        """Return how many canvases an answer of so many tokens takes."""
        return -(-tokens // self.width)


def vllm_allowance(request: Request, model: ModelInfo, max_tokens: int) -> Allowance:
    """Return what a vLLM is told.

    It knows caps of a canvas and none of a request. So each canvas is given its share of the total, which then holds,
    and what one canvas leaves is lost to the others.

    Raises:
        InvalidRequestError: the total has not a step for each canvas.
    """
    width = request.canvas_length or model.default_canvas_length
    steps = request.budget.max_steps if request.budget else model.default_steps_of(request.canvas_length)
    return Allowance(steps=min(steps, _share(request, model, max_tokens, width)), width=width)


def pool_of(request: Request, model: ModelInfo, settings: SglangSettings, max_tokens: int) -> PoolSettings:
    """Return the pool that a request goes to: never one that may take more steps than it has.

    Of the pools within its cap that which has its bucket; else the one with the most steps.

    Raises:
        InvalidRequestError: all pools may take more.
    """
    most = settings.default_pool.steps
    if request.budget is not None:
        most = min(request.budget.max_steps, _share(request, model, max_tokens, settings.canvas_length))
    within = [pool for pool in settings.pools if pool.steps <= most]
    if not within:
        raise _no_pool(request, model, settings, most)
    named = (pool for pool in within if request.bucket in pool.buckets)
    return next(named, None) or max(within, key=lambda pool: pool.steps)


def _no_pool(request: Request, model: ModelInfo, settings: SglangSettings, most: int) -> InvalidRequestError:
    """Return the refusal of a request whose canvases may take ``most`` steps."""
    budget = request.budget
    assert budget is not None, "without a budget the largest pool is within reach"
    allowed = ", ".join(str(steps) for steps in sorted({pool.steps for pool in settings.pools}))
    fix = f"{model.name} has servers of these settings, and no other."
    if most < budget.max_steps:
        reason = f"enough for canvases of {allowed} steps"
        return InvalidRequestError("diffusion.max_total_steps", budget.max_total_steps, reason, fix)
    return InvalidRequestError(
        "diffusion.max_steps", most, f"{allowed}, or what lies above the least and is rounded down", fix
    )


def vllm_arguments(request: Request, settings: VllmSettings, allowance: Allowance) -> dict[str, object]:
    """Return ``vllm_xargs``: cap, canvas length, and the draft if there is one."""
    arguments: dict[str, object] = {"diffusion_max_steps": allowance.steps}
    if request.canvas_length is not None:
        arguments["diffusion_canvas_length"] = request.canvas_length
    if request.draft is not None:
        arguments["diffusion_seed_canvas"] = _canvas(request.draft, settings, allowance.width, request.sampling.seed)
        arguments["diffusion_pinned"] = sorted(request.draft.frozen)
    return arguments


def check_draft(draft: Draft, width: int) -> None:
    """Refuse a draft that does not start a canvas of this width.

    Raises:
        InvalidRequestError: it is too long, freezes what it does not hold, or has text before its canvas.
    """
    if draft.before:
        raise InvalidRequestError(
            "draft.before",
            f"{len(draft.before)} tokens",
            "none",
            "Another server takes a start for its first canvas alone.",
        )
    if len(draft.tokens) > width:
        raise InvalidRequestError(
            "draft.tokens", f"{len(draft.tokens)} tokens", f"at most {width}", "A draft starts one canvas."
        )
    held = {place for place, token in enumerate(draft.tokens) if token is not None}
    loose = sorted(draft.frozen - held)
    if loose:
        raise InvalidRequestError("draft.frozen", loose[0], "positions that hold a token", "Freeze what is there.")


def _share(request: Request, model: ModelInfo, max_tokens: int, width: int) -> int:
    """Return the steps of a total that each canvas may take at least."""
    budget = request.budget
    if budget is None or budget.max_total_steps is None:
        return model.max_steps
    canvases = -(-max_tokens // width)
    if budget.max_total_steps < canvases:
        raise InvalidRequestError(
            "diffusion.max_total_steps",
            budget.max_total_steps,
            f"at least {canvases}, a step for each canvas of {width} tokens",
            "Raise it, or ask for fewer tokens.",
        )
    return budget.max_total_steps // canvases


def _canvas(draft: Draft, settings: VllmSettings, width: int, seed: int) -> list[int]:
    """Return an id for each position; those that are open hold what the model starts from."""
    drawn = Random(seed)
    given = (*draft.tokens, *(None,) * (width - len(draft.tokens)))
    return [_open(settings, drawn) if token is None else token for token in given]


def _open(settings: VllmSettings, drawn: Random) -> int:
    if settings.mask_token is not None:
        return settings.mask_token
    assert settings.vocabulary is not None, "without either drafts are refused"
    return drawn.randrange(settings.vocabulary)
