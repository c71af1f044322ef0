"""What the two APIs of judges take and give."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from unmask.gate.judges.prompt import JudgePrompt
from unmask.gate.judges.reply import Reply, Stop
from unmask.gate.judges.settings import JudgeSettings
from unmask.gate.patience import FaultError


class _OpenAiMessage(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _OpenAiChoice(BaseModel):
    message: _OpenAiMessage
    finish_reason: str | None = None


class _OpenAiAnswer(BaseModel):
    choices: Annotated[list[_OpenAiChoice], Field(min_length=1)]


class _AnthropicPart(BaseModel):
    type: str
    text: str = ""


class _AnthropicAnswer(BaseModel):
    type: Literal["message"]
    content: list[_AnthropicPart]
    stop_reason: str | None = None


def openai_body(settings: JudgeSettings, prompt: JudgePrompt) -> dict[str, object]:
    """Return the body of a request to ``/v1/chat/completions``."""
    body: dict[str, object] = {
        "model": settings.model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        settings.token_field: settings.max_tokens,
    }
    return body if settings.temperature is None else {**body, "temperature": settings.temperature}


def anthropic_body(settings: JudgeSettings, prompt: JudgePrompt) -> dict[str, object]:
    """Return the body of a request to ``/v1/messages``, without what names model and version."""
    body: dict[str, object] = {
        "max_tokens": settings.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
    }
    return body if settings.temperature is None else {**body, "temperature": settings.temperature}


def openai_reply(content: bytes) -> Reply:
    """Read an answer of ``/v1/chat/completions``.

    Raises:
        FaultError: it is none.
    """
    try:
        choice = _OpenAiAnswer.model_validate_json(content).choices[0]
    except ValidationError as error:
        raise _no_answer(error) from error
    if choice.message.refusal:
        return Reply(text=choice.message.refusal, stop=Stop.REFUSAL)
    return Reply(text=choice.message.content or "", stop=_stop(choice.finish_reason))


def anthropic_reply(content: bytes) -> Reply:
    """Read an answer of ``/v1/messages``.

    Raises:
        FaultError: it is none.
    """
    try:
        answer = _AnthropicAnswer.model_validate_json(content)
    except ValidationError as error:
        raise _no_answer(error) from error
    text = "".join(part.text for part in answer.content if part.type == "text")
    return Reply(text=text, stop=_stop(answer.stop_reason))


def _stop(reason: str | None) -> Stop:
    match reason:
        case "length" | "max_tokens" | "model_context_window_exceeded":
            return Stop.LENGTH
        case "content_filter" | "refusal":
            return Stop.REFUSAL
        case _:
            return Stop.END


def _no_answer(error: ValidationError) -> FaultError:
    found = error.errors(include_url=False)[0]
    place = ".".join(map(str, found["loc"]))
    return FaultError(f"what came is no answer of its API: {place}: {found['msg']}", may_retry=True)
