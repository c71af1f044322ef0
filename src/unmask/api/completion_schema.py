"""The body of a completion request, the older endpoint, field by field."""

from typing import Annotated

from pydantic import ConfigDict, Discriminator, Field, Tag

from unmask.api.refusals import COMPLETION
from unmask.api.schema import (
    CONDITIONS,
    MOST_CHOICES,
    PARTS_TAG,
    TEXT_TAG,
    WHOLE,
    Filled,
    GeneratingBody,
    text_or_parts,
)
from unmask.api.strict import STRICT, described, where

MOST_PROMPTS = 64
MOST_ANSWERS = 64
"""Prompts times answers of each."""
MOST_ALTERNATIVES = 5

_Prompt = Annotated[
    Annotated[Filled, Tag(TEXT_TAG)]
    | Annotated[list[Filled], Tag(PARTS_TAG), Field(min_length=1, max_length=MOST_PROMPTS, fail_fast=True)],
    Discriminator(text_or_parts),
]


class CompletionBody(GeneratingBody):
    """A completion request. A field that is not listed here is refused, never ignored."""

    model_config = ConfigDict(
        **STRICT,
        title="CompletionRequest",
        json_schema_extra=described(COMPLETION, *CONDITIONS, where("echo", {"const": True}, logprobs={"type": "null"})),
    )

    prompt: _Prompt = Field(
        description="A text, or several; each is answered as if it were the one message of a chat. "
        f"At most {MOST_ANSWERS} answers altogether."
    )
    echo: bool | None = Field(default=None, description="Whether an answer begins with its prompt.")
    logprobs: Annotated[int, Field(ge=0, le=MOST_ALTERNATIVES), WHOLE] | None = Field(
        default=None,
        description="Gives each token its log-probability and so many of the likeliest tokens beside it, of the step "
        "that fixed it. Not together with `echo`.",
    )
    best_of: Annotated[int, Field(ge=1, le=MOST_CHOICES), WHOLE] | None = Field(
        default=None, description="The same as `n`: choosing from more is not supported yet."
    )
