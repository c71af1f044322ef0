"""The parts of a world as its files hold them; what refers to what is for `unmask.knowledge.build`."""

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from unmask.knowledge.world import ValueKind

LONGEST_NAME = 200
LONGEST_TEXT = 4000
"""Characters."""
ID = r"^[\w-]+$"
LANGUAGE = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
SLOT = r"^[a-z][a-z0-9_]*$"


def one_line(text: str) -> str:
    """Return a text composed (NFC), so that names typed on different systems are the same; refuse line breaks."""
    composed = unicodedata.normalize("NFC", text)
    if composed != composed.strip() or not composed:
        raise ValueError("allowed: a text that is not empty and has no blanks at its ends")
    if any(unicodedata.category(char) in {"Cc", "Zl", "Zp", "Cs"} for char in composed):
        raise ValueError("allowed: a text of one line without control characters")
    return composed


def _listed(value: object) -> object:
    """Write one value as a list of one, and a bare value as a mapping."""
    values = value if isinstance(value, list) else [value]
    return [item if isinstance(item, dict | BaseModel) else {"value": item} for item in values]


def _time(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(one_line)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(one_line)]
Identifier = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(one_line), Field(pattern=ID)]
Language = Annotated[str, Field(pattern=LANGUAGE)]
NamesByLanguage = dict[str, Name]
PhrasesByLanguage = dict[str, list[Name]]
Time = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(one_line), BeforeValidator(_time)]
Kind = Annotated[ValueKind, Field(strict=False)]


class Document(BaseModel):
    """A part of a file; a field of another name is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, regex_engine="python-re")


class SlotDocument(Document):
    """A slot of a type."""

    kind: Kind
    many: bool = False
    refers_to: list[str] = []
    identity: bool = False
    asked_by: PhrasesByLanguage


class TypeDocument(Document):
    """An entity type."""

    slots: dict[Annotated[str, Field(pattern=SLOT, max_length=LONGEST_NAME)], SlotDocument]


class WorldDocument(Document):
    """``world.yaml``."""

    id: Identifier
    title: Name
    languages: Annotated[list[Language], Field(min_length=1, max_length=20)]
    times: list[Time] = []
    types: Annotated[dict[Identifier, TypeDocument], Field(min_length=1)]
    words: dict[Identifier, NamesByLanguage] = {}


class ValueDocument(Document):
    """A value of a slot: what it may be depends on the slot's kind."""

    value: object
    since: Time | None = None
    until: Time | None = None
    note: Text | None = None


class EntityDocument(Document):
    """An entity with the values of its slots."""

    type: str
    names: NamesByLanguage
    aliases: PhrasesByLanguage = {}
    note: Text | None = None
    slots: dict[str, Annotated[list[ValueDocument], Field(min_length=1), BeforeValidator(_listed)]] = {}


class MisconceptionDocument(Document):
    """An item of ``misconceptions.yaml``."""

    id: Identifier
    subject: str
    confused_with: str | None = None
    slot: str
    claimed: object
    correction: Annotated[list[str], Field(min_length=1)]
    triggers: PhrasesByLanguage = {}
    note: Text | None = None


def folded(name: str) -> str:
    """Return a name as it is compared: without regard to case and to how many blanks are in it."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", name)).casefold().strip()
