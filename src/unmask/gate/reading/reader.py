"""Reads an answer: each sentence by the grammar of the embedded models where it is of it, as prose where not."""

from dataclasses import dataclass

from unmask.gate.reading.clause import Clause, cued_slots, read_clause
from unmask.gate.reading.grammar import Exact, is_of_grammar, manner_sentences, read_exact
from unmask.gate.reading.mentions import Masked
from unmask.gate.reading.normal import normalised, sentences_of
from unmask.gate.reading.said import Admission, Denial, Reading, Said
from unmask.gate.reading.setting import Asked, Setting, asked_of

MAX_TEXT = 20_000
"""Characters that are read; nobody's answer in a dialogue is longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    said: tuple[Said, ...] = ()
    admissions: tuple[Admission, ...] = ()
    denials: tuple[Denial, ...] = ()
    subject: str
    other: str | None

    @property
    def says_nothing(self) -> bool:
        return not (self.said or self.admissions or self.denials)


def read(setting: Setting, speaker: str, question: str, text: str) -> Reading:
    """Read an answer to a question by ``speaker``, the id of an entity."""
    sentences = sentences_of(normalised(text[:MAX_TEXT]))
    content = [sentence for sentence in sentences if sentence not in manner_sentences()]
    asked = asked_of(setting, speaker, question)
    names = [setting.names.mask(sentence, with_words=False) for sentence in content]
    whole = all(is_of_grammar(sentence, masked) for sentence, masked in zip(content, names, strict=True))
    subject, parts, unread = asked.subject, [], []
    other = next(iter(asked.others)) if len(asked.others) == 1 else None
    for sentence, masked in zip(content, names, strict=True):
        exact = read_exact(setting, speaker, sentence, masked, whole=whole)
        part = _prose(setting, asked, sentence, subject, other) if exact is None else _exact(exact, subject, other)
        subject, other = part.subject, _last_named(setting, speaker, part) or other
        parts.append(part)
        if part.says_nothing and setting.words.affirmations.match(sentence) is None:
            unread.append(sentence)
    return Reading(
        said=tuple(one for part in parts for one in part.said),
        admissions=tuple(one for part in parts for one in part.admissions),
        denials=tuple(one for part in parts for one in part.denials),
        affirms=bool(content) and setting.words.affirmations.match(content[0]) is not None,
        sentences=sentences,
        unread=tuple(unread),
    )


def _exact(exact: Exact, subject: str, other: str | None) -> _Sentence:
    return _Sentence(
        said=exact.said,
        admissions=() if exact.admission is None else (exact.admission,),
        denials=() if exact.denial is None else (exact.denial,),
        subject=exact.said[-1].subject if exact.said else subject,
        other=other,
    )


def _last_named(setting: Setting, speaker: str, part: _Sentence) -> str | None:
    """Return who the next "she" is: the last that a claim of this sentence is about, or names as its value."""
    for said in reversed(part.said):
        for one in (*sorted(said.values), said.subject):
            entity = setting.world.entities.get(one)
            if entity is not None and one != speaker and setting.world.types[entity.type].slots:
                return one
    return None


def _prose(setting: Setting, asked: Asked, sentence: str, subject: str, other: str | None) -> _Sentence:
    """Read a sentence clause by clause; a question states nothing."""
    if sentence.rstrip("\"')").endswith(("?", "？")):
        return _Sentence(subject=subject, other=other)
    masked = setting.names.mask(sentence)
    said: list[Said] = []
    admissions: list[Admission] = []
    denials: list[Denial] = []
    clauses = _clauses(setting, masked)
    slots = next(filter(None, (cued_slots(setting, text) for text in clauses)), frozenset[str]())
    for text in clauses:
        clause = Clause(text=text, sentence=sentence, masked=masked, subject=subject, other=other, slots=slots)
        found = read_clause(setting, asked, clause)
        if setting.words.admissions.search(text):
            names = found.slots or asked.slots
            admissions += [Admission(subject=found.subject, slot=slot, sentence=sentence) for slot in sorted(names)]
            admissions += [] if names else [Admission(subject=found.subject, slot=None, sentence=sentence)]
            continue
        said += found.said
        if found.negated or setting.words.denials.match(text):
            denials.append(_denial(masked, text, sentence))
        subject, slots = found.subject, found.slots
    return _Sentence(
        said=tuple(said), admissions=tuple(admissions), denials=tuple(denials), subject=subject, other=other
    )


def _denial(masked: Masked, text: str, sentence: str) -> Denial:
    mentions = masked.in_part(text)
    return Denial(
        values=frozenset(value for mention in mentions for value in mention.values),
        text=", ".join(mention.text for mention in mentions),
        sentence=sentence,
    )


def _clauses(setting: Setting, masked: Masked) -> tuple[str, ...]:
    """Split a sentence into clauses; what parts two stays with the first, as its ending may deny it."""
    parts: list[str] = []
    start = 0
    for found in setting.words.breaks.finditer(masked.text):
        parts.append(masked.text[start : found.end()].strip())
        start = found.end()
    parts.append(masked.text[start:].strip())
    return tuple(part for part in parts if part)
