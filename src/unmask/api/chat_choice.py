"""Choices of ``/v1/chat/completions``."""

from unmask.api.finished import FinishedChoice
from unmask.api.logprobs import chat_logprobs
from unmask.api.shape import AnswerShape, Json
from unmask.backend import CommitEvent, TokenLogprob


class ChatChoice:
    """Writes messages, and deltas of them."""

    def __init__(self, *, index: int, echo: str, logprobs: bool) -> None:
        self._index = index
        self._echo = echo
        self._asked = logprobs

    def whole(self, choice: FinishedChoice) -> Json:
        """Write the message."""
        generation = choice.generation
        return {
            "index": self._index,
            "message": {"role": "assistant", "content": self._echo + generation.text, "refusal": None},
            "logprobs": self._logprobs(generation.logprobs),
            "finish_reason": choice.finish_reason.value,
        }

    def opening(self) -> Json:
        """Write whose message it is."""
        return self._delta({"role": "assistant", "content": self._echo, "refusal": None})

    def part(self, event: CommitEvent) -> Json:
        """Write the next piece of text."""
        return self._delta({"content": event.text}, logprobs=self._logprobs(event.logprobs))

    def closing(self, choice: FinishedChoice) -> Json:
        """Write why the text has ended."""
        return self._delta({}, finish_reason=choice.finish_reason.value)

    def _delta(self, delta: Json, *, logprobs: Json | None = None, finish_reason: str | None = None) -> Json:
        return {"index": self._index, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}

    def _logprobs(self, tokens: tuple[TokenLogprob, ...]) -> Json | None:
        return chat_logprobs(tokens) if self._asked else None


CHAT_SHAPE = AnswerShape(
    id_prefix="chatcmpl-", whole="chat.completion", chunk="chat.completion.chunk", writer=ChatChoice
)
