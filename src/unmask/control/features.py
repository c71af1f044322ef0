"""What is known of a request before its first step, as numbers that a difficulty estimator reads.

Everything is counted by what runs in C (string methods, one table of byte counts),
so that a request costs tens of microseconds whatever is written in it. Values are
whole numbers or multiples of 1/64: exact in 32 bits, which is how estimators are
trained.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import numpy.typing as npt

from unmask.control.question import kind_of
from unmask.types import Message, Role

FEATURES = (
    "prompt_tokens",
    "max_tokens",
    "turns",
    "facts",
    "format",
    "schema_fields",
    "schema_depth",
    "schema_lists",
    "question_kind",
    "question_words",
    "question_joins",
    "question_ofs",
    "question_marks",
    "lines",
    "numbers",
    "digits",
    "longest_number",
    "list_length",
    "pluses",
    "blanks",
    "objects",
    "lists",
    "keys",
    "capitals",
    "hangul",
    "han",
    "kana",
    "cyrillic",
    "arabic",
    "other_scripts",
)
"""Names in order. An estimator names those it was trained on, and is refused when they are others."""

LARGEST = 1 << 20
"""Counts end here: beyond it a request is out of every estimator's range anyway."""

LONGEST_LINE = 512
"""Characters of the last line, which holds the question, that are looked at for its words."""

MOST_SCHEMA_PARTS = 512
"""Parts of a schema that are counted; it may have been checked to be no larger than 10,000."""

_SHARES = 64
_CONTAINERS = frozenset({dict, list})
_NUMBERS_ONLY = bytes(byte if 48 <= byte <= 57 else 32 for byte in range(256))
_NOT_CAPITAL = bytes(byte for byte in range(256) if not 65 <= byte <= 90)
_SCRIPTS = (
    (range(0x11, 0x12), range(0xAC, 0xD8)),
    (range(0x34, 0xA0), range(0xF9, 0xFB)),
    (range(0x30, 0x31),),
    (range(0x04, 0x05),),
    (range(0x06, 0x08),),
)
"""Hangul, Han, kana, Cyrillic and Arabic, as ranges of the upper byte of UTF-16."""
_LATIN = range(0x03)
_NO_SCRIPTS = (0.0,) * (len(_SCRIPTS) + 1)


def _scripts_of_blocks() -> npt.NDArray[np.uint8]:
    """Return the script of each upper byte: 0 for Latin, from 1 those of `_SCRIPTS`, then all others."""
    table = np.full(256, len(_SCRIPTS) + 1, dtype=np.uint8)
    table[_LATIN] = 0
    for script, ranges in enumerate(_SCRIPTS, start=1):
        for blocks in ranges:
            table[blocks] = script
    return table


_SCRIPT_OF = _scripts_of_blocks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The features of a request of a task type; ``values`` are in the order of `FEATURES`."""

    task: str
    values: tuple[float, ...]

    def __getitem__(self, name: str) -> float:
        """Return one value by name; an unknown name is a ``ValueError``."""
        return self.values[FEATURES.index(name)]

    @property
    def vector(self) -> npt.NDArray[np.float32]:
        """The values as an array of shape (features,), exact."""
        return np.array(self.values, dtype=np.float32)


def features_of(
    messages: Sequence[Message],
    task: str,
    *,
    prompt_tokens: int,
    max_tokens: int,
    schema: dict[str, object] | None = None,
) -> Features:
    """Return the features of a request. The same request always has the same ones.

    Args:
        messages: the conversation, the request's question last.
        task: its task type.
        prompt_tokens: length of the prompt in tokens of the model that serves it.
        max_tokens: most tokens of the answer.
        schema: JSON Schema that the answer has to follow; empty where any JSON object will do, ``None`` for free text.
    """
    question, system, turns = _parts(messages)
    facts, _, line = question.rpartition("\n")
    line = line[:LONGEST_LINE]
    words = line.lower().split()
    data = question.encode("utf-8", "surrogatepass")
    runs = data.translate(_NUMBERS_ONLY).split()
    values: tuple[float, ...] = (
        prompt_tokens,
        max_tokens,
        turns,
        _fact_lines(system) + _fact_lines(facts),
        *_format(schema),
        kind_of(line, words).value,
        len(words),
        line.count(",") + words.count("and") + words.count("then") + words.count("그리고"),
        words.count("of"),
        line.count("?"),
        question.count("\n") + 1,
        len(runs),
        sum(map(len, runs)),
        max(map(len, runs), default=0),
        max(question.count(",") + 1, len(runs)),
        question.count("+"),
        question.count("_"),
        question.count("{"),
        question.count("["),
        question.count('":'),
        len(data.translate(None, _NOT_CAPITAL)),
    )
    if max(values) > LARGEST:
        values = tuple([min(value, LARGEST) for value in values])
    return Features(task=task, values=values + _scripts(messages))


def _parts(messages: Sequence[Message]) -> tuple[str, str, int]:
    """Return the last user message, what the system said, and how many turns the user has had."""
    question, system, turns = "", "", 0
    for message in messages:
        match message.role:
            case Role.USER:
                question = message.content
                turns += 1
            case Role.SYSTEM:
                system = f"{system}\n{message.content}" if system else message.content
            case Role.ASSISTANT:
                pass
            case _:
                assert_never(message.role)
    return question, system, turns


def _fact_lines(text: str) -> int:
    """Return how many lines a text has, headings of fact cards left out."""
    return text.count("\n") + 1 - text.count("\n# ") - text.startswith("# ") if text else 0


def _format(schema: dict[str, object] | None) -> tuple[int, int, int, int]:
    """Return the kind of format (0 none, 1 any object, 2 a schema), and its fields, depth and lists."""
    if not schema:
        return 0 if schema is None else 1, 0, 0, 0
    fields = depth = lists = 0
    waiting: list[tuple[object, int]] = [(schema, 1)]
    # The list grows while it is read, nearest parts first, until it holds a part too many.
    for node, level in waiting:
        depth = level
        below: Iterable[object] = ()
        if isinstance(node, dict):
            properties = node.get("properties")
            fields += len(properties) if isinstance(properties, dict) else 0
            lists += node.get("type") == "array" or "items" in node
            below = node.values()
        elif isinstance(node, list):
            below = node
        waiting += [(part, level + 1) for part in below if type(part) in _CONTAINERS]
        if len(waiting) > MOST_SCHEMA_PARTS:
            break
    return 2, fields, depth, lists


def _scripts(messages: Sequence[Message]) -> tuple[float, ...]:
    """Return the shares of scripts in the characters of a conversation: those of `_SCRIPTS`, then all others but Latin.

    Goes by UTF-16 blocks of 256 characters: Hangul's compatibility letters count among the others, and a character
    beyond the first 65,536 counts twice.
    """
    text = "".join([message.content for message in messages if not message.content.isascii()])
    if not text:
        return _NO_SCRIPTS
    data = np.frombuffer(text.encode("utf-16-be", "surrogatepass"), dtype=np.uint8)[::2]
    counts = np.bincount(_SCRIPT_OF[data], minlength=len(_SCRIPTS) + 2).tolist()
    scale = _SHARES / sum([len(message.content) for message in messages])
    return tuple([min(_SHARES, math.ceil(count * scale)) / _SHARES for count in counts[1:]])
