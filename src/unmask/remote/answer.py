"""Reads one streamed answer out of bytes: its text as it comes, and what is known of it at the end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unmask.backend import Alternative, CommitEvent, TokenLogprob, Usage
from unmask.errors import shown
from unmask.remote.chunk import (
    Chunk,
    ChunkChoice,
    ChunkError,
    ErrorPart,
    LogprobPart,
    TopLogprob,
    UsagePart,
    read_chunk,
)
from unmask.remote.errors import (
    BrokenOffError,
    UpstreamErrorEventError,
    UpstreamProtocolError,
    UpstreamTooMuchError,
    WithheldError,
)
from unmask.remote.sse import EventEncodingError, EventReader, EventTooLargeError
from unmask.types import ExitReason, FinishReason

DONE = "[DONE]"
_FINISHES = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}
_WITHHELD = frozenset({"content_filter", "function_call", "tool_calls"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is known of an answer before it comes.

    Attributes:
        upstream: named in errors.
        most_bytes: of the whole stream.
        event_bytes: of one event.
        max_tokens: of the text.
        context_length: most tokens of prompt and text.
        prompt_tokens: most that the prompt's text and its roles and marks can have, in any tokenizer.
        steps: most that it may take; ``None`` where nothing bounds them.
        has_logprobs: whether they were asked for.
    """

    upstream: str
    most_bytes: int
    event_bytes: int
    max_tokens: int
    context_length: int
    prompt_tokens: int
    steps: int | None = None
    has_logprobs: bool = False


class AnswerReader:
    """Takes the bytes of one answer in order, however they are cut.

    Args:
        expected: what is known of it before.
    """

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._events = EventReader(expected.event_bytes)
        self._bytes = 0
        self._texts: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._finish: FinishReason | None = None
        self._usage: UsagePart | None = None
        self.model: str | None = None
        """What the answer says which model it is of, as soon as it does."""
        self.is_done = False
        """Whether the stream has said that it is at its end; what is behind that is not read."""

    def feed(self, data: bytes) -> Iterator[CommitEvent]:
        """Yield the text that these bytes bring.

        Raises:
            UpstreamError: they are no stream of chunks, or more than an answer can be.
        """
        self._bytes += len(data)
        if self._bytes > self._expected.most_bytes:
            raise self._too_much(f"more than {self._expected.most_bytes} bytes, and still no end")
        try:
            for event in self._events.feed(data):
                if self.is_done:
                    return
                committed = self._event(event)
                if committed is not None:
                    yield committed
        except EventTooLargeError as error:
            raise self._too_much(f"an event of more than {self._expected.event_bytes} bytes") from error
        except EventEncodingError as error:
            raise self._wrong("an event that is not in UTF-8") from error

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._texts)

    @property
    def logprobs(self) -> tuple[TokenLogprob, ...]:
        """Log-probabilities so far."""
        return tuple(self._logprobs)

    def finish(self) -> FinishReason:
        """Say why the text ends, once the stream has.

        A stream that has given the reason and then ends is whole, whether or not its end is marked.

        Raises:
            UpstreamError: the answer is not whole.
        """
        if self._finish is None and not self.is_done:
            raise BrokenOffError(
                self._expected.upstream,
                f"its answer breaks off after {len(self.text)} characters, without a finish_reason",
            )
        if self._finish is None:
            raise self._wrong("an end without a finish_reason, so that nothing tells whether the answer is whole")
        if self._expected.has_logprobs and self.text and not self._logprobs:
            raise self._wrong("no log-probabilities, which were asked for")
        return self._finish

    def usage(self) -> Usage:
        """Return what the answer cost as far as the upstream says it; what it does not say is marked.

        Numbers that cannot be true, as they are above what the request allows, are not believed. Each token of the
        text counts as committed where steps are not known: a server reads it once into its cache. Prefilled tokens
        are at most those of the prompt as it was sent: what a server adds of its own is nobody's to pay here.
        """
        said, expected = self._usage, self._expected
        if said is not None and (
            said.completion_tokens > expected.max_tokens or said.prompt_tokens > expected.context_length
        ):
            said = None
        reason = ExitReason.MAX_STEPS if self._finish is FinishReason.LENGTH else ExitReason.CONVERGED
        if said is None:
            return _unknown(reason)
        details = said.prompt_tokens_details
        cached = min(said.prompt_tokens, (details.cached_tokens or 0) if details else 0)
        steps = said.diffusion
        is_known = (
            steps is not None
            and steps.steps_known
            and (expected.steps is None or max(steps.steps_used, steps.steps_allocated) <= expected.steps)
        )
        commit = 0 if is_known else said.completion_tokens
        room = min(expected.prompt_tokens, expected.context_length - commit)
        return Usage(
            prompt_tokens=said.prompt_tokens,
            completion_tokens=said.completion_tokens,
            cached_tokens=cached,
            prefill_tokens=max(0, min(said.prompt_tokens - cached, room)),
            commit_tokens=commit,
            steps_allocated=steps.steps_allocated if steps is not None and is_known else 0,
            steps_used=steps.steps_used if steps is not None and is_known else 0,
            canvases=steps.canvases if steps is not None and is_known else 0,
            exit_reason=reason if steps is None else self._exit_reason(steps.exit_reason),
            steps_known=is_known,
        )

    def _event(self, data: str) -> CommitEvent | None:
        if data.strip() == DONE:
            self.is_done = True
            return None
        try:
            chunk = read_chunk(data)
        except ChunkError as error:
            raise self._wrong(f"an event that is no chunk of a chat completion ({error})") from error
        return self._chunk(chunk)

    def _chunk(self, chunk: Chunk) -> CommitEvent | None:
        if chunk.error is not None:
            raise self._told(chunk.error)
        if chunk.model is not None:
            if self.model is not None and chunk.model != self.model:
                raise self._wrong(f"chunks of two models, {shown(self.model)} and {shown(chunk.model)}")
            self.model = chunk.model
        if chunk.usage is not None:
            self._usage = chunk.usage
        if len(chunk.choices) > 1 or any(choice.index for choice in chunk.choices):
            raise self._wrong("several choices, and one was asked for")
        return self._choice(chunk.choices[0]) if chunk.choices else None

    def _choice(self, choice: ChunkChoice) -> CommitEvent | None:
        text = choice.delta.content or ""
        if text and self._finish is not None:
            raise self._wrong("text behind its finish_reason")
        if choice.delta.tool_calls:
            raise WithheldError(self._expected.upstream, "it answers with a call of a tool, and none was offered")
        if choice.finish_reason is not None:
            self._finish = self._finish_reason(choice.finish_reason)
        logprobs = self._read_logprobs(choice.logprobs) if self._expected.has_logprobs else ()
        if not text and not logprobs:
            return None
        self._texts.append(text)
        self._logprobs.extend(logprobs)
        return CommitEvent(text=text, logprobs=logprobs)

    def _read_logprobs(self, part: LogprobPart | None) -> tuple[TokenLogprob, ...]:
        entries = (part.content or []) if part else []
        return tuple(TokenLogprob(chosen=_alternative(one), top=_alternatives(one.top_logprobs)) for one in entries)

    def _finish_reason(self, reason: str) -> FinishReason:
        if reason in _WITHHELD:
            raise WithheldError(
                self._expected.upstream, f"its answer ends with finish_reason {reason}, and is not whole"
            )
        if reason not in _FINISHES:
            raise self._wrong(f"finish_reason {shown(reason)}, which the OpenAI API does not have")
        return _FINISHES[reason]

    def _exit_reason(self, reason: str) -> ExitReason:
        try:
            return ExitReason(reason)
        except ValueError as error:
            raise self._wrong(f"exit_reason {shown(reason)}, which this version does not know") from error

    def _told(self, error: ErrorPart | str) -> UpstreamErrorEventError:
        message = error if isinstance(error, str) else error.message
        return UpstreamErrorEventError(self._expected.upstream, f"it breaks its answer off: {shown(message)}")

    def _wrong(self, what: str) -> UpstreamProtocolError:
        return UpstreamProtocolError(self._expected.upstream, f"it answers with {what}")

    def _too_much(self, what: str) -> UpstreamTooMuchError:
        return UpstreamTooMuchError(self._expected.upstream, f"it answers with {what}")


def _unknown(reason: ExitReason) -> Usage:
    """Return a usage of which nothing is known."""
    return Usage(
        prompt_tokens=0,
        completion_tokens=0,
        cached_tokens=0,
        prefill_tokens=0,
        commit_tokens=0,
        steps_allocated=0,
        steps_used=0,
        canvases=0,
        exit_reason=reason,
        steps_known=False,
        tokens_known=False,
    )


def _alternatives(found: Iterable[TopLogprob]) -> tuple[Alternative, ...]:
    return tuple(sorted(map(_alternative, found), key=lambda one: -one.logprob))


def _alternative(found: TopLogprob) -> Alternative:
    data = found.token.encode("utf-8", "surrogatepass") if found.data is None else bytes(found.data)
    return Alternative(data=data, logprob=found.logprob)
