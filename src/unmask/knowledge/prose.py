"""A fact as one short sentence, in English and Korean; in other languages as name, slot and value."""

from collections.abc import Mapping
from types import MappingProxyType

from unmask.knowledge.korean import particle
from unmask.knowledge.world import Misconception, Statement, World

_KOREAN: Mapping[str, str] = MappingProxyType({
    "role": "역할", "home": "사는 곳", "affiliation": "소속", "ally": "동료", "rival": "숙적",
    "state": "상태", "possession": "소지품", "era": "시대", "sealed_by": "봉인한 자",
    "mentor": "스승", "craft": "기술", "persona": "성격",
})  # fmt: skip
"""What the slots that our own models know are called in Korean."""
_ENGLISH: Mapping[str, str] = MappingProxyType({"sealed_by": "sealer"})


_SENTENCE_ENDS = (".", "!", "?", "…", "。")


class Writer:
    """Writes the records of a world in one of its languages."""

    def __init__(self, world: World, language: str) -> None:
        self._world = world
        self._language = language

    def statement(self, statement: Statement) -> str:
        """Return a statement as a sentence; what ended says when, or that it did."""
        name = self._name(statement.subject)
        value = self._world.text_of(statement.subject, statement.slot, statement.value, self._language)
        validity = statement.validity
        return self._sentence(name, self._label(statement), value, until=validity.until, since=validity.since)

    def misconception(self, misconception: Misconception) -> str:
        """Return the denial of a misconception, and whom the subject is mistaken for."""
        name = self._name(misconception.subject)
        value = self._world.text_of(misconception.subject, misconception.slot, misconception.claimed, self._language)
        label = self._label(misconception)
        other = None if misconception.confused_with is None else self._name(misconception.confused_with)
        match self._language:
            case "en":
                mistaken = f"{name} is not {other}. " if other else ""
                return f"{mistaken}The {label} of {name} is not {value}."
            case "ko":
                mistaken = f"{name}{_topic(name)} {other}{particle(other, '과', '와')} 다르다. " if other else ""
                return f"{mistaken}{name}의 {label}{_topic(label)} {value}{particle(value, '이', '가')} 아니다."
            case _:
                return f"{name} – {label} ≠ {value}"

    def _sentence(self, name: str, label: str, value: str, *, since: str | None, until: str | None) -> str:
        # A value that is a sentence already is no part of another.
        match None if value.endswith(_SENTENCE_ENDS) else self._language:
            case "en":
                verb = "is" if until is None else "was"
                when = (f" since {since}" if until is None else f" from {since}") if since else ""
                return f"The {label} of {name} {verb} {value}{when}{f' until {until}' if until else ''}."
            case "ko":
                when = f"{since}부터 " if since else ""
                when += f"{until}까지 " if until else ""
                verb = particle(value, "이다", "다") if until is None else particle(value, "이었다", "였다")
                return f"{when}{name}의 {label}{_topic(label)} {value}{verb}."
            case _:
                when = f" ({since or ''}–{until or ''})" if since or until else ""
                return f"{name} – {label}: {value}{when}"

    def _name(self, entity: str) -> str:
        return self._world.entities[entity].names[self._language]

    def _label(self, record: Statement | Misconception) -> str:
        if self._language == "ko" and record.slot in _KOREAN:
            return _KOREAN[record.slot]
        spelt = record.slot.replace("_", " ")
        if self._language == "en":
            return _ENGLISH.get(record.slot, spelt)
        asked_by = self._world.slot_of(record.subject, record.slot).asked_by.get(self._language, ())
        return asked_by[0] if asked_by else spelt


def _topic(word: str) -> str:
    return particle(word, "은", "는")
