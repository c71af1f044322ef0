"""What was read out of an answer."""

from dataclasses import dataclass
from enum import StrEnum


class Stance(StrEnum):
    """How a claim stands in an answer."""

    STATED = "stated"
    DENIED = "denied"


class Tense(StrEnum):
    """When a claim is said to hold: now, once, once and no more; an answer of a bare name says nothing of it."""

    PRESENT = "present"
    PAST = "past"
    ENDED = "ended"
    UNSAID = "unsaid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A claim as an answer makes it.

    Attributes:
        subject: id of an entity, or the name as written where it is nobody's.
        values: what the value as written may mean, ids and keys; empty where it means nothing in the world.
        text: the value as written.
        firm: whether the sentence says it in so many words. What is not firm may count for an answer, never against it.
    """

    subject: str
    slot: str
    values: frozenset[str]
    text: str
    stance: Stance
    tense: Tense
    firm: bool
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The answer says that it does not know; ``slot`` is ``None`` where it does not say what."""

    subject: str
    slot: str | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """The answer says that something is wrong; bare where it names no value.

    Attributes:
        exact: whether it is a sentence of the grammar, which says no more than that.
    """

    values: frozenset[str]
    text: str
    sentence: str
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that was read out of an answer.

    Attributes:
        affirms: whether it begins by agreeing with what was asked.
        unread: sentences of which nothing was read.
    """

    said: tuple[Said, ...] = ()
    admissions: tuple[Admission, ...] = ()
    denials: tuple[Denial, ...] = ()
    affirms: bool = False
    sentences: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Whether there are sentences and nothing was read of any."""
        return bool(self.sentences) and len(self.unread) == len(self.sentences)
