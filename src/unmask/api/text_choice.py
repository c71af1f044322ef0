"""Choices of ``/v1/completions``."""

from unmask.api.finished import FinishedChoice
from unmask.api.logprobs import TextLogprobs
from unmask.api.shape import AnswerShape, Json
from unmask.backend import CommitEvent, TokenLogprob


class TextChoice:
    """Writes texts, and pieces of them."""

    def __init__(self, *, index: int, echo: str, logprobs: bool) -> None:
        self._index = index
        self._echo = echo
        self._tokens = TextLogprobs(len(echo)) if logprobs else None

    def whole(self, choice: FinishedChoice) -> Json:
        """Write the text."""
        generation = choice.generation
        logprobs = self._logprobs(generation.logprobs)
        return self._choice(self._echo + generation.text, logprobs, choice.finish_reason.value)

    def opening(self) -> Json | None:
        """Write the echo, if there is one."""
        return self._choice(self._echo) if self._echo else None

    def part(self, event: CommitEvent) -> Json:
        """Write the next piece of text."""
        return self._choice(event.text, self._logprobs(event.logprobs))

    def closing(self, choice: FinishedChoice) -> Json:
        """Write why the text has ended."""
        return self._choice("", finish_reason=choice.finish_reason.value)

    def _choice(self, text: str, logprobs: Json | None = None, finish_reason: str | None = None) -> Json:
        return {"index": self._index, "text": text, "logprobs": logprobs, "finish_reason": finish_reason}

    def _logprobs(self, tokens: tuple[TokenLogprob, ...]) -> Json | None:
        return None if self._tokens is None else self._tokens.write(tokens)


TEXT_SHAPE = AnswerShape(id_prefix="cmpl-", whole="text_completion", chunk="text_completion", writer=TextChoice)
