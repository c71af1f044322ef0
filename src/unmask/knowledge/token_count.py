"""How many tokens a text has, as far as it is known."""

from collections.abc import Callable
from math import ceil
from typing import TypeAlias

from unmask.knowledge.script import Script, script_of
from unmask.text.tokenizer import packaged_tokenizer

TokenCounter: TypeAlias = Callable[[str], int]
"""From a text to its number of tokens."""

_PER_CHARACTER = {
    Script.WORD: 0.3,
    Script.HANGUL: 0.8,
    Script.SINGLE: 1.0,
    Script.MARK: 0.3,
    Script.NONE: 0.3,
}
"""Tokens a character of the vocabularies of large models, rounded up; a model's own tokenizer knows better."""


def embedded_tokens(text: str) -> int:
    """Count tokens of the embedded models."""
    return len(packaged_tokenizer().encode(text))


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a model whose tokenizer is not at hand, by script; meant to be rather too many."""
    return ceil(sum(_PER_CHARACTER[script_of(character)] for character in text))
