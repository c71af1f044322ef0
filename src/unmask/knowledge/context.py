"""What a question's prompt carries from a world, and why."""

from dataclasses import dataclass
from enum import StrEnum


class Form(StrEnum):
    """How facts are written into a prompt.

    ``cards`` and ``triples`` are the two renderings of `unmask.cards`, which the embedded models read; ``prose`` is
    sentences, for large models.
    """

    CARDS = "cards"
    TRIPLES = "triples"
    PROSE = "prose"


class Reason(StrEnum):
    """Why a fact was put into a prompt."""

    PINNED = "pinned"
    ASKED = "asked"
    NEIGHBOUR = "neighbour"
    SIMILAR = "similar"
    CORRECTION = "correction"
    CARRIED = "carried"
    NAIVE = "naive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A statement or misconception in a prompt.

    Attributes:
        id: of a statement or misconception of the world.
        score: what it was ranked by, higher first; 1 for what is never ranked.
        tokens: what it adds to the prompt.
    """

    id: str
    reason: Reason
    score: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The knowledge part of one prompt.

    Attributes:
        entities: ids of the entities that the question was linked to.
        facts: in the order they are written.
        dropped: ids of what would have been next had the token budget allowed it.
        text: the facts as written.
        tokens: of the text.
        left_out: ids of facts that the form cannot write: those on slots that `unmask.cards.SLOTS` lacks.
        focus: ids of the entities that a follow-up may point at, what the question led to first.
        asked: slots that the question asked for in the end.
    """

    world: str
    language: str
    form: Form
    entities: tuple[str, ...]
    facts: tuple[Injected, ...]
    dropped: tuple[str, ...]
    text: str
    tokens: int
    left_out: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
