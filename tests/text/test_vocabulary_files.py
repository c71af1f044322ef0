"""Tokenizers made of a vocabulary and merges."""

import json

import pytest

from unmask.errors import CheckpointFolderError
from unmask.text.checkpoint_tokenizer import CheckpointTokenizer, TokenizerFiles
from unmask.text.tokenizer import byte_alphabet
from unmask.text.vocabulary_files import qwen2_tokenizer

WORDS = {letter: byte for byte, letter in enumerate(byte_alphabet())} | {"ab": 256, "Ġab": 257, "11": 258}
MERGES = "#version: 0.2\na b\nĠ ab\n1 1\n"


def make(words: dict[str, int], merges: str) -> CheckpointTokenizer:
    """Return the tokenizer."""
    content = qwen2_tokenizer(json.dumps(words).encode(), merges.encode())
    return CheckpointTokenizer(TokenizerFiles(tokenizer=content, settings={}, template=None))


def test_merges_hold_within_the_pieces_of_a_text() -> None:
    """A word goes with the blank before it, digits stand alone, and Hangul is composed, then bytes."""
    tokenizer = make(WORDS, MERGES)

    assert tokenizer.encode("ab ab11") == [256, 257, ord("1"), ord("1")]
    assert tokenizer.encode("\u1100\u1161") == [*"가".encode()]


def test_files_without_the_first_line() -> None:
    """Not every file of merges names a version."""
    assert make(WORDS, MERGES.partition("\n")[2]).encode("ab") == [256]


@pytest.mark.parametrize(("words", "merges"), [(WORDS, "a z\n"), (WORDS, "a\n"), (WORDS, "a b c\n"), ({}, MERGES)])
def test_damaged_files(words: dict[str, int], merges: str) -> None:
    """Words that are missing, and lines that are no pairs."""
    with pytest.raises(CheckpointFolderError, match=r"vocab\.json and merges\.txt are damaged"):
        make(words, merges)
