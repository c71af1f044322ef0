"""What earlier turns of a conversation leave to a later one: facts already told, and whom it is about."""

from dataclasses import dataclass

from unmask.knowledge.context import Context, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The contexts of the turns so far, oldest first.

    Attributes:
        forgotten: how many of the earliest turns are no longer in what the model reads; their facts are told again
            when they are needed.
    """

    turns: tuple[Context, ...] = ()
    forgotten: int = 0

    def after(self, context: Context) -> "Conversation":
        """Return the conversation with one more turn."""
        return Conversation(turns=(*self.turns, context), forgotten=self.forgotten)

    def without(self, turns: int) -> "Conversation":
        """Return the conversation of which the model no longer reads the first so many turns."""
        return Conversation(turns=self.turns, forgotten=max(self.forgotten, turns))

    @property
    def told(self) -> frozenset[str]:
        """Return the ids of facts that the model still has before it."""
        return frozenset(
            fact.id
            for context in self.turns[self.forgotten :]
            for fact in context.facts
            if fact.reason is not Reason.CARRIED
        )

    @property
    def focus(self) -> tuple[str, ...]:
        """Return whom the last turn was about, what it led to first."""
        return self.turns[-1].focus if self.turns else ()

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the slots that the last turn ended its paths with."""
        return self.turns[-1].asked if self.turns else ()
