"""Korean words cut by an analyser of morphemes, where the extra ``korean`` is installed."""

from typing import TYPE_CHECKING

from unmask.knowledge.retrieval_errors import MissingExtraError

if TYPE_CHECKING:
    from kiwipiepy import Kiwi

_NOT_OF_NAMES = ("J", "E", "VCP", "VCN", "XSN", "XSV", "XSA")
"""Tags of particles, endings, copulas and suffixes."""


class KiwiStemmer:
    """Cuts a word before each particle, ending or suffix that kiwipiepy finds in it."""

    def __init__(self, kiwi: "Kiwi") -> None:
        self._kiwi = kiwi

    def stems(self, word: str) -> tuple[str, ...]:
        """Return the beginnings of a word that end where a particle, an ending or a suffix begins."""
        starts = {token.start for token in self._kiwi.tokenize(word) if token.tag.startswith(_NOT_OF_NAMES)}
        return tuple(word[:start] for start in sorted(starts, reverse=True) if start)


def kiwi_stemmer() -> KiwiStemmer:
    """Load the analyser, which takes about a second; it ships its own model and fetches nothing.

    Raises:
        MissingExtraError: kiwipiepy is not installed.
    """
    try:
        from kiwipiepy import Kiwi  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise MissingExtraError("kiwipiepy", "korean", "particles are stripped without it too") from error
    return KiwiStemmer(Kiwi())
