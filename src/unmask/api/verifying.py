"""From ``diffusion.verify`` to verifiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from unmask.api.verify_schema import (
    AnyVerifier,
    ConstraintVerifier,
    FactsVerifier,
    LengthVerifier,
    NumericVerifier,
    RegexVerifier,
    SelfConsistencyVerifier,
)
from unmask.errors import InvalidRequestError
from unmask.tasks.consistency import Compared, SelfConsistency
from unmask.tasks.constraint import Constraint, ItemOrder
from unmask.tasks.facts import Facts, facts_of
from unmask.tasks.length import Length, LengthUnit
from unmask.tasks.numeric import Numeric
from unmask.tasks.patterns import InvalidPatternError, Pattern
from unmask.tasks.verifier import Verifier
from unmask.types import Message

FIELD = "diffusion.verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying:
    """What the answers of a call are held to, beside their form."""

    verifiers: tuple[Verifier, ...] = ()
    consistency: SelfConsistency | None = None


def verifying(asked: Sequence[AnyVerifier], chats: Sequence[tuple[Message, ...]]) -> Verifying:
    """Return what answers are held to.

    Args:
        asked: the entries of ``diffusion.verify``.
        chats: the messages of the call, of which each has its own answer.

    Raises:
        InvalidRequestError: fields of an entry contradict each other, or ask for nothing.
    """
    verifiers: list[Verifier] = []
    consistency: SelfConsistency | None = None
    for number, entry in enumerate(asked):
        place = f"{FIELD}[{number}]"
        if not isinstance(entry, SelfConsistencyVerifier):
            verifiers.append(_verifier(entry, place, chats))
            continue
        if consistency is not None:
            raise InvalidRequestError(place, "a second self_consistency", "one of that kind", "Leave one of them out.")
        consistency = _consistency(entry, place)
    return Verifying(verifiers=tuple(verifiers), consistency=consistency)


def _verifier(
    entry: RegexVerifier | NumericVerifier | LengthVerifier | ConstraintVerifier | FactsVerifier,
    place: str,
    chats: Sequence[tuple[Message, ...]],
) -> Verifier:
    match entry:
        case RegexVerifier():
            return _pattern(entry, place)
        case NumericVerifier():
            _check_range(place, ("minimum", entry.minimum), ("maximum", entry.maximum))
            return Numeric(
                minimum=entry.minimum,
                maximum=entry.maximum,
                is_whole=entry.whole is True,
                is_alone=entry.alone is True,
            )
        case LengthVerifier():
            _check_range(place, ("minimum", entry.minimum), ("maximum", entry.maximum))
            if entry.minimum is None and entry.maximum is None:
                raise _empty(place, "length without minimum and maximum", "minimum, maximum or both")
            return Length(unit=entry.unit or LengthUnit.CHARACTERS, minimum=entry.minimum, maximum=entry.maximum)
        case ConstraintVerifier():
            return _constraint(entry, place)
        case FactsVerifier():
            return _facts(entry, place, chats)
        case _:
            assert_never(entry)


def _pattern(entry: RegexVerifier, place: str) -> Pattern:
    try:
        return Pattern(entry.pattern)
    except InvalidPatternError as error:
        raise InvalidRequestError(
            f"{place}.pattern", entry.pattern, error.allowed, "Every pattern is matched in linear time."
        ) from error


def _constraint(entry: ConstraintVerifier, place: str) -> Constraint:
    _check_range(place, ("min_items", entry.min_items), ("max_items", entry.max_items))
    if entry.order is ItemOrder.AS_GIVEN and entry.same_items is None:
        raise InvalidRequestError(
            f"{place}.order", "'as_given'", "as_given with same_items", "Send same_items, or another order."
        )
    separator = entry.separator or ","
    bad = next((item for item in entry.same_items or () if separator in item or item != item.strip()), None)
    if bad is not None:
        raise InvalidRequestError(
            f"{place}.same_items",
            bad,
            "items without the separator in them and without blanks around them",
            "Send the items as they are when the answer is taken apart.",
        )
    return Constraint(
        separator=separator,
        same_items=None if entry.same_items is None else tuple(entry.same_items),
        order=entry.order or ItemOrder.ANY,
        is_distinct=entry.distinct is True,
        minimum=entry.min_items,
        maximum=entry.max_items,
    )


def _facts(entry: FactsVerifier, place: str, chats: Sequence[tuple[Message, ...]]) -> Facts:
    if not (entry.required or entry.forbidden or all(map(facts_of, chats))):
        raise _empty(place, "facts without fact cards in messages", "required, forbidden, or fact cards in messages")
    return Facts(required=tuple(entry.required or ()), forbidden=tuple(entry.forbidden or ()))


def _consistency(entry: SelfConsistencyVerifier, place: str) -> SelfConsistency:
    default = SelfConsistency()
    samples = entry.samples or default.samples
    agree = entry.agree or samples // 2 + 1
    if agree > samples:
        raise InvalidRequestError(
            f"{place}.agree", agree, f"1 to {samples}, the number of samples", "Lower it, or draw more samples."
        )
    return SelfConsistency(
        samples=samples,
        agree=agree,
        compared=entry.compare or Compared.TEXT,
        temperature=default.temperature if entry.temperature is None else entry.temperature,
    )


def _check_range(place: str, least: tuple[str, float | None], most: tuple[str, float | None]) -> None:
    (lower, minimum), (upper, maximum) = least, most
    if minimum is not None and maximum is not None and minimum > maximum:
        raise InvalidRequestError(
            f"{place}.{upper}", maximum, f"at least {minimum:g}, as {lower} says", "No answer could pass."
        )


def _empty(place: str, value: str, allowed: str) -> InvalidRequestError:
    return InvalidRequestError(place, value, allowed, "It asks for nothing: leave it out.")
