"""From a valid body to a `Request`, within the limits of the model that is asked for."""

from collections.abc import Callable

from unmask.api.schema import ChatBody, ChatMessage, DiffusionOptions
from unmask.backend import ModelInfo, Request
from unmask.errors import InvalidRequestError
from unmask.types import Message, Role, Sampling, StepBudget, StrategyChoice

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}


def to_request(body: ChatBody, model: ModelInfo, draw_seed: Callable[[], int]) -> Request:
    """Make the request; ``draw_seed`` is called where the client sent no seed and tokens are drawn.

    Raises:
        InvalidRequestError: fields contradict each other or exceed what the model takes.
    """
    options = body.diffusion or DiffusionOptions()
    return Request(
        model=model.name,
        messages=_messages(body.messages),
        max_tokens=_max_tokens(body, model),
        budget=_budget(body, options, model),
        canvas_length=_canvas_length(options, model),
        strategy=_strategy(options),
        sampling=_sampling(body, draw_seed),
        stop=(body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ()),
    )


def _messages(given: list[ChatMessage]) -> tuple[Message, ...]:
    messages = tuple(_message(message, index) for index, message in enumerate(given))
    if messages[-1].role is not Role.USER:
        raise InvalidRequestError(
            "messages",
            f"a list that ends with a message of the {given[-1].role}",
            "a list that ends with the user's message",
            "Continuing an answer is not supported yet.",
        )
    return messages


def _message(given: ChatMessage, index: int) -> Message:
    parts = [given.content] if isinstance(given.content, str) else [part.text for part in given.content]
    content = "".join(parts)
    if not content:
        raise InvalidRequestError(
            f"messages[{index}].content", given.content, "text or a list of text parts, not empty", "Send some text."
        )
    return Message(role=_ROLES[given.role], content=content)


def _max_tokens(body: ChatBody, model: ModelInfo) -> int | None:
    given = {
        name: value
        for name, value in (("max_tokens", body.max_tokens), ("max_completion_tokens", body.max_completion_tokens))
        if value is not None
    }
    if len(set(given.values())) > 1:
        raise InvalidRequestError(
            "max_tokens",
            body.max_tokens,
            f"{body.max_completion_tokens}, as max_completion_tokens says",
            "They mean the same: send one of them.",
        )
    for name, value in given.items():
        if value > model.context_length:
            raise InvalidRequestError(
                name, value, f"1 to {model.context_length}", f"The context of {model.name} holds no more."
            )
        return value
    return None


def _budget(body: ChatBody, options: DiffusionOptions, model: ModelInfo) -> StepBudget | None:
    alias = body.num_denoising_steps
    if alias is not None and options.max_steps is not None and alias != options.max_steps:
        raise InvalidRequestError(
            "num_denoising_steps",
            alias,
            f"{options.max_steps}, as diffusion.max_steps says",
            "They mean the same: send one of them.",
        )
    param, steps = ("num_denoising_steps", alias) if alias is not None else ("diffusion.max_steps", options.max_steps)
    if steps is not None and steps > model.max_steps:
        raise InvalidRequestError(param, steps, f"1 to {model.max_steps}", f"{model.name} takes no more per canvas.")
    if steps is None and options.max_total_steps is None:
        return None
    return StepBudget(
        max_steps=steps or model.default_steps_of(options.canvas_length), max_total_steps=options.max_total_steps
    )


def _canvas_length(options: DiffusionOptions, model: ModelInfo) -> int | None:
    length = options.canvas_length
    if length is not None and length not in model.canvas_lengths:
        raise InvalidRequestError(
            "diffusion.canvas_length",
            length,
            ", ".join(map(str, model.canvas_lengths)),
            f"{model.name} is trained on these.",
        )
    return length


def _strategy(options: DiffusionOptions) -> StrategyChoice:
    return StrategyChoice(name=options.strategy or StrategyChoice().name, threshold=options.threshold)


def _sampling(body: ChatBody, draw_seed: Callable[[], int]) -> Sampling:
    default = Sampling()
    temperature = default.temperature if body.temperature is None else body.temperature
    seed = body.seed
    if seed is None:
        seed = draw_seed() if temperature > 0 else default.seed
    return Sampling(temperature=temperature, top_p=default.top_p if body.top_p is None else body.top_p, seed=seed)
