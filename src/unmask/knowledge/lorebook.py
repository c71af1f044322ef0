"""Character Card V3 cards and lorebooks, read into worlds."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from unmask.errors import ConfigError, shown
from unmask.knowledge.imported import Imported, free_id, id_of, line_of, paragraphs, read_bytes, read_json
from unmask.knowledge.lorebook_schema import Book, BookEntry, BookFile, CardData, CardFile, CardPart
from unmask.knowledge.lorebook_text import clear, listed
from unmask.knowledge.schema import (
    LONGEST_NAME,
    EntityDocument,
    SlotDocument,
    TypeDocument,
    ValueDocument,
    WorldDocument,
    folded,
)
from unmask.knowledge.world import ValueKind

CARDS = ("chara_card_v3", "chara_card_v2")
BOOK = "lorebook_v3"
KNOWN_VERSIONS = ("", "2.0", "3.0")
NEEDED = frozenset({"name", "nickname", "description", "personality", "scenario", "character_book"})
ALWAYS, LORE = "always", "lore"
PartT = TypeVar("PartT", bound=CardPart)


def import_card(file: Path, language: str) -> Imported:
    """Read a card or lorebook.

    Every entry becomes an entity with its keys as aliases and its text as ``lore``; the text of an entry that is
    ``constant`` becomes an identity fact (``always``) of the character, or of the book where there is none.

    Raises:
        ConfigError: the file is no card or lorebook, or a field of it is not what the specification says.
    """
    value = read_json(file, read_bytes(file))
    spec = value.get("spec") if isinstance(value, dict) else None
    if spec in CARDS:
        card = _parsed(file, CardFile, value)
        return _Import(language, card.data.character_book, card.data).world(_card_notes(card))
    if spec == BOOK:
        book = _parsed(file, BookFile, value)
        return _Import(language, book.data, None).world(_unknown("the file", book))
    allowed = ", ".join((*CARDS, BOOK))
    raise ConfigError(f"{file}: spec is {shown(spec)}, allowed: {allowed}. Export the card or lorebook as V3 JSON.")


def _parsed(file: Path, schema: type[PartT], value: object) -> PartT:
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        all_of_it = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:20])
        raise ConfigError(f"{file} is not as the specification says: {all_of_it}") from error


def _card_notes(card: CardFile) -> Iterator[str]:
    if card.spec_version not in KNOWN_VERSIONS:
        yield f"the card is of version {card.spec_version}, and 3.0 is what is known; new fields are left out"
    left = [name for name in card.data.model_fields_set if name in CardData.model_fields and name not in NEEDED]
    if left:
        yield f"no facts, left out of the card: {', '.join(sorted(left))}"
    yield from _unknown("the file", card)
    yield from _unknown("the card", card.data)
    if card.data.character_book is None:
        yield "the card has no lorebook"


def _unknown(what: str, part: CardPart) -> Iterator[str]:
    if part.unknown:
        yield f"unknown fields of {what}, left out: {', '.join(part.unknown)}"


class _Import:
    """One import under way."""

    def __init__(self, language: str, book: Book | None, card: CardData | None) -> None:
        self.language = language
        self.book = book
        self.card = card
        self.notes: list[str] = []
        self.entities: dict[str, EntityDocument] = {}
        self._names: set[str] = set()
        self._decorators: Counter[str] = Counter()
        self._macros: Counter[str] = Counter()

    def world(self, notes: Iterator[str]) -> Imported:
        """Build the world."""
        self.notes += notes
        title = line_of((self.card and self.card.name) or (self.book and self.book.name) or "") or "lorebook"
        self.title = title[:LONGEST_NAME]
        self.called = line_of((self.card and self.card.nickname) or "") or self.title
        if self.book is not None:
            self._book_notes(self.book)
        entries = [] if self.book is None else sorted(self.book.entries, key=lambda entry: entry.insertion_order)
        enabled = [entry for entry in entries if entry.enabled]
        if len(enabled) < len(entries):
            self.notes.append(f"entries that are not enabled, left out: {len(entries) - len(enabled)}")
        self._holder([entry for entry in enabled if _is_constant(entry)])
        for entry in enabled:
            if not _is_constant(entry):
                self._entry(entry)
        self._text_notes()
        head = WorldDocument(
            id=id_of(self.title) or "lorebook", title=self.title, languages=[self.language], types=self._types()
        )
        return Imported(head=head, entities=self.entities, notes=tuple(self.notes))

    def _holder(self, constant: Sequence[BookEntry]) -> None:
        """Add whoever holds what is always said: the character, or the book itself."""
        slots: dict[str, list[ValueDocument]] = {}
        if self.card is not None:
            for name in ("description", "personality", "scenario"):
                if values := self._values(getattr(self.card, name)):
                    slots[name] = values
        always = [value for entry in constant for value in self._values(entry.content, _note(entry))]
        if always:
            self.notes.append(f"constant entries, now facts of {self.title!r} and no entities: {len(constant)}")
            slots[ALWAYS] = list({value.value: value for value in reversed(always)}.values())[::-1]
        if not slots:
            return
        aliases = [self.called] if folded(self.called) != folded(self.title) else []
        self._add(self.title, "character" if self.card else "book", aliases, slots, None)

    def _entry(self, entry: BookEntry) -> None:
        values = self._values(entry.content)
        keys = list(dict.fromkeys(key for key in map(line_of, entry.keys) if key))
        title = line_of(entry.name or "") or line_of(entry.comment or "") or next(iter(keys), "")
        if not title:
            title = f"entry {len(self.entities) + 1}"
            self.notes.append(f"an entry without name and keys is called {title!r}")
        if not values:
            self.notes.append(f"{title!r} says nothing")
        if entry.use_regex:
            self.notes.append(f"{title!r} has patterns for keys, which are no aliases; they are in its note")
            keys = []
        long = [key for key in keys if len(key) > LONGEST_NAME]
        if long:
            self.notes.append(f"{title!r} has keys longer than {LONGEST_NAME} characters, left out: {len(long)}")
        fitting = [key for key in keys if key not in long]
        self._add(title, "entry", fitting, {LORE: values} if values else {}, _note(entry))

    def _add(
        self, title: str, kind: str, keys: Sequence[str], slots: dict[str, list[ValueDocument]], note: str | None
    ) -> None:
        name, number = title[:LONGEST_NAME], 1
        while folded(name) in self._names:
            number += 1
            name = f"{title[: LONGEST_NAME - 8]} ({number})"
        if number > 1:
            self.notes.append(f"{title!r} is the name of several entries, one is called {name!r}")
        self._names.add(folded(name))
        aliases = {folded(key): key for key in reversed(keys) if folded(key) != folded(name)}
        self.entities[free_id(name, self.entities, "entry")] = EntityDocument(
            type=kind,
            names={self.language: name},
            aliases={self.language: list(reversed(aliases.values()))} if aliases else {},
            note=note,
            slots=slots,
        )

    def _values(self, text: str, note: str | None = None) -> list[ValueDocument]:
        cleared = clear(text, self.called)
        self._decorators.update(cleared.decorators)
        self._macros.update(cleared.macros)
        return [ValueDocument(value=line, note=note) for line in dict.fromkeys(paragraphs(cleared.text))]

    def _book_notes(self, book: Book) -> None:
        used = [
            name for name in ("scan_depth", "token_budget", "recursive_scanning") if getattr(book, name) is not None
        ]
        if used:
            self.notes.append(f"how the book is to be searched, left out: {', '.join(used)}")
        if book.description:
            self.notes.append("left out of the book, which is a comment: description")
        if book.extensions:
            self.notes.append(f"extensions of the book, left out: {', '.join(book.extensions)}")
        self.notes += _unknown("the book", book)
        unknown = Counter(name for entry in book.entries for name in entry.unknown)
        if unknown:
            self.notes.append(f"unknown fields of entries, left out: {listed(unknown)}")
        extended = Counter(name for entry in book.entries for name in entry.extensions)
        if extended:
            self.notes.append(f"extensions of entries, left out: {listed(extended)}")

    def _text_notes(self) -> None:
        if self._decorators:
            self.notes.append(f"decorators, left out: {listed(self._decorators)}")
        if self._macros:
            self.notes.append(f"macros that stay in texts as they are: {listed(self._macros)}")

    def _types(self) -> dict[str, TypeDocument]:
        """Return the types that have entities; a slot is asked for by its own name."""
        pinned = {"character": ("description", "personality", ALWAYS), "book": (ALWAYS,), "entry": ()}
        free = {"character": ("scenario",), "book": (), "entry": (LORE,)}
        used = {entity.type for entity in self.entities.values()} or {"entry"}
        return {
            kind: TypeDocument(
                slots={name: self._slot(name, name in pinned[kind]) for name in pinned[kind] + free[kind]}
            )
            for kind in pinned
            if kind in used
        }

    def _slot(self, name: str, identity: bool) -> SlotDocument:  # noqa: FBT001 - one of two kinds of slot
        return SlotDocument(kind=ValueKind.TEXT, many=True, identity=identity, asked_by={self.language: [name]})


def _is_constant(entry: BookEntry) -> bool:
    """Tell whether an entry is always said; patterns count over that, as the specification has it."""
    return bool(entry.constant) and not entry.use_regex


def _note(entry: BookEntry) -> str:
    """Write down where a text comes from and what of its entry a world has no place for."""
    parts = [f"lorebook entry {entry.id}" if entry.id is not None else "lorebook entry"]
    kept = {
        "name": entry.name if _is_constant(entry) else None,
        "comment": entry.comment if entry.name else None,
        "keys": ", ".join(entry.keys) if entry.use_regex or _is_constant(entry) else None,
        "secondary_keys": ", ".join(entry.secondary_keys or ()),
        "selective": entry.selective,
        "case_sensitive": entry.case_sensitive,
        "insertion_order": f"{entry.insertion_order:g}",
        "priority": None if entry.priority is None else f"{entry.priority:g}",
        "position": entry.position,
    }
    parts += [f"{name}: {value}" for name, value in kept.items() if value not in {None, ""}]
    return line_of("; ".join(parts))[:2000]
