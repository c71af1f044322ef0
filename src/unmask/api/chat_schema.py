"""The body of a chat completion request, field by field."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from unmask.api.refusals import CHAT, MESSAGE, TEXT_PART
from unmask.api.schema import (
    CONDITIONS,
    PARTS_TAG,
    TEXT_TAG,
    WHOLE,
    Filled,
    GeneratingBody,
    Label,
    Positive,
    text_or_parts,
)
from unmask.api.strict import STRICT, Strict, described, where
from unmask.backend import MOST_ALTERNATIVES

MOST_MESSAGES = 2_048
MOST_PARTS = 1_024


class TextPart(Strict):
    """A piece of a message; pieces are joined as they are."""

    model_config = ConfigDict(**STRICT, json_schema_extra=described(TEXT_PART))

    type: Literal["text"]
    text: str


_SEVERAL = Field(
    min_length=1,
    max_length=MOST_PARTS,
    fail_fast=True,
    json_schema_extra={"contains": {"properties": {"text": {"minLength": 1}}}},
)
_Content = Annotated[
    Annotated[Filled, Tag(TEXT_TAG)] | Annotated[list[TextPart], Tag(PARTS_TAG), _SEVERAL],
    Discriminator(text_or_parts),
]


class ChatMessage(Strict):
    """One message of the chat."""

    model_config = ConfigDict(**STRICT, json_schema_extra=described(MESSAGE))

    role: Literal["system", "developer", "user", "assistant"] = Field(
        description="`developer` means the same as `system`."
    )
    content: _Content = Field(description="Text, or text parts of which one at least holds text.")


class ChatBody(GeneratingBody):
    """A chat completion request. A field that is not listed here is refused, never ignored."""

    model_config = ConfigDict(
        **STRICT,
        title="ChatCompletionRequest",
        json_schema_extra=described(
            CHAT, *CONDITIONS, where("top_logprobs", {"minimum": 1, "type": "integer"}, logprobs={"const": True})
        ),
    )

    messages: list[ChatMessage] = Field(
        min_length=1,
        max_length=MOST_MESSAGES,
        fail_fast=True,
        description="The chat so far; the last message is the user's.",
    )
    max_completion_tokens: Positive | None = Field(default=None, description="The newer name of `max_tokens`.")
    logprobs: bool | None = Field(
        default=None,
        description="Whether each token comes with its log-probability, of the step that fixed it.",
    )
    top_logprobs: Annotated[int, Field(ge=0, le=MOST_ALTERNATIVES), WHOLE] | None = Field(
        default=None,
        description="How many of the likeliest tokens come beside each token; above 0 with `logprobs` only.",
    )
    prompt_cache_key: Label | None = Field(
        default=None,
        description="Names a conversation: its turns go where the one before went, unless that is too busy.",
    )
    safety_identifier: Label | None = Field(default=None, description="The client's own label; changes nothing.")
