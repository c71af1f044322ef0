"""From finished generations to an answer, whole or in chunks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unmask.api.call import Call
from unmask.api.costs import cost_usage
from unmask.api.finished import FinishedChoice
from unmask.api.routed import route_of
from unmask.api.shape import AnswerShape, ChoiceWriter, Json
from unmask.api.usage import choice_diffusion, usage
from unmask.control.answered import Answered
from unmask.ledger.settlement import Settled
from unmask.types import Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one call: what it says of itself beside its choices.

    Attributes:
        verified: told what the verifiers say of each choice.
        settled: tells what the call cost; nothing where nothing is booked.
        decided: told of each choice, where anybody wants to know.
    """

    id: str
    created: int
    call: Call
    shape: AnswerShape
    verified: Callable[[Verification], None]
    settled: Callable[[], Settled | None]
    decided: Callable[[FinishedChoice], None] | None = None

    def finish(self, answered: Answered) -> FinishedChoice:
        """Return a choice that is decided, once: what its verifiers say is counted."""
        choice = FinishedChoice(answered=answered)
        self.verified(choice.verify)
        if self.decided is not None:
            self.decided(choice)
        return choice

    def writers(self) -> tuple[ChoiceWriter, ...]:
        """Return a new writer for every choice, in their order."""
        return tuple(
            self.shape.writer(index=index, echo=echo, logprobs=request.top_logprobs is not None)
            for index, (request, echo) in enumerate(zip(self.call.requests, self.call.echoes, strict=True))
        )

    def whole(self, choices: Sequence[FinishedChoice]) -> Json:
        """Write all of it."""
        written = [
            self.with_diffusion(writer.whole(choice), index, choice)
            for index, (writer, choice) in enumerate(zip(self.writers(), choices, strict=True))
        ]
        return {**self._envelope(self.shape.whole, written), "usage": self._usage(choices)}

    def chunk(self, *choices: Json) -> Json:
        """Write a chunk of a stream; it says nothing of what the call costs, and that it does not where asked to."""
        chunk = self._envelope(self.shape.chunk, choices)
        return {**chunk, "usage": None} if self.call.include_usage else chunk

    def usage_chunk(self, choices: Sequence[FinishedChoice]) -> Json:
        """Write the chunk that says what the call has cost."""
        return {**self._envelope(self.shape.chunk, ()), "usage": self._usage(choices)}

    def with_diffusion(self, written: Json, index: int, choice: FinishedChoice) -> Json:
        """Add what a finished choice has cost, where ``usage`` says it of several together only."""
        if len(self.call.requests) == 1:
            return written
        admitted = self.call.admitted[index]
        given = choice_diffusion(choice, admitted)
        return {**written, "diffusion": {**given, **route_of(admitted, choice.answered)}}

    def _usage(self, choices: Sequence[FinishedChoice]) -> Json:
        return {**usage(self.call, choices), **cost_usage(self.settled())}

    def _envelope(self, kind: str, choices: Sequence[Json]) -> Json:
        envelope: Json = {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.call.model.name,
            "system_fingerprint": self.call.model.digest,
            "choices": choices,
        }
        tier = self.call.service_tier
        return envelope if tier is None else {**envelope, "service_tier": tier}
