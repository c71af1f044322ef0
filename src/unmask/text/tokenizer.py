"""Byte-level BPE with special tokens that no text can produce.

Special tokens are ids below `SPECIALS`; the BPE model's own ids follow. What a
user types is only ever encoded by the BPE model, so ``<mask>`` in a prompt is
ordinary text.
"""

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Self

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from unmask.errors import WeightsError
from unmask.types import Message, Role


class Special(IntEnum):
    """Ids of the special tokens."""

    MASK = 0
    END = 1
    SYSTEM = 2
    USER = 3
    ASSISTANT = 4


SPECIALS = 8

# Digits, blanks and line ends stand alone; names carry no leading space, so that a name is the same tokens
# wherever it stands; runs of punctuation and the separators of lists and sums are one token.
_PATTERN = (
    r"\p{N}|_|\n"
    r"| ?,(?: (?!\p{Ll}))?"
    r"| [+=] "
    r"| ?[.!?;:](?: (?=[\p{Lu}\p{N}]))?"
    r"|'\p{Ll}+"
    r"| ?\p{Ll}+"
    r"|\p{Lu}\p{Ll}*"
    r"|\p{L}+"
    r"|[^\s\p{L}\p{N}_]+"
    r"| |\s"
)

# Every class of characters the pattern tells apart; a file that cannot return it is not one of ours.
_PROBE = "Kaloren's 12 + 3, 가나 \U0001f600 שלום\n\t<mask>?! _É"

_SURROGATE = re.compile("[\ud800-\udfff]")

_ROLE_TOKENS = {Role.SYSTEM: Special.SYSTEM, Role.USER: Special.USER, Role.ASSISTANT: Special.ASSISTANT}


class TextTokenizer:
    """Encodes text and chats, decodes ids; lossless on any text."""

    def __init__(self, bpe: Tokenizer) -> None:
        self._bpe = bpe

    @classmethod
    def load(cls, path: Path) -> Self:
        """Load a tokenizer file written by `save`.

        Raises:
            WeightsError: the file is missing, damaged, or no tokenizer of this kind.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise WeightsError(f"cannot read the tokenizer {str(path)!r}: {error}") from error
        return cls.parse(content, str(path))

    @classmethod
    def parse(cls, content: bytes, origin: str) -> Self:
        """Read the content of a tokenizer file; ``origin`` names it in messages.

        Raises:
            WeightsError: the content is damaged, or no tokenizer of this kind.
        """
        fix = "fetch or install it again"
        try:
            tokenizer = cls(Tokenizer.from_buffer(content))
            complete = tokenizer.decode(tokenizer.encode(_PROBE)) == _PROBE and tokenizer.has_every_byte
        except Exception as error:  # the library raises nothing narrower
            raise WeightsError(f"the tokenizer {origin!r} is damaged: {error}; {fix}") from error
        if not complete:
            raise WeightsError(f"the tokenizer {origin!r} is damaged: it loses text; {fix}")
        return tokenizer

    @classmethod
    def train(cls, texts: Iterable[str], size: int) -> Self:
        """Learn merges from ``texts`` until there are ``size`` ids, specials included."""
        bpe = Tokenizer(models.BPE())
        bpe.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_PATTERN), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        bpe.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=size - SPECIALS,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        bpe.train_from_iterator(texts, trainer)
        return cls(bpe)

    def save(self, path: Path) -> None:
        """Write the tokenizer as JSON."""
        self._bpe.save(str(path))

    @property
    def size(self) -> int:
        """Number of ids, specials included."""
        return self._bpe.get_vocab_size() + SPECIALS

    @cached_property
    def longest(self) -> int:
        """Most bytes of text that one id stands for."""
        return max(map(len, self._bytes))

    @property
    def has_every_byte(self) -> bool:
        """Tell whether every byte has an id, so that no text is lost, ids stand for bytes alone, and have no gaps."""
        ids = self._bpe.get_vocab()
        alphabet = set(byte_alphabet())
        return alphabet <= set(ids) and alphabet >= set("".join(ids)) and set(ids.values()) == set(range(len(ids)))

    @cached_property
    def _bytes(self) -> tuple[bytes, ...]:
        """Bytes of every id, special ones first."""
        byte_of = {letter: byte for byte, letter in enumerate(byte_alphabet())}
        spelt = sorted((number, word) for word, number in self._bpe.get_vocab().items())
        return (b"",) * SPECIALS + tuple(bytes(byte_of[letter] for letter in word) for _, word in spelt)

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that an id stands for, at times a part of a character; special tokens have none."""
        return self._bytes[token]

    def is_text(self, token: int) -> bool:
        """Tell whether an answer may be begun with an id: it is known, and no special token."""
        return SPECIALS <= token < self.size

    def is_end(self, token: int) -> bool:
        """Tell whether an answer ends with an id."""
        return token == Special.END

    def encode(self, text: str) -> list[int]:
        """Return the ids of ordinary text; what no UTF-8 can hold (half a surrogate pair) becomes U+FFFD."""
        if not text.isascii():
            text = _SURROGATE.sub("\ufffd", text)
        return [token + SPECIALS for token in self._bpe.encode(text).ids]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of ids; special tokens have none, broken UTF-8 becomes U+FFFD."""
        return str(self._bpe.decode([token - SPECIALS for token in tokens if token >= SPECIALS]))

    def chat_length(self, messages: Sequence[Message]) -> int:
        """Return how many tokens the prompt of a chat has."""
        return len(self.encode_chat(messages))

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt of a chat: each message after its role token, finished answers closed by the end token."""
        tokens: list[int] = []
        for message in messages:
            tokens.append(_ROLE_TOKENS[message.role])
            tokens += self.encode(message.content)
            if message.role is Role.ASSISTANT:
                tokens.append(Special.END)
        tokens.append(Special.ASSISTANT)
        return tokens


def byte_alphabet() -> list[str]:
    """Return the letter that stands for each byte in a vocabulary (Radford et al. 2019, GPT-2).

    Bytes that Latin-1 prints stand for themselves, the others for what follows it, in order.
    """
    shown = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256, 512))
    return [chr(byte if byte in shown else next(others)) for byte in range(256)]


@cache
def packaged_tokenizer() -> TextTokenizer:
    """Return the tokenizer of the embedded models, which ships inside the package.

    Raises:
        WeightsError: the installed file is missing or damaged.
    """
    resource = files("unmask.text").joinpath("tokenizer.json")
    try:
        content = resource.read_bytes()
    except OSError as error:
        raise WeightsError(f"the packaged tokenizer is missing: {error}; install the package again") from error
    return TextTokenizer.parse(content, "unmask/text/tokenizer.json")
