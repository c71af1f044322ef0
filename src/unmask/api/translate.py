"""From a valid body to a `Call`, within the limits of the model that is asked for."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from unmask.api.budget import AskedBudget, asked_budget
from unmask.api.call import Call, Delivery
from unmask.api.chat_schema import ChatBody, ChatMessage
from unmask.api.completion_schema import MOST_ANSWERS, CompletionBody
from unmask.api.errors import UnsupportedFieldError
from unmask.api.format_schema import PlainFormat, ResponseFormat, SchemaFormat
from unmask.api.mode import asked_mode
from unmask.api.refusals import refusal
from unmask.api.schema import DiffusionOptions, GeneratingBody, ServiceTier
from unmask.api.searching import asked_search
from unmask.api.seeds import choice_seeds
from unmask.api.shown import AsJson
from unmask.api.verifying import verifying
from unmask.backend import Lever, ModelInfo, Request
from unmask.control.asked import MAX_REEXPANSIONS, Asked
from unmask.errors import InvalidRequestError
from unmask.service import Criticality
from unmask.strategy import StrategyChoice
from unmask.tasks.formats import AnswerFormat, JsonObject, JsonSchema
from unmask.tasks.schema_limits import InvalidSchemaError
from unmask.types import Message, Role, Sampling

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the endpoints say in ways of their own."""

    chats: tuple[tuple[Message, ...], ...]
    echoes: tuple[str, ...]
    max_tokens: int | None
    top_logprobs: int | None
    session: str = ""


def to_call(body: ChatBody | CompletionBody, model: ModelInfo, draw_seed: Callable[[], int]) -> Call:
    """Make the call; ``draw_seed`` is called where the client sent no seed and tokens are drawn.

    Raises:
        InvalidRequestError: fields contradict each other or exceed what the model takes.
        UnsupportedFieldError: fields ask together for what is not supported yet.
    """
    match body:
        case ChatBody():
            asked = _asked_of_chat(body, model)
        case CompletionBody():
            asked = _asked_of_completion(body, model)
        case _:
            assert_never(body)
    delivery = _delivery(body)
    options = body.diffusion or DiffusionOptions()
    steps = asked_budget(body, model)
    first = Request(
        model=model.name,
        messages=asked.chats[0],
        max_tokens=asked.max_tokens,
        budget=steps.budget,
        canvas_length=steps.canvas_length,
        strategy=_strategy(options, model),
        sampling=_sampling(body, draw_seed),
        mode=asked_mode(body, model),
        stop=(body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ()),
        snapshots=delivery is Delivery.SNAPSHOTS,
        top_logprobs=asked.top_logprobs,
        session=asked.session,
    )
    choices = body.n or 1
    return Call(
        model=model,
        requests=tuple(request for chat in asked.chats for request in _choices(_asking(first, chat), choices)),
        echoes=tuple(echo for echo in asked.echoes for _ in range(choices)),
        delivery=delivery,
        answer_format=_answer_format(body.response_format),
        verifying=verifying(options.verify or (), asked.chats),
        include_usage=body.stream_options is not None and body.stream_options.include_usage is True,
        asked=replace(_asked(options, steps, delivery, body.service_tier), is_repeatable=_is_repeatable(body)),
        user=_bookable(body.user or ""),
        tags=tuple(_bookable(f"{name}={value}") for name, value in (body.metadata or {}).items()),
        service_tier=_tier(body.service_tier),
    )


def _bookable(label: str) -> str:
    """Return a label without the one character that databases refuse in a text."""
    return label.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _asked_of_chat(body: ChatBody, model: ModelInfo) -> _Asked:
    if body.top_logprobs and not body.logprobs:
        raise InvalidRequestError(
            "top_logprobs", body.top_logprobs, "0 or null without logprobs: true", "Send logprobs: true as well."
        )
    return _Asked(
        chats=(_messages(body.messages),),
        echoes=("",),
        max_tokens=_max_tokens(
            ("max_tokens", body.max_tokens), ("max_completion_tokens", body.max_completion_tokens), model=model
        ),
        top_logprobs=(body.top_logprobs or 0) if body.logprobs else None,
        session=body.prompt_cache_key or "",
    )


def _asked_of_completion(body: CompletionBody, model: ModelInfo) -> _Asked:
    prompts = (body.prompt,) if isinstance(body.prompt, str) else tuple(body.prompt)
    choices = body.n or 1
    if len(prompts) * choices > MOST_ANSWERS:
        raise InvalidRequestError(
            "n",
            choices,
            f"1 to {MOST_ANSWERS // len(prompts)} with {len(prompts)} prompts",
            f"A request gets at most {MOST_ANSWERS} answers: send several.",
        )
    if body.best_of is not None and body.best_of != choices:
        raise refusal("best_of", body.best_of, f"{choices}, as n says")
    if body.echo and body.logprobs is not None:
        raise InvalidRequestError(
            "echo", AsJson(body.echo), "false with logprobs", "Prompts have no log-probabilities: send one of the two."
        )
    return _Asked(
        chats=tuple((Message(role=Role.USER, content=prompt),) for prompt in prompts),
        echoes=prompts if body.echo else ("",) * len(prompts),
        max_tokens=_max_tokens(("max_tokens", body.max_tokens), model=model),
        top_logprobs=body.logprobs,
    )


def _choices(request: Request, count: int) -> tuple[Request, ...]:
    seeds = choice_seeds(request.sampling.seed, count)
    # The first is asked as the call is.
    return (request, *(replace(request, sampling=replace(request.sampling, seed=seed)) for seed in seeds[1:]))


def _asking(request: Request, chat: tuple[Message, ...]) -> Request:
    return request if request.messages is chat else replace(request, messages=chat)


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
            f"messages[{index}].content",
            "a list of empty parts",
            "text or a list of text parts, not empty",
            "Send some text.",
        )
    return Message(role=_ROLES[given.role], content=content)


def _max_tokens(*fields: tuple[str, int | None], model: ModelInfo) -> int | None:
    """Return what the field says, or two fields that mean the same."""
    given = [(name, value) for name, value in fields if value is not None]
    if len({value for _, value in given}) > 1:
        (name, value), (other, expected) = given
        raise InvalidRequestError(name, value, f"{expected}, as {other} says", "They mean the same: send one of them.")
    for name, value in given:
        if value > model.context_length:
            raise InvalidRequestError(
                name, value, f"1 to {model.context_length}", f"The context of {model.name} holds no more."
            )
    return given[0][1] if given else None


def _delivery(body: GeneratingBody) -> Delivery:
    detail = body.diffusion.stream if body.diffusion else None
    if body.stream:
        return Delivery(detail or Delivery.STREAM)
    for param, value in (("stream_options", body.stream_options), ("diffusion.stream", detail)):
        if value is not None:
            shown = value if isinstance(value, str) else "sent"
            raise InvalidRequestError(
                param, shown, "null without stream: true", "Send stream: true as well, or leave it out."
            )
    return Delivery.WHOLE


def _asked(options: DiffusionOptions, steps: AskedBudget, delivery: Delivery, tier: ServiceTier | None) -> Asked:
    may_wait = delivery not in {Delivery.COMMITTED, Delivery.SNAPSHOTS}
    if options.max_reexpansions and not may_wait:
        raise InvalidRequestError(
            MAX_REEXPANSIONS,
            options.max_reexpansions,
            f"0 or null with diffusion.stream {str(delivery)!r}",
            "What is sent as it is made cannot be taken back: send diffusion.stream: verified.",
        )
    asked = Asked(
        task=options.task,
        service_class=options.service_class,
        bucket=steps.bucket,
        has_strategy=any(given is not None for given in (options.strategy, options.threshold, options.window)),
        early_exit=options.early_exit is not False,
        max_reexpansions=options.max_reexpansions,
        may_wait=may_wait,
        service_tier=None if tier is None else tier.value,
        search=asked_search(options, delivery),
        criticality=options.criticality or Criticality.NORMAL,
    )
    return (
        asked if steps.steps is None else replace(asked, max_steps=steps.steps.value, max_steps_field=steps.steps.param)
    )


def _strategy(options: DiffusionOptions, model: ModelInfo) -> StrategyChoice:
    for field, value in (("strategy", options.strategy), ("threshold", options.threshold), ("window", options.window)):
        if value is not None and Lever.STRATEGY not in model.levers:
            given = str(value) if isinstance(value, str) else value
            raise UnsupportedFieldError(
                f"diffusion.{field}", given, "null", f"{model.name} has a way of its own: leave it out."
            )
    name, threshold = options.strategy or StrategyChoice().name, options.threshold
    if threshold is not None and threshold > 1 and name.has_bounded_threshold:
        raise InvalidRequestError("diffusion.threshold", threshold, "0 to 1", f"With {name} it is a probability.")
    return StrategyChoice(name=name, threshold=threshold, window=options.window)


def _answer_format(asked: ResponseFormat | None) -> AnswerFormat | None:
    match asked:
        case None:
            return None
        case PlainFormat():
            return JsonObject() if asked.type == "json_object" else None
        case SchemaFormat():
            return _schema(asked.json_schema.definition)
        case _:
            assert_never(asked)


def _schema(definition: dict[str, object]) -> JsonSchema:
    try:
        return JsonSchema(definition)
    except InvalidSchemaError as error:
        param = "response_format.json_schema.schema"
        raise InvalidRequestError(param, AsJson(definition), error.allowed, error.reason) from error


def _tier(asked: ServiceTier | None) -> str | None:
    return ServiceTier.DEFAULT if asked is ServiceTier.AUTO else asked


def _is_repeatable(body: GeneratingBody) -> bool:
    """Tell whether the same body means the same answer: nothing is drawn, or from the client's own seed."""
    return not body.temperature or body.seed is not None


def _sampling(body: GeneratingBody, draw_seed: Callable[[], int]) -> Sampling:
    default = Sampling()
    temperature = default.temperature if body.temperature is None else body.temperature
    seed = body.seed
    if seed is None:
        seed = draw_seed() if temperature > 0 else default.seed
    return Sampling(temperature=temperature, top_p=default.top_p if body.top_p is None else body.top_p, seed=seed)
