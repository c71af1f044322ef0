"""Holds what was said against a world: true, false, or nothing that the world can tell."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.gate.reading.normal import normalised, text_f1
from unmask.gate.reading.said import Said, Stance, Tense
from unmask.gate.reading.setting import Asked, Setting
from unmask.knowledge.world import Statement, ValueKind


class Truth(StrEnum):
    """What the world makes of a claim."""

    TRUE = "true"
    FALSE = "false"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A claim held against the world.

    Attributes:
        statements: ids of the statements that it says, if it is true.
    """

    truth: Truth
    statements: tuple[str, ...] = ()
    why: str


_CLOSED = frozenset({ValueKind.WORD, ValueKind.ENTITY})
"""Kinds of slots whose values the world lists, so that another value is false; a text may be put in many ways."""


def held(setting: Setting, asked: Asked, said: Said) -> Held:
    """Hold a claim against the world.

    A claim that a clause does not make in so many words (`Said.firm`) is never false. What was and no more holds is
    false where it is said of today, and what holds is false where it is said to be over. What answers a question about
    the past is said of then.
    """
    words = f"{said.subject} {said.slot} {said.text}"
    known = _statements(setting, said)
    if said.stance is Stance.DENIED:
        current = [statement for statement in known if statement.validity.is_current]
        if current and said.firm and said.tense in {Tense.PRESENT, Tense.UNSAID} and not asked.is_past:
            return Held(truth=Truth.FALSE, why=f"denies {current[0].id}")
        return Held(truth=Truth.OPEN, why=f"denied: {words}")
    fitting = [statement for statement in known if _fits(said, statement, asked)]
    if fitting:
        return Held(truth=Truth.TRUE, statements=tuple(one.id for one in fitting), why=words)
    if not said.firm or not _is_closed(setting, said):
        return Held(truth=Truth.OPEN, why=f"cannot be told: {words}")
    if known:
        return Held(truth=Truth.FALSE, why=f"not so at the time said: {known[0].id} ({said.tense})")
    return Held(truth=Truth.FALSE, why=f"not in the world: {words}")


def says_text(setting: Setting, statement: Statement, sentences: tuple[str, ...], similar: float) -> bool:
    """Whether a sentence says a free text or number, without more negations than the text has itself."""
    negations = setting.words.negations
    own = len(negations.findall(normalised(statement.value)))
    return any(
        text_f1(statement.value, sentence) >= similar and len(negations.findall(sentence)) <= own
        for sentence in sentences
    )


def _statements(setting: Setting, said: Said) -> list[Statement]:
    return [
        statement
        for statement in setting.world.statements.values()
        if statement.subject == said.subject and statement.slot == said.slot and statement.value in said.values
    ]


def _fits(said: Said, statement: Statement, asked: Asked) -> bool:
    match said.tense:
        case Tense.PAST:
            return True
        case Tense.ENDED:
            return not statement.validity.is_current
        case Tense.PRESENT:
            # Asked who ruled then, "it is Velka" speaks of then.
            return statement.validity.is_current or (asked.is_past and said.slot in asked.slots)
        case Tense.UNSAID:
            return asked.is_past or statement.validity.is_current


def _is_closed(setting: Setting, said: Said) -> bool:
    slot = setting.slot(said.subject, said.slot)
    # An entity that there is not, or a slot that it has not, has no value that would be right.
    return slot is None or slot.kind in _CLOSED
