"""Flat records, JSON or JSONL, read into worlds by a mapping."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

import orjson
from pydantic import ValidationError

from unmask.errors import ConfigError, shown
from unmask.knowledge.errors import Fault, WorldError
from unmask.knowledge.imported import Imported, free_id, id_of, line_of, paragraphs, read_bytes, read_json
from unmask.knowledge.mapping import MappedSlot, Mapping
from unmask.knowledge.schema import EntityDocument, SlotDocument, TypeDocument, ValueDocument, WorldDocument, folded
from unmask.knowledge.world import ValueKind

LEAF = (str, int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record and its line; in JSON that is no JSONL, its number."""

    line: int
    fields: dict[str, object]


def import_records(file: Path, mapping: Mapping) -> Imported:
    """Read records: one JSON list, one JSON mapping whose values are records, or one record a line.

    Raises:
        ConfigError: the file holds no records.
        WorldError: records lack what the mapping asks of them; every one is named with its line.
    """
    return _Import(file, mapping).world(_records(file))


def _records(file: Path) -> Iterator[Record]:
    content = read_bytes(file)
    if file.suffix in {".jsonl", ".ndjson"}:
        for number, line in enumerate(content.splitlines(), start=1):
            if not line.strip():
                continue
            try:
                yield Record(line=number, fields=_fields(file, number, orjson.loads(line)))
            except orjson.JSONDecodeError as error:
                raise ConfigError(f"{file}:{number}: it is no JSON: {error.msg}") from error
        return
    value = read_json(file, content)
    if isinstance(value, dict) and not all(isinstance(item, dict) for item in value.values()):
        raise ConfigError(f"{file} holds one mapping, allowed: a list of records, or records by name")
    items = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise ConfigError(f"{file} holds {shown(value)}, allowed: a list of records")
    for number, item in enumerate(items, start=1):
        yield Record(line=number, fields=_fields(file, number, item))


def _fields(file: Path, number: int, item: object) -> dict[str, object]:
    if not isinstance(item, dict):
        raise ConfigError(f"{file}: record {number} is {shown(item)}, allowed: a mapping of fields")
    return item


def _at(value: object, path: str) -> object:
    """Return what a path leads to, or ``None``; a field whose own name has dots goes first."""
    if isinstance(value, dict) and path in value:
        found: object = value[path]
        return found
    head, _, rest = path.partition(".")
    if isinstance(value, list) and head.isdecimal() and int(head) < len(value):
        inner: object = value[int(head)]
    elif isinstance(value, dict) and head in value:
        inner = value[head]
    else:
        return None
    return _at(inner, rest) if rest else inner


class _Import:
    """One import under way."""

    def __init__(self, file: Path, mapping: Mapping) -> None:
        self.file = file
        self.mapping = mapping
        self.faults: list[Fault] = []
        self.words: dict[str, dict[str, str]] = {}
        self._names: dict[tuple[str, str], Record] = {}
        self._left: Counter[str] = Counter()
        self._words_by_text: dict[str, str] = {}
        self._ids_by_text: dict[str, str] = {}

    def world(self, records: Iterator[Record]) -> Imported:
        """Build the world."""
        mapping = self.mapping
        named: dict[str, Record] = {}
        for record in records:
            self._name(record, named)
        entities = {key: entity for key, record in named.items() if (entity := self._entity(record)) is not None}
        if self.faults:
            raise WorldError(self.file, self.faults)
        notes = [f"fields of records, left out: {', '.join(f'{name} ({n})' for name, n in sorted(self._left.items()))}"]
        try:
            head = WorldDocument(
                id=mapping.world.id,
                title=mapping.world.title,
                languages=list(mapping.names),
                types={mapping.type: TypeDocument(slots={name: self._slot(name) for name in mapping.slots})},
                words=self.words,
            )
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False)[0]
            where = ".".join(map(str, found["loc"]))
            raise ConfigError(f"{self.file}: {where} is {shown(found['input'])}: {found['msg']}") from error
        return Imported(head=head, entities=entities, notes=tuple(notes if self._left else ()))

    def _name(self, record: Record, named: dict[str, Record]) -> None:
        """Give a record its id, and note what others may call it by."""
        first = self._text(record, next(iter(self.mapping.names.values())), needed=True)
        if first is None:
            return
        given = self._text(record, self.mapping.id, needed=True) if self.mapping.id else None
        key = id_of(given) if given else free_id(first, named, f"record-{record.line}")
        if key in named:
            self._refuse(record, f"the id {key} is that of the record at {named[key].line}")
            return
        named[key] = record
        for text in (first, given):
            if text:
                self._ids_by_text.setdefault(folded(text), key)

    def _entity(self, record: Record) -> EntityDocument | None:
        mapping = self.mapping
        named = {code: self._text(record, path, needed=True) for code, path in mapping.names.items()}
        names = {code: name for code, name in named.items() if name}
        own = {folded(name) for name in names.values()}
        for code, name in names.items():
            other = self._names.setdefault((code, folded(name)), record)
            if other is not record:
                self._refuse(record, f"the name {shown(name)} is that of the record at {other.line}, in {code}")
        aliases = {code: self._aliases(record, paths, own) for code, paths in mapping.aliases.items()}
        slots = {name: values for name, slot in mapping.slots.items() if (values := self._values(record, name, slot))}
        note = self._text(record, mapping.note) if mapping.note else None
        self._tell_left(record)
        try:
            return EntityDocument(
                type=mapping.type,
                names=names,
                aliases={code: texts for code, texts in aliases.items() if texts},
                note=note,
                slots=slots,
            )
        except ValidationError as error:
            for found in error.errors(include_url=False, include_context=False):
                where = ".".join(map(str, found["loc"]))
                self._refuse(record, f"{where} is {shown(found['input'])}: {found['msg']}")
            return None

    def _aliases(self, record: Record, paths: list[str], own: set[str]) -> list[str]:
        found: dict[str, str] = {}
        for path in paths:
            value = _at(record.fields, path)
            for item in value if isinstance(value, list) else [value]:
                text = line_of(item) if isinstance(item, str) else ""
                if text and folded(text) not in own:
                    found.setdefault(folded(text), text)
                elif item is not None and not isinstance(item, str):
                    self._refuse(record, f"{path} holds {shown(item)}, allowed: texts, for aliases")
        return list(found.values())

    def _values(self, record: Record, name: str, slot: MappedSlot) -> list[ValueDocument]:
        value = _at(record.fields, slot.field)
        if value is None or value in ("", []):
            return []
        items = value if isinstance(value, list) else [value]
        if slot.separator:
            items = [
                part for item in items for part in (item.split(slot.separator) if isinstance(item, str) else [item])
            ]
        written: dict[object, None] = {}
        for item in items:
            written.update(dict.fromkeys(self._written(record, name, slot, item)))
        if len(written) > 1 and not slot.many:
            self._refuse(
                record, f"{slot.field} has {len(written)} values, and {name} holds one; map it with many: true"
            )
        return [ValueDocument(value=item) for item in written]

    def _written(self, record: Record, name: str, slot: MappedSlot, item: object) -> list[object]:
        """Return what one item becomes; a long text may become several."""
        if not isinstance(item, LEAF) or isinstance(item, bool):
            self._refuse(record, f"{slot.field} holds {shown(item)}, allowed: a text or number; lead into it with dots")
            return []
        match slot.kind:
            case ValueKind.NUMBER:
                return self._number(record, name, slot, item)
            case ValueKind.TEXT:
                lines = list(paragraphs(str(item)))
                return list(lines) if slot.many else [" ".join(lines)] if lines else []
            case ValueKind.WORD:
                return [self._word(line_of(str(item)))] if line_of(str(item)) else []
            case ValueKind.ENTITY:
                return self._reference(record, slot, item)
            case _:
                assert_never(slot.kind)

    def _number(self, record: Record, name: str, slot: MappedSlot, item: object) -> list[object]:
        if isinstance(item, str):
            self._refuse(record, f"{slot.field} is {shown(item)}, allowed: a number, for {name}")
            return []
        return [item]

    def _reference(self, record: Record, slot: MappedSlot, item: object) -> list[object]:
        key = self._ids_by_text.get(folded(str(item)))
        if key is None:
            self._refuse(record, f"{slot.field} is {shown(item)}, allowed: the id or name of a record")
            return []
        return [key]

    def _word(self, text: str) -> str:
        """Return the vocabulary's key of a text; other languages have what the mapping says, else the same text."""
        key = self._words_by_text.get(folded(text))
        if key is None:
            key = free_id(text, self.words, "word")
            self._words_by_text[folded(text)] = key
            first, *others = self.mapping.names
            known = self.mapping.words
            self.words[key] = {first: text} | {code: known.get(code, {}).get(text, text) for code in others}
        return key

    def _text(self, record: Record, path: str, *, needed: bool = False) -> str | None:
        value = _at(record.fields, path)
        text = line_of(str(value)) if isinstance(value, LEAF) and not isinstance(value, bool) else ""
        if not text and (needed or value is not None):
            self._refuse(record, f"{path} is {shown(value)}, allowed: a text that is not empty")
        return text or None

    def _tell_left(self, record: Record) -> None:
        mapping = self.mapping
        used = {*mapping.names.values(), *(path for paths in mapping.aliases.values() for path in paths)}
        used |= {slot.field for slot in mapping.slots.values()} | set(mapping.ignore)
        used |= {path for path in (mapping.id, mapping.note) if path}
        heads = used | {path.partition(".")[0] for path in used}
        self._left.update(name for name in record.fields if name not in heads)

    def _slot(self, name: str) -> SlotDocument:
        slot = self.mapping.slots[name]
        asked = {code: slot.asked_by.get(code) or [name.replace("_", " ")] for code in self.mapping.names}
        return SlotDocument(
            kind=slot.kind, many=slot.many, refers_to=slot.refers_to, identity=slot.identity, asked_by=asked
        )

    def _refuse(self, record: Record, message: str) -> None:
        self.faults.append(Fault(file=self.file.name, line=record.line, message=message))
