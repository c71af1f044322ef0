"""What a family has to say of a checkpoint before it can be served."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.engine.families.shape import DecoderShape, Names
from unmask.errors import CheckpointFolderError, shown


class PublishedConfig(BaseModel):
    """A ``config.json``: fields that change what is computed are declared, all others are left alone.

    A family declares with ``Literal`` what it has one value of, so that a checkpoint with another is refused.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


Config = TypeVar("Config", bound=PublishedConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Which positions see which, and which logits are whose.

    Attributes:
        block: a position sees all up to the end of its block of so many, counted from the start of the context;
            ``None``: all positions see all.
        is_shifted: whether a position's logits are those of the position before it.
    """

    block: int | None = None
    is_shifted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A checkpoint as its family reads it.

    Attributes:
        mask: id of the mask token, where the configuration names it.
        mask_text: what it is called in the tokenizer, where it does not.
        end_texts: tokens that end an answer, beside the configured ones, where the tokenizer has them.
        canvas_lengths: that requests may choose among.
        default_canvas_length: and with it the steps of a canvas that nobody has asked for.
        default_max_tokens: of an answer.
    """

    shape: DecoderShape
    names: Names
    pattern: Pattern
    mask: int | None
    mask_text: str
    end_texts: tuple[str, ...]
    canvas_lengths: tuple[int, ...]
    default_canvas_length: int
    default_max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family: the ``architectures`` of its configurations, and how it reads one."""

    name: str
    architectures: tuple[str, ...]
    describe: Callable[[Mapping[str, object]], Description]


def read_config(schema: type[Config], values: Mapping[str, object], file: str = "config.json") -> Config:
    """Check a configuration, the content of ``file``.

    Raises:
        CheckpointFolderError: a field is missing, or has a value that this family is not run with.
    """
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        name = ".".join(map(str, first["loc"]))
        found = "missing" if first["type"] == "missing" else shown(first["input"])
        raise CheckpointFolderError(
            f"{file}: {name} is {found}: {first['msg']}. A model configured so is not one that can be run here; "
            "take the published configuration of the checkpoint."
        ) from error


def fitting(lengths: tuple[int, ...], context_length: int) -> tuple[int, ...]:
    """Return the canvas lengths that fit into a context; the shortest at least."""
    return tuple(length for length in lengths if length <= context_length) or lengths[:1]
