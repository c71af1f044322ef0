"""``diffusion.verify``: what an answer is held to beside its form."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from unmask.api.strict import Strict
from unmask.tasks.consistency import MOST_SAMPLES, Compared
from unmask.tasks.constraint import ItemOrder
from unmask.tasks.length import LengthUnit
from unmask.tasks.patterns import LONGEST_PATTERN

MOST_VERIFIERS = 8
MOST_ITEMS = 256
MOST_TEXTS = 32
LONGEST_TEXT = 200
LONGEST_SEPARATOR = 16
LARGEST_COUNT = 1_000_000
HIGHEST_SAMPLING_TEMPERATURE = 2.0


def _whole(value: object) -> object:
    """Take 8.0 as 8, as JSON does."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53 else value


_Count = Annotated[int, Field(ge=0, le=LARGEST_COUNT), BeforeValidator(_whole)]
_Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
_Texts = Annotated[list[_Text], Field(min_length=1, max_length=MOST_TEXTS, fail_fast=True)]


class RegexVerifier(Strict):
    """A regular expression that matches the whole answer, blanks around it aside."""

    kind: Literal["regex"]
    pattern: str = Field(
        min_length=1,
        max_length=LONGEST_PATTERN,
        description="Matched in linear time, so without look-around and back-references.",
    )


class NumericVerifier(Strict):
    """The last number of the answer lies in a range."""

    kind: Literal["numeric"]
    minimum: float | None = Field(default=None, description="Least value.")
    maximum: float | None = Field(default=None, description="Largest value.")
    whole: bool | None = Field(default=None, description="Whether it has to be a whole number.")
    alone: bool | None = Field(default=None, description="Whether nothing but the number may be there.")


class LengthVerifier(Strict):
    """The answer has so many characters, words or lines."""

    kind: Literal["length"]
    unit: Annotated[LengthUnit, Field(strict=False)] | None = Field(
        default=None, description="What is counted; `characters` by default."
    )
    minimum: _Count | None = Field(default=None, description="Fewest.")
    maximum: _Count | None = Field(default=None, description="Most.")


class ConstraintVerifier(Strict):
    """The answer is a list as asked for."""

    kind: Literal["constraint"]
    separator: Annotated[str, Field(min_length=1, max_length=LONGEST_SEPARATOR)] | None = Field(
        default=None, description="What stands between two items; a comma by default. Blanks around items do not count."
    )
    same_items: Annotated[list[_Text], Field(min_length=1, max_length=MOST_ITEMS, fail_fast=True)] | None = Field(
        default=None, description="The items that it has to hold, each as often as here."
    )
    order: Annotated[ItemOrder, Field(strict=False)] | None = Field(
        default=None, description="How items follow one another; `any` by default, `as_given` with `same_items`."
    )
    distinct: bool | None = Field(default=None, description="Whether no item may be there twice.")
    min_items: _Count | None = Field(default=None, description="Fewest items.")
    max_items: _Count | None = Field(default=None, description="Most items.")


class FactsVerifier(Strict):
    """The answer states nothing that the fact cards in `messages` do not hold."""

    kind: Literal["facts"]
    required: _Texts | None = Field(default=None, description="Texts that have to be said.")
    forbidden: _Texts | None = Field(default=None, description="Texts that must not be said.")


class SelfConsistencyVerifier(Strict):
    """Samples of the same request say the same. Each is a generation of its own and costs its steps."""

    kind: Literal["self_consistency"]
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES), BeforeValidator(_whole)] | None = Field(
        default=None, description="How many are drawn; 2 by default."
    )
    agree: Annotated[int, Field(ge=1, le=MOST_SAMPLES), BeforeValidator(_whole)] | None = Field(
        default=None, description="How many have to agree; by default more than half of them."
    )
    compare: Annotated[Compared, Field(strict=False)] | None = Field(
        default=None, description="What has to be the same: the `text`, the default, or the last `number`."
    )
    temperature: Annotated[float, Field(gt=0, le=HIGHEST_SAMPLING_TEMPERATURE)] | None = Field(
        default=None, description="At which they are drawn, unless the request's own is higher; 0.7 by default."
    )


VERIFIERS: tuple[type[Strict], ...] = (
    RegexVerifier,
    NumericVerifier,
    LengthVerifier,
    ConstraintVerifier,
    FactsVerifier,
    SelfConsistencyVerifier,
)
KINDS = ("regex", "numeric", "length", "constraint", "facts", "self_consistency")
VERIFIER_TAGS: Mapping[str, type[Strict]] = {
    f"<{kind}>": verifier for kind, verifier in zip(KINDS, VERIFIERS, strict=True)
}
"""Tags of the kinds in places of errors, and what each means."""


def _tag(value: object) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return f"<{kind}>" if kind in KINDS else None


AnyVerifier = Annotated[
    Annotated[RegexVerifier, Tag("<regex>")]
    | Annotated[NumericVerifier, Tag("<numeric>")]
    | Annotated[LengthVerifier, Tag("<length>")]
    | Annotated[ConstraintVerifier, Tag("<constraint>")]
    | Annotated[FactsVerifier, Tag("<facts>")]
    | Annotated[SelfConsistencyVerifier, Tag("<self_consistency>")],
    Discriminator(_tag),
]
Verifiers = Annotated[list[AnyVerifier], Field(min_length=1, max_length=MOST_VERIFIERS, fail_fast=True)]
