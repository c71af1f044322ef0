"""Every field of the policy file with what it may be, read off the schema."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, StringConstraints
from pydantic.fields import FieldInfo

from unmask.policy.schema import NAME, Digest, PolicyDocument

PLACEHOLDERS: Mapping[str, str] = {"tasks": "TASK", "classes": "CLASS", "searches": "TASK", "precision": "CLASS"}
"""What stands in a path for the names of entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyField:
    """One field: its path in the file, such as ``tasks.TASK.floor``, and what the manual says of it."""

    path: str
    allowed: str
    required: bool
    meaning: str


@cache
def policy_fields() -> tuple[PolicyField, ...]:
    """Return every field, in the order of the schema."""
    return tuple(_walk(PolicyDocument, ""))


def field_at(place: Iterable[str | int]) -> str:
    """Return what the field at a place of the document may be; a place that is no field is a ``KeyError``."""
    found = _Kind.of(PolicyDocument, ())
    for part in place:
        found = found.entry if found.is_mapping else _Kind.at(found.model.model_fields[str(part)])
    return found.allowed


def names_at(place: Iterable[str | int]) -> tuple[str, ...]:
    """Return the names of the fields that may stand at a place of the document."""
    found = _Kind.of(PolicyDocument, ())
    for part in place:
        found = found.entry if found.is_mapping else _Kind.at(found.model.model_fields[str(part)])
    return tuple(found.model.model_fields)


def key_at(place: Iterable[str | int]) -> str:
    """Return what the names of a mapping at a place of the document may be."""
    found = _Kind.of(PolicyDocument, ())
    for part in place:
        found = found.entry if found.is_mapping else _Kind.at(found.model.model_fields[str(part)])
    return found.key.allowed


def _walk(model: type[BaseModel], prefix: str) -> Iterator[PolicyField]:
    for name, info in model.model_fields.items():
        path = f"{prefix}{name}"
        kind = _Kind.at(info)
        yield PolicyField(
            path=path, allowed=kind.allowed, required=info.is_required(), meaning=str(info.description or "")
        )
        if kind.is_mapping and kind.entry.is_model:
            yield from _walk(kind.entry.model, f"{path}.{PLACEHOLDERS[name]}.")
        elif kind.is_model:
            yield from _walk(kind.model, f"{path}.")


@dataclass(frozen=True, slots=True)
class _Kind:
    """A field's type without its wrappings, and the bounds that stood in them."""

    kind: Any
    bounds: tuple[object, ...]

    @classmethod
    def at(cls, info: FieldInfo) -> "_Kind":
        return cls.of(info.annotation, tuple(info.metadata))

    @classmethod
    def of(cls, annotation: object, bounds: tuple[object, ...]) -> "_Kind":
        """Take the wrappings off: what may be left out, and what is annotated."""
        if get_origin(annotation) is Annotated:
            inner, *marks = get_args(annotation)
            flat = [bound for mark in marks for bound in (mark.metadata if isinstance(mark, FieldInfo) else (mark,))]
            return cls.of(inner, (*bounds, *flat))
        if get_origin(annotation) in {Union, UnionType}:
            (inner,) = (kind for kind in get_args(annotation) if kind is not NoneType)
            return cls.of(inner, bounds)
        return cls(annotation, bounds)

    @property
    def is_mapping(self) -> bool:
        return get_origin(self.kind) is dict

    @property
    def is_model(self) -> bool:
        return isinstance(self.kind, type) and issubclass(self.kind, BaseModel)

    @property
    def model(self) -> type[BaseModel]:
        assert self.is_model, self.kind
        model: type[BaseModel] = self.kind
        return model

    @property
    def key(self) -> "_Kind":
        return _Kind.of(get_args(self.kind)[0], ())

    @property
    def entry(self) -> "_Kind":
        return _Kind.of(get_args(self.kind)[1], ())

    @property
    def allowed(self) -> str:
        if self.is_mapping:
            return f"entries of {self.key.allowed}, each {self.entry.allowed}"
        if self.is_model:
            return "fields of its own"
        if isinstance(self.kind, type) and issubclass(self.kind, StrEnum):
            return ", ".join(self.kind)
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            return self._text
        return f"{'a whole number' if self.kind is int else 'a number'}{self._range}"

    @property
    def _text(self) -> str:
        patterns = {bound.pattern for bound in self.bounds if isinstance(bound, StringConstraints)}
        if patterns == {_pattern_of(Digest)}:
            return "16 to 64 hexadecimal digits in quotes"
        assert patterns == {f"^{NAME}$"}, patterns
        return "a name of at most 64 letters, digits, `.`, `_` and `-`"

    @property
    def _range(self) -> str:
        least = next((bound for bound in self.bounds if isinstance(bound, Ge | Gt)), None)
        most = next((bound for bound in self.bounds if isinstance(bound, Le | Lt)), None)
        match least, most:
            case Ge(ge=low), Le(le=high):
                return f" from {low} to {high}"
            case Gt(gt=low), Lt(lt=high):
                return f" above {low} and below {high}"
            case Ge(ge=low), None:
                return f", at least {low}"
            case _:
                return ""


def _pattern_of(kind: object) -> object:
    (constraints,) = (mark for mark in get_args(kind) if isinstance(mark, StringConstraints))
    return constraints.pattern
