"""What serving asks of a tokenizer, whoever's it is."""

from collections.abc import Sequence
from typing import Protocol

from unmask.types import Message


class ChatTokenizer(Protocol):
    """Turns chats into ids and ids into bytes."""

    @property
    def size(self) -> int:
        """Number of ids."""
        ...

    @property
    def longest(self) -> int:
        """Most bytes of text that one id stands for."""
        ...

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that an id stands for, at times a part of a character; special tokens have none."""
        ...

    def is_text(self, token: int) -> bool:
        """Tell whether an answer may be begun with an id: it is known, and no special token."""
        ...

    def is_end(self, token: int) -> bool:
        """Tell whether an answer ends with an id."""
        ...

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt of a chat.

        Raises:
            InvalidRequestError: there is no way to write such a chat.
        """
        ...
