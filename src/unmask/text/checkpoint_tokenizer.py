"""The tokenizer and chat template of a published checkpoint, from its own files."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tokenizers import AddedToken, Tokenizer

from unmask.errors import CheckpointFolderError
from unmask.text.chat_template import ChatTemplate
from unmask.text.tokenizer import byte_alphabet
from unmask.types import Message

_SURROGATE = re.compile("[\ud800-\udfff]")
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_BREAK = "\ufdd0"
"""No character: put into special tokens that a user has typed, so that they are read as ordinary text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFiles:
    """What the files of a checkpoint say of its tokenizer.

    Attributes:
        tokenizer: ``tokenizer.json``.
        settings: what ``tokenizer_config.json`` holds.
        template: the chat template, where there is one.
    """

    tokenizer: bytes
    settings: Mapping[str, object]
    template: str | None


class CheckpointTokenizer:
    """Encodes chats by a checkpoint's own template; see `unmask.text.chat.ChatTokenizer`.

    Special tokens come from the template alone: one that a user types is read as the characters it is made of.

    Args:
        files: of the checkpoint.
        end_ids: ids with which an answer ends.
        end_texts: tokens with which it ends too, where there are such.

    Raises:
        CheckpointFolderError: the files are damaged, or of a kind whose tokens do not stand for bytes.
    """

    def __init__(self, files: TokenizerFiles, end_ids: Iterable[int] = (), end_texts: Iterable[str] = ()) -> None:
        try:
            self._tokenizer = Tokenizer.from_buffer(files.tokenizer)
        except Exception as error:  # the library raises nothing narrower
            raise CheckpointFolderError(f"tokenizer.json is damaged: {error}; fetch it again") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        _add_missing(self._tokenizer, files.settings)
        self._added = dict(self._tokenizer.get_added_tokens_decoder())
        self._template = None if files.template is None else ChatTemplate(files.template, _named_tokens(files.settings))
        found = [self.find(text) for text in (*end_texts, _named_tokens(files.settings).get("eos_token", ""))]
        # In the order given, each once: the first is the one that canvases are filled with.
        self.ends = tuple(dict.fromkeys([*end_ids, *(token for token in found if token is not None)]))
        self._bytes = self._spelt(_spelling(json.loads(files.tokenizer)))

    @cached_property
    def size(self) -> int:
        """Number of ids, gaps included."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values()) + 1

    @cached_property
    def longest(self) -> int:
        """Most bytes of text that one id stands for."""
        return max(map(len, self._bytes))

    def has(self, token: int) -> bool:
        """Tell whether there is a token of an id."""
        return self._tokenizer.id_to_token(token) is not None

    def find(self, text: str) -> int | None:
        """Return the id of a token by its text."""
        found = self._tokenizer.token_to_id(text)
        return None if found is None else int(found)

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that an id stands for; special tokens, and ids without a token, have none."""
        return self._bytes[token] if token < len(self._bytes) else b""

    def is_text(self, token: int) -> bool:
        """Tell whether an answer may be begun with an id."""
        return 0 <= token < self.size and bool(self._bytes[token])

    def is_end(self, token: int) -> bool:
        """Tell whether an answer ends with an id."""
        return token in self.ends

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text in which special tokens count as such."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the prompt of a chat; without a template, its texts, one a line.

        Raises:
            InvalidRequestError: the template refuses such a chat.
        """
        quoted = [Message(role=message.role, content=self._quoted(message.content)) for message in messages]
        if self._template is None:
            text = "\n".join(message.content for message in quoted)
        else:
            text = self._template.render(quoted)
        return [token for part in text.split(_BREAK) if part for token in self.encode(part)]

    def _quoted(self, content: str) -> str:
        """Break special tokens in what a user has typed; half a surrogate pair becomes U+FFFD."""
        plain = _SURROGATE.sub("\ufffd", content).replace(_BREAK, "\ufffd")
        return plain if self._special is None else self._special.sub(_broken, plain)

    @cached_property
    def _special(self) -> re.Pattern[str] | None:
        texts = sorted((token.content for token in self._added.values() if token.special), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, texts))) if texts else None

    def _spelt(self, spelling: "_ByteLevel | _SentencePiece") -> tuple[bytes, ...]:
        """Return the bytes of every id; of a large vocabulary that takes a while, and no request should wait for it."""
        spelt = [b""] * self.size
        for word, number in self._tokenizer.get_vocab(with_added_tokens=True).items():
            added = self._added.get(number)
            if added is None:
                spelt[number] = spelling.bytes_of(word)
            elif not added.special:
                spelt[number] = added.content.encode("utf-8", "replace")
        return tuple(spelt)


def _add_missing(tokenizer: Tokenizer, settings: Mapping[str, object]) -> None:
    """Add the tokens that ``tokenizer_config.json`` alone knows, each at the id that it names."""
    named = settings.get("added_tokens_decoder")
    entries = {int(number): entry for number, entry in named.items()} if isinstance(named, dict) else {}
    for number in sorted(entries):
        text = entries[number].get("content")
        if tokenizer.id_to_token(number) is not None or not isinstance(text, str):
            continue
        tokenizer.add_tokens([AddedToken(text, special=bool(entries[number].get("special")), normalized=False)])
        if tokenizer.token_to_id(text) != number:
            raise CheckpointFolderError(
                f"tokenizer_config.json puts {text!r} at id {number}, and tokenizer.json leaves it "
                f"{tokenizer.token_to_id(text)}: the two do not belong together; fetch both again"
            )


class _ByteLevel:
    """Words in which every letter stands for a byte."""

    def __init__(self) -> None:
        self._byte_of = {letter: byte for byte, letter in enumerate(byte_alphabet())}

    def bytes_of(self, word: str) -> bytes:
        """Return a word's bytes; letters that stand for none are themselves."""
        if all(letter in self._byte_of for letter in word):
            return bytes(self._byte_of[letter] for letter in word)
        return word.encode("utf-8", "replace")


class _SentencePiece:
    """Words with ``▁`` for a blank, and single bytes as ``<0x0A>``."""

    def bytes_of(self, word: str) -> bytes:
        """Return a word's bytes."""
        byte = _BYTE.fullmatch(word)
        return bytes([int(byte[1], 16)]) if byte else word.replace("▁", " ").encode("utf-8", "replace")


def _spelling(description: Mapping[str, object]) -> _ByteLevel | _SentencePiece:
    """Return how a tokenizer writes bytes, by the kinds of its decoders."""
    decoder = description.get("decoder")
    parts = (decoder.get("decoders") or [decoder]) if isinstance(decoder, dict) else []
    kinds = {part.get("type") for part in parts if isinstance(part, dict)}
    if "ByteLevel" in kinds:
        return _ByteLevel()
    if "ByteFallback" in kinds:
        return _SentencePiece()
    raise CheckpointFolderError(
        f"tokenizer.json: its decoder is {', '.join(sorted(map(str, kinds))) or 'missing'}, allowed: ByteLevel or "
        "ByteFallback, whose tokens stand for bytes. Take the published tokenizer.json of the checkpoint."
    )


def _broken(found: re.Match[str]) -> str:
    return found[0][0] + _BREAK + found[0][1:]


def _named_tokens(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the texts of tokens that a template may name."""
    named = {}
    for key in ("bos_token", "eos_token", "pad_token", "unk_token", "mask_token"):
        value = settings.get(key)
        text = value.get("content") if isinstance(value, dict) else value
        if isinstance(text, str):
            named[key] = text
    return named
