"""Reads sentences of the embedded models' grammar exactly, by `unmask.tasks.dialogue_grammar`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from unmask.gate.reading.mentions import Masked, Mention
from unmask.gate.reading.normal import key_of, sentences_of
from unmask.gate.reading.said import Admission, Denial, Said, Stance
from unmask.gate.reading.setting import Setting
from unmask.gate.reading.tense import tense_of
from unmask.knowledge.world import ValueKind
from unmask.tasks.dialogue_grammar import read_answer
from unmask.tasks.dialogue_phrases import MANNERS

_PRONOUNS = frozenset(
    {"he", "she", "it", "they", "this", "that", "there", "you", "we", "who", "what", "here", "his", "her"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """What a sentence says by the grammar; all empty for one that only keeps up a manner."""

    said: tuple[Said, ...] = ()
    admission: Admission | None = None
    denial: Denial | None = None


@cache
def manner_sentences() -> frozenset[str]:
    """Return every sentence that a manner's openings and closings are made of."""
    return frozenset(
        sentence
        for manner in MANNERS.values()
        for phrase in (*manner.openings, *manner.closings)
        for sentence in sentences_of(phrase)
    )


def read_exact(setting: Setting, speaker: str, sentence: str, masked: Masked, *, whole: bool) -> Exact | None:
    """Read one sentence, or return nothing where it is not of the grammar.

    Args:
        setting: the world in the answer's language.
        speaker: id of the entity that answers.
        sentence: as written.
        masked: the sentence with names as tokens.
        whole: whether all other sentences of the answer are of the grammar too. Only then is a lower-case word that
            the world does not know a value, and a wrong one: in prose, "I am here" says nothing of a state.
    """
    # A name of several words fits the grammar as one token only; an alias such as "the age of frost" fits it unmasked.
    plain = Masked(text=sentence, mentions={})
    found = [_read(setting, speaker, sentence, one, whole=whole) for one in (plain, masked)]
    read = [one for one in found if one is not None]
    return next((one for one in read if all(said.values for said in one.said)), read[0] if read else None)


def is_of_grammar(sentence: str, masked: Masked) -> bool:
    """Whether a sentence is of the grammar, as written or with its names as tokens."""
    return not all(read_answer(text, "").problem for text in (sentence, masked.text))


def _read(setting: Setting, speaker: str, sentence: str, masked: Masked, *, whole: bool) -> Exact | None:
    reading = read_answer(masked.text, "")
    if reading.problem:
        return None
    said: list[Said] = []
    for alternatives in reading.claims:
        read = [_claim(setting, speaker, claim, sentence, masked) for claim in sorted(alternatives)]
        kept = [one for one in read if one is not None and (whole or _is_known(setting, one))]
        if not kept:
            return None
        best = min(kept, key=lambda one: not _holds(setting, one))
        match best:
            case Admission():
                return Exact(admission=best)
            case Denial():
                return Exact(denial=best)
            case Said():
                said.append(best)
    return Exact(said=tuple(said))


def _claim(
    setting: Setting, speaker: str, claim: str, sentence: str, masked: Masked
) -> Said | Admission | Denial | None:
    match claim.split("|"):
        case ["first", slot, value]:
            return _said(setting, (speaker,), slot, value, sentence, masked)
        case ["third", subject, slot, value]:
            return _said(setting, _subjects(setting, subject, masked), slot, value, sentence, masked)
        case ["absent", slot]:
            return Admission(subject=speaker, slot=slot, sentence=sentence)
        case ["deny", wrong]:
            mention = _mention(setting, wrong, masked)
            return Denial(values=mention.values, text=mention.text, sentence=sentence, exact=True)
        case _:
            return None


def _said(
    setting: Setting, subjects: Sequence[str], slot: str, value: str, sentence: str, masked: Masked
) -> Said | None:
    mention = _mention(setting, value, masked)
    subject = next((one for one in subjects if _has(setting, one, slot, mention)), subjects[0])
    if subject.casefold() in _PRONOUNS or (subject not in setting.world.entities and not subject[:1].isupper()):
        return None
    known = setting.slot(subject, slot)
    return Said(
        subject=subject,
        slot=slot,
        values=mention.values if known is None else setting.fitting(known, mention),
        text=mention.text,
        stance=Stance.STATED,
        tense=tense_of(masked.text, setting.words),
        firm=True,
        sentence=sentence,
    )


def _mention(setting: Setting, text: str, masked: Masked) -> Mention:
    """Return the mention that a word of the grammar is, or a word of the vocabulary, or what means nothing."""
    if text in masked.mentions:
        return masked.mentions[text]
    alone = setting.names.mask(text, with_words=False)
    if alone.text in alone.mentions:
        return alone.mentions[alone.text]
    key = key_of(text)
    words = (word for word, texts in setting.world.words.items() if key in map(key_of, texts.values()))
    return Mention(token=text, text=text, words=frozenset(words))


def _subjects(setting: Setting, text: str, masked: Masked) -> Sequence[str]:
    return sorted(_mention(setting, text, masked).entities) or [text]


def _has(setting: Setting, subject: str, slot: str, mention: Mention) -> bool:
    return any(
        statement.subject == subject and statement.slot == slot and statement.value in mention.values
        for statement in setting.world.statements.values()
    )


def _is_known(setting: Setting, claim: Said | Admission | Denial) -> bool:
    """Whether prose that happens to fit the grammar means what the grammar means by it."""
    if not isinstance(claim, Said):
        return True
    slot = setting.slot(claim.subject, claim.slot)
    if slot is None:
        return False
    return bool(claim.values) or (slot.kind is ValueKind.ENTITY and claim.text[:1].isupper())


def _holds(setting: Setting, claim: Said | Admission | Denial) -> bool:
    return isinstance(claim, Said) and any(
        statement.subject == claim.subject and statement.slot == claim.slot and statement.value in claim.values
        for statement in setting.world.statements.values()
    )
