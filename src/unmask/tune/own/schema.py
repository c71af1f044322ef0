"""A line of a tasks file as it stands there, checked field by field."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from unmask.policy.policy import DEFAULT_TASK
from unmask.policy.schema import NAME
from unmask.tasks.formats import JsonSchema
from unmask.tasks.item import Difficulty
from unmask.tasks.patterns import LONGEST_PATTERN, InvalidPatternError, Pattern
from unmask.tasks.registry import all_tasks
from unmask.tasks.schema_limits import InvalidSchemaError
from unmask.tune.own.checks import Check, Contains, Exact, FitsSchema, Matches, Number, SameText, normal
from unmask.types import Message, Role

LONGEST_ID = 200
LONGEST_TEXT = 100_000
"""Characters of a message."""
MOST_MESSAGES = 100
MOST_ALTERNATIVES = 1_000
MOST_AXES = 16
HARDEST = 1_000_000
ONE_AXIS = "difficulty"
"""Name of the axis of an item whose difficulty is one number."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def _listed(value: object) -> object:
    """Write one text as a list of one."""
    return [value] if isinstance(value, str) else value


def _says_something(text: str) -> str:
    if not text.strip():
        raise ValueError("allowed: a text that is not blank")
    return text


def _remains(text: str) -> str:
    if not normal(text):
        raise ValueError("allowed: a text of more than blanks and punctuation, which are not compared")
    return text


def _pattern(text: str) -> str:
    try:
        Pattern(text)
    except InvalidPatternError as error:
        raise ValueError(f"allowed: {InvalidPatternError.allowed}") from error
    return text


def _schema(value: dict[str, object]) -> dict[str, object]:
    try:
        JsonSchema(value)
    except InvalidSchemaError as error:
        raise ValueError(error.message) from error
    return value


def _is_free(name: str) -> str:
    if name in all_tasks() or name == DEFAULT_TASK:
        taken = ", ".join((*all_tasks(), DEFAULT_TASK))
        raise ValueError(f"allowed: a name of your own, none of {taken}, which have checkers and verifiers already")
    return name


_Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_says_something)]
_Compared = Annotated[_Text, AfterValidator(_remains)]
_MANY = Field(min_length=1, max_length=MOST_ALTERNATIVES)
_Texts = Annotated[list[_Text], BeforeValidator(_listed), _MANY]
_ComparedTexts = Annotated[list[_Compared], BeforeValidator(_listed), _MANY]
_Axis = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
_Hardness = Annotated[int, Field(ge=0, le=HARDEST)]


class NumberDocument(_Strict):
    """A number and how far an answer may be from it."""

    value: float
    tolerance: Annotated[float, Field(ge=0)] = 0.0


class CheckDocument(_Strict):
    """What an answer is held to; of several kinds all have to pass."""

    exact: _Texts | None = None
    text: _ComparedTexts | None = None
    contains: _ComparedTexts | None = None
    regex: Annotated[str, Field(min_length=1, max_length=LONGEST_PATTERN), AfterValidator(_pattern)] | None = None
    json_schema: Annotated[dict[str, object], AfterValidator(_schema)] | None = None
    number: NumberDocument | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> "CheckDocument":
        if all(getattr(self, name) is None for name in CheckDocument.model_fields):
            raise ValueError(f"allowed: at least one of {', '.join(CheckDocument.model_fields)}")
        return self

    def checks(self) -> Iterator[Check]:
        """Yield the checks."""
        if self.exact is not None:
            yield Exact(alternatives=tuple(self.exact))
        if self.text is not None:
            yield SameText(alternatives=tuple(self.text))
        if self.contains is not None:
            yield Contains(texts=tuple(self.contains))
        if self.regex is not None:
            yield Matches(pattern=Pattern(self.regex))
        if self.json_schema is not None:
            yield FitsSchema(form=JsonSchema(self.json_schema))
        if self.number is not None:
            value, tolerance = (Decimal(str(number)) for number in (self.number.value, self.number.tolerance))
            yield Number(value=value, tolerance=tolerance)


class MessageDocument(_Strict):
    """A message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_says_something)]


class ItemDocument(_Strict):
    """One item, on a line of its own."""

    id: Annotated[str, Field(min_length=1, max_length=LONGEST_ID), AfterValidator(_says_something)]
    task: Annotated[str, Field(pattern=f"^{NAME}$"), AfterValidator(_is_free)]
    prompt: _Text | None = None
    messages: Annotated[list[MessageDocument], Field(min_length=1, max_length=MOST_MESSAGES)] | None = None
    check: CheckDocument
    difficulty: _Hardness | Annotated[dict[_Axis, _Hardness], Field(min_length=1, max_length=MOST_AXES)] | None = None

    @model_validator(mode="after")
    def _asks_once(self) -> "ItemDocument":
        if (self.prompt is None) is (self.messages is None):
            raise ValueError("allowed: either prompt or messages")
        if self.messages is not None and self.messages[-1].role != Role.USER.value:
            raise ValueError("allowed: messages of which the last is the user's")
        return self

    def chat(self) -> tuple[Message, ...]:
        """Return the messages that are sent."""
        if self.messages is None:
            return (Message(role=Role.USER, content=self.prompt or ""),)
        return tuple(Message(role=Role(message.role), content=message.content) for message in self.messages)

    def axes(self) -> Difficulty:
        """Return the difficulty; without one there are no axes."""
        match self.difficulty:
            case None:
                return Difficulty(axes=())
            case int():
                return Difficulty(axes=((ONE_AXIS, self.difficulty),))
            case _:
                return Difficulty(axes=tuple(sorted(self.difficulty.items())))
