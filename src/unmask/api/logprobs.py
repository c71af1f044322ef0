"""Log-probabilities as the two endpoints of the OpenAI API write them."""

import codecs
from collections.abc import Iterable

from unmask.backend import Alternative, TokenLogprob

LEAST = -9999.0
"""What the OpenAI API writes for a token that is all but impossible; JSON has no minus infinity."""


def chat_logprobs(tokens: Iterable[TokenLogprob]) -> dict[str, object]:
    """Write the ``logprobs`` of a chat choice."""
    content = [
        {**_entry(token.chosen), "top_logprobs": [_entry(alternative) for alternative in token.top]} for token in tokens
    ]
    return {"content": content, "refusal": None}


class TextLogprobs:
    """Writes the ``logprobs`` of a completion, part by part.

    Args:
        start: characters of the choice before its first token.
    """

    def __init__(self, start: int) -> None:
        self._length = start
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, tokens: Iterable[TokenLogprob]) -> dict[str, object]:
        """Write the next tokens; offsets count characters, and a token inside one has the offset of that."""
        given = tuple(tokens)
        return {
            "tokens": [_name(token.chosen.data) for token in given],
            "token_logprobs": [_finite(token.chosen.logprob) for token in given],
            "top_logprobs": [_top(token) for token in given],
            "text_offset": [self._offset(token.chosen.data) for token in given],
        }

    def _offset(self, data: bytes) -> int:
        offset = self._length
        self._length += len(self._decoder.decode(data))
        return offset


def _entry(token: Alternative) -> dict[str, object]:
    # Where bytes are no text by themselves, the OpenAI API writes them so, and clients go by `bytes`.
    text = token.data.decode("utf-8", "backslashreplace")
    return {"token": text, "logprob": _finite(token.logprob), "bytes": list(token.data)}


def _top(token: TokenLogprob) -> dict[str, float]:
    """Return the likeliest tokens by name, and as in the OpenAI API the chosen one among them in any case."""
    return {_name(one.data): _finite(one.logprob) for one in (*token.top, token.chosen)}


def _name(data: bytes) -> str:
    """Return the text of a token; bytes that are none by themselves get a name that no two share."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)


def _finite(logprob: float) -> float:
    return max(logprob, LEAST)
