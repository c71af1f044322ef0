"""Character cards and lorebooks as they are exchanged.

The fields are those of the Character Card V3 specification (github.com/kwaroran/character-card-spec-v3, SPEC_V3.md),
which holds those of V2. It asks readers not to refuse a file for fields that they do not know; these are kept in
``model_extra``, so that they can be named.
"""

from pydantic import BaseModel, ConfigDict


class CardPart(BaseModel):
    """A part of a card."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Fields that the specification does not have."""
        return tuple(self.model_extra or ())


class BookEntry(CardPart):
    """One entry of a lorebook: a text that is given to the model when a key is met, or always."""

    keys: list[str]
    content: str
    extensions: dict[str, object] = {}
    enabled: bool
    insertion_order: float
    case_sensitive: bool | None = None
    use_regex: bool = False
    constant: bool | None = None
    name: str | None = None
    priority: float | None = None
    id: int | str | None = None
    comment: str | None = None
    selective: bool | None = None
    secondary_keys: list[str] | None = None
    position: str | None = None


class Book(CardPart):
    """A lorebook."""

    name: str | None = None
    description: str | None = None
    scan_depth: float | None = None
    token_budget: float | None = None
    recursive_scanning: bool | None = None
    extensions: dict[str, object] = {}
    entries: list[BookEntry]


class CardData(CardPart):
    """The character of a card; what is not about facts is left as it is."""

    name: str
    nickname: str | None = None
    description: str = ""
    personality: str = ""
    scenario: str = ""
    character_book: Book | None = None
    tags: object = None
    creator: object = None
    character_version: object = None
    mes_example: object = None
    extensions: object = None
    system_prompt: object = None
    post_history_instructions: object = None
    first_mes: object = None
    alternate_greetings: object = None
    creator_notes: object = None
    assets: object = None
    creator_notes_multilingual: object = None
    source: object = None
    group_only_greetings: object = None
    creation_date: object = None
    modification_date: object = None


class CardFile(CardPart):
    """A file that holds a character card."""

    spec: str
    spec_version: str = ""
    data: CardData


class BookFile(CardPart):
    """A file that holds a lorebook alone."""

    spec: str
    data: Book
