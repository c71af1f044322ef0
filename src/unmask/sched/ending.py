"""Writes an output and finds where it ends: end token, stop sequence, or ``max_tokens``.

However long an output is, a token's bytes are decoded once, behind those of an
unfinished character at most, and stop sequences are looked for only where the
token may have completed one.
"""

import codecs
from collections.abc import Callable
from collections.abc import Sequence as Items
from dataclasses import dataclass, replace

from unmask.sequence import OutputToken, Sequence
from unmask.types import FinishReason, FixedToken

TokenBytes = Callable[[int], bytes]
"""Returns the bytes of text that a token stands for; special tokens have none."""

_Utf8 = codecs.getincrementaldecoder("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes tokens to the end of outputs.

    An end token counts as one token and has no text; a stop sequence has no
    text, and the tokens up to the one that completes it count. Of several stop
    sequences the one that is complete first counts, of two at once the longer.
    Tokens are looked at one by one, so it does not matter how many arrive at
    once.
    """

    end: int
    token_bytes: TokenBytes
    other_ends: frozenset[int] = frozenset()

    def ends(self, token: int) -> bool:
        """Tell whether nothing is output after a token."""
        return token == self.end or token in self.other_ends

    def write(
        self, sequence: Sequence, tokens: Items[int], logprobs: Items[FixedToken | None] = ()
    ) -> FinishReason | None:
        """Add tokens until one of them ends the output; return why it ends, or nothing if it may go on.

        ``logprobs`` are those of the tokens, or empty where nobody asks for them.
        """
        for token, fixed in zip(tokens, logprobs or (None,) * len(tokens), strict=True):
            reason = self._add(sequence, token, fixed)
            if reason is not None:
                return reason
        return None

    def copy(self, sequence: Sequence) -> Sequence:
        """Return a sequence with the same output, to write what may never become output of the first."""
        submission = replace(sequence.submission, top_logprobs=None)
        return Sequence(
            id=sequence.id,
            submission=submission,
            arrived=sequence.arrived,
            output=list(sequence.output),
            steps=sequence.steps,
            text=sequence.text,
            unfinished=sequence.unfinished,
        )

    def close(self, sequence: Sequence) -> FinishReason:
        """End the output here, with what there is of an unfinished character; return why it ends."""
        return FinishReason.STOP if _extend(sequence, b"", is_last=True) else FinishReason.LENGTH

    def _add(self, sequence: Sequence, token: int, fixed: FixedToken | None) -> FinishReason | None:
        if self.ends(token):
            # Bytes of a character that never came are text in the end, and may complete a stop sequence.
            if not _extend(sequence, b"", is_last=True):
                sequence.output.append(token)
            return FinishReason.STOP
        data = self.token_bytes(token)
        sequence.output.append(token)
        if sequence.submission.top_logprobs is not None and data:
            assert fixed is not None, "a token that becomes output was fixed or given, and looked at then"
            sequence.logprobs.append(OutputToken(start=len(sequence.text), fixed=fixed))
        if _extend(sequence, data, is_last=False):
            return FinishReason.STOP
        return self.close(sequence) if len(sequence.output) == sequence.submission.max_tokens else None


def _extend(sequence: Sequence, data: bytes, *, is_last: bool) -> bool:
    """Add bytes to the text, and cut it before a stop sequence that they complete; return whether they do."""
    decoder = _Utf8("replace")
    known = len(sequence.text)
    sequence.text += decoder.decode(sequence.unfinished + data, is_last)
    sequence.unfinished = decoder.getstate()[0]
    found = [
        (start + len(stop), start)
        for stop in sequence.submission.stop
        if (start := sequence.text.find(stop, max(0, known - len(stop) + 1))) >= 0
    ]
    if found:
        _, cut = min(found)
        sequence.text = sequence.text[:cut]
    return bool(found)
