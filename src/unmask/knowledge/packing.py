"""Facts as a prompt carries them, as many as its tokens allow."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from unmask.cards import SLOTS, Fact, render_cards, render_triples
from unmask.knowledge.context import Form, Injected, Reason
from unmask.knowledge.prose import Writer
from unmask.knowledge.retrieval_errors import BudgetTooSmallError
from unmask.knowledge.token_count import TokenCounter
from unmask.knowledge.world import Misconception, Statement, World

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A fact that a prompt should carry, and why."""

    record: Statement | Misconception
    reason: Reason
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What fitted: the fields of a `unmask.knowledge.context.Context` of the same names."""

    facts: tuple[Injected, ...]
    dropped: tuple[str, ...]
    left_out: tuple[str, ...]
    text: str
    tokens: int


def one_word(text: str) -> str:
    """Return a name or value as one word of a card: each space in it becomes a hyphen."""
    return _SPACE.sub("-", text.strip())


class Packer:
    """Writes facts of one world in one language and form."""

    def __init__(self, world: World, language: str, form: Form, count_tokens: TokenCounter) -> None:
        self._world = world
        self._language = language
        self._form = form
        self._count = count_tokens
        self._writer = Writer(world, language)

    def can_write(self, record: Statement | Misconception) -> bool:
        """Tell whether the form has a way to write a record."""
        return self._form is Form.PROSE or record.slot in SLOTS

    def text(self, records: Iterable[Statement | Misconception]) -> str:
        """Write records in the order given; cards put those of one subject together."""
        match self._form:
            case Form.CARDS:
                return render_cards(map(self._fact, records))
            case Form.TRIPLES:
                return render_triples(map(self._fact, records))
            case Form.PROSE:
                return "\n".join(map(self._sentence, records))
            case _:
                assert_never(self._form)

    def pack(self, wanted: Sequence[Wanted], budget: int | None) -> Packed:
        """Write what is wanted, in rank order, as long as it fits; pinned facts have to.

        Facts of one subject stand together, subjects in order of their first fact.

        Raises:
            BudgetTooSmallError: the pinned facts alone take more tokens than the budget.
        """
        writable = [want for want in wanted if self.can_write(want.record)]
        taken: list[Wanted] = []
        dropped: list[str] = []
        tokens: dict[str, int] = {}
        total = 0
        for want in writable:
            size = self._count(self.text(_grouped([*taken, want])))
            if budget is not None and size > budget:
                if want.reason is Reason.PINNED:
                    pinned = [one.record for one in _by_subject(writable) if one.reason is Reason.PINNED]
                    raise BudgetTooSmallError(self._count(self.text(pinned)), len(pinned), budget)
                dropped.append(want.record.id)
                continue
            taken.append(want)
            tokens[want.record.id], total = size - total, size
        ordered = _by_subject(taken)
        return Packed(
            facts=tuple(
                Injected(id=one.record.id, reason=one.reason, score=one.score, tokens=tokens[one.record.id])
                for one in ordered
            ),
            dropped=tuple(dropped),
            left_out=tuple(want.record.id for want in wanted if not self.can_write(want.record)),
            text=self.text(one.record for one in ordered),
            tokens=total,
        )

    def _fact(self, record: Statement | Misconception) -> Fact:
        denied = isinstance(record, Misconception)
        value = record.claimed if isinstance(record, Misconception) else record.value
        text = self._world.text_of(record.subject, record.slot, value, self._language)
        subject = self._world.entities[record.subject].names[self._language]
        return Fact(subject=one_word(subject), slot=record.slot, value=one_word(text), denied=denied)

    def _sentence(self, record: Statement | Misconception) -> str:
        if isinstance(record, Misconception):
            return self._writer.misconception(record)
        return self._writer.statement(record)


def _by_subject(wanted: Iterable[Wanted]) -> list[Wanted]:
    groups: dict[str, list[Wanted]] = {}
    for want in wanted:
        groups.setdefault(want.record.subject, []).append(want)
    return [want for group in groups.values() for want in group]


def _grouped(wanted: Iterable[Wanted]) -> list[Statement | Misconception]:
    return [want.record for want in _by_subject(wanted)]
