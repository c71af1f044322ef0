"""Reads one clause of prose: what it says of whom, denied or not, by templates, by cues, or by mention alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from unmask.gate.reading.mentions import ENTITY, MENTION, Masked, Mention
from unmask.gate.reading.phrases import KOREAN
from unmask.gate.reading.said import Said, Stance, Tense
from unmask.gate.reading.setting import Asked, Setting
from unmask.gate.reading.tense import tense_of
from unmask.knowledge.world import Slot, ValueKind

SHORT_WORDS = {"en": 4, "ko": 2}
"""A clause of no more words, and with no verb of its own, is the answer itself where it names what is asked for."""
_IT_IS = re.compile(r"(?:it|that)(?:'s| is| was) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause with mentions as tokens.

    Attributes:
        subject: of whom it speaks where it does not say; that of the clause before.
        other: whom "she" is, where that can be told.
        slots: of what it speaks where it has no cue; those of the clause before, within a sentence.
    """

    text: str
    sentence: str
    masked: Masked
    subject: str
    other: str | None = None
    slots: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseReading:
    """What a clause says, of whom and of which slots it speaks, and whether it denies."""

    said: tuple[Said, ...]
    subject: str
    slots: frozenset[str]
    negated: bool


def read_clause(setting: Setting, asked: Asked, clause: Clause) -> ClauseReading:
    """Read one clause."""
    words = setting.words
    gone = words.no_longer.search(clause.text) is not None
    negated = not gone and words.negations.search(clause.text) is not None
    subject, plainness = _subject(setting, asked, clause)
    cued = cued_slots(setting, clause.text)
    frame = _Frame(
        setting=setting,
        clause=clause,
        stance=Stance.DENIED if negated else Stance.STATED,
        tense=tense_of(clause.text, words),
    )
    said = list(frame.by_template(asked.speaker, subject))
    used = {(one.slot, one.text) for one in said}
    is_bare = _is_bare(clause.text, frame.tense, words.language)
    # "Not in Tulven" is of what its sentence is of; "and I once met Doran" is not.
    slots = cued or frozenset(one.slot for one in said) or (clause.slots if is_bare else frozenset())
    for name in sorted(slots):
        said += [one for one in frame.by_cue(subject, name, plainness) if (one.slot, one.text) not in used]
    if not said:
        said = list(frame.by_mention(subject, asked.slots, elliptic=not cued and is_bare and asked.is_plain))
    if words.reports.search(clause.text):
        # What others say is not what the answer says.
        said = []
    return ClauseReading(said=tuple(said), subject=subject, slots=slots or clause.slots, negated=negated)


def cued_slots(setting: Setting, text: str) -> frozenset[str]:
    """Return the slots that words of a clause tell."""
    return frozenset(name for name, found in setting.cues.items() if any(cue.search(text) for cue in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    setting: Setting
    clause: Clause
    stance: Stance
    tense: Tense

    def by_template(self, speaker: str, carried: str) -> Iterator[Said]:
        seen: set[tuple[str, str]] = set()
        for template in self.setting.words.templates:
            for found in template.pattern.finditer(self.clause.text):
                groups = found.groupdict()
                who = groups.get("s") or groups.get("p") or ""
                subject = self._whom(who, speaker, carried)
                tokens = [token for token in re.findall(MENTION, groups["v"]) if token != who]
                for said in self._of(subject, template.slot, tokens, firm=True):
                    if (said.slot, said.text) not in seen:
                        seen.add((said.slot, said.text))
                        yield said

    def by_cue(self, subject: str, name: str, plainness: "_Plainness") -> Iterator[Said]:
        tokens = re.findall(MENTION, self.clause.text)
        said = list(self._of(subject, name, tokens, firm=False))
        others = [token for token in tokens if token.startswith("Qe") and not self._is(token, subject)]
        # With a further name in it, who has what is a guess.
        firm = len(said) >= len(others) and self._is_firm(subject, name, plainness)
        for one in said:
            yield replace(one, firm=firm)

    def _is_firm(self, subject: str, name: str, plainness: "_Plainness") -> bool:
        """Whether the subject is who has the value, and not who is it: "Velka sealed Oru" is of a slot of Oru's."""
        if plainness is not _Plainness.TOPIC:
            return plainness is _Plainness.PLAIN
        slot = self.setting.slot(subject, name)
        return slot is not None and self.setting.world.entities[subject].type not in slot.refers_to

    def by_mention(self, subject: str, asked: frozenset[str], *, elliptic: bool) -> Iterator[Said]:
        entity = self.setting.world.entities.get(subject)
        slots = self.setting.world.types[entity.type].slots if entity is not None else {}
        tokens = re.findall(MENTION, self.clause.text)
        for name, slot in slots.items():
            if name in asked or slot.kind is ValueKind.WORD:
                yield from self._of(subject, name, tokens, firm=elliptic and name in asked)

    def _of(self, subject: str, name: str, tokens: list[str], *, firm: bool) -> Iterator[Said]:
        slot = self.setting.slot(subject, name)
        if slot is None:
            return
        for token in tokens:
            mention = self.clause.masked.mentions[token]
            values = self._values(slot, mention, subject)
            if values:
                yield Said(
                    subject=subject,
                    slot=name,
                    values=values,
                    text=mention.text,
                    stance=self.stance,
                    tense=self.tense,
                    firm=firm,
                    sentence=self.clause.sentence,
                )

    def _values(self, slot: Slot, mention: Mention, subject: str) -> frozenset[str]:
        return self.setting.fitting(slot, mention) - {subject}

    def _is(self, token: str, subject: str) -> bool:
        return subject in self.clause.masked.mentions[token].entities

    def _whom(self, who: str, speaker: str, carried: str) -> str:
        if who in self.clause.masked.mentions:
            return min(self.clause.masked.mentions[who].entities, default=carried)
        if self.setting.words.first_person.search(who):
            return speaker
        return carried if carried != speaker else self.clause.other or ""


class _Plainness(Enum):
    """How a clause says of whom it speaks: as owner or speaker, as its topic, or by nothing but the order of names."""

    PLAIN = auto()
    TOPIC = auto()
    ORDER = auto()


def _subject(setting: Setting, asked: Asked, clause: Clause) -> tuple[str, _Plainness]:
    """Return of whom a clause speaks, and how it says so."""
    korean = setting.words.language == KOREAN
    owner = rf"({ENTITY})의" if korean else rf"({ENTITY})'s|\bof ({ENTITY})"
    topic = rf"({ENTITY})(?:은|는|이|가|도|께서)(?!\w)" if korean else rf"^\W*({ENTITY})(?= [a-z])(?! and\b)"
    if found := re.search(owner, clause.text):
        return _entity(clause, next(filter(None, found.groups())), clause.subject), _Plainness.PLAIN
    if setting.words.first_person.search(clause.text):
        return asked.speaker, _Plainness.PLAIN
    if setting.words.third_person.search(clause.text):
        if clause.other is not None:
            return clause.other, _Plainness.PLAIN
        return clause.subject, _Plainness.ORDER
    if found := re.search(topic, clause.text):
        token = next(filter(None, found.groups()))
        others = [other for other in re.findall(MENTION, clause.text) if other != token]
        if others:
            return _entity(clause, token, clause.subject), _Plainness.TOPIC if korean else _Plainness.ORDER
    return clause.subject, _Plainness.PLAIN


def _entity(clause: Clause, token: str, otherwise: str) -> str:
    return min(clause.masked.mentions[token].entities, default=otherwise)


def _is_bare(text: str, tense: Tense, language: str) -> bool:
    """Whether a clause is a value and nothing else, such as "In Miven, then" or "It was Velka"."""
    if language == KOREAN:
        return len(text.split()) <= SHORT_WORDS[KOREAN]
    without = _IT_IS.sub("", text)
    bare = without != text or tense is Tense.UNSAID
    return bare and len(without.split()) <= SHORT_WORDS["en"]
