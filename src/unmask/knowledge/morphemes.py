"""Korean words cut by an analyser of morphemes, where the extra ``korean`` is installed."""

from collections.abc import Iterable
from importlib import import_module
from typing import Protocol

from unmask.knowledge.retrieval_errors import MissingExtraError

_NOT_OF_NAMES = ("J", "E", "VCP", "VCN", "XSN", "XSV", "XSA")
"""Tags of particles, endings, copulas and suffixes."""


class Morpheme(Protocol):
    """A part of a word: the tag of its kind, and its first character's index."""

    @property
    def tag(self) -> str:
        """The kind, by the tags of the Sejong corpus."""
        ...

    @property
    def start(self) -> int:
        """The index of the first character in the word."""
        ...


class Analyser(Protocol):
    """What cuts a word, such as ``kiwipiepy.Kiwi``."""

    def tokenize(self, text: str) -> Iterable[Morpheme]:
        """Return the morphemes of a text."""
        ...


class KiwiStemmer:
    """Cuts a word before each particle, ending or suffix that kiwipiepy finds in it."""

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser

    def stems(self, word: str) -> tuple[str, ...]:
        """Return the beginnings of a word that end where a particle, an ending or a suffix begins."""
        starts = {token.start for token in self._analyser.tokenize(word) if token.tag.startswith(_NOT_OF_NAMES)}
        return tuple(word[:start] for start in sorted(starts, reverse=True) if start)


def kiwi_stemmer() -> KiwiStemmer:
    """Load the analyser, which takes about a second; it ships its own model and fetches nothing.

    Raises:
        MissingExtraError: kiwipiepy is not installed.
    """
    try:
        module = import_module("kiwipiepy")
    except ImportError as error:
        raise MissingExtraError("kiwipiepy", "korean", "particles are stripped without it too") from error
    return KiwiStemmer(module.Kiwi())
