"""Texts as vectors, without a network: word vectors for English, character n-grams for everything else."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from unmask.knowledge.retrieval_errors import EmbedderError, MissingExtraError
from unmask.knowledge.script import fold

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Unit rows, one a text; a text that says nothing is a row of zeros."""

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
_TYPES = {"F16": np.float16, "F32": np.float32}


class Embedder(Protocol):
    """Turns texts into vectors whose products say how alike they are."""

    @property
    def name(self) -> str:
        """What vectors are kept under: embedders of one name give the same vectors."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row a text, [texts, dimensions].

        Raises:
            EmbedderError: there are no vectors to be had.
        """
        ...


class NgramEmbedder:
    """Hashes the character n-grams of a text into a vector of counts (Weinberger et al. 2009, with signs).

    Knows no language, so it serves all; alike are texts that share letters, not those that mean the same.
    """

    def __init__(self, dimensions: int = 256, sizes: tuple[int, ...] = (2, 3)) -> None:
        self._dimensions = dimensions
        self._sizes = sizes

    @property
    def name(self) -> str:
        """Return what vectors are kept under."""
        return f"ngrams-{'-'.join(map(str, self._sizes))}-{self._dimensions}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the normalised counts of n-grams, words padded with one blank on both sides."""
        rows = [self._row(text) for text in texts]
        return _unit(np.stack(rows)) if rows else np.zeros((0, self._dimensions), np.float32)

    def _row(self, text: str) -> Vectors:
        padded = f" {' '.join(fold(text).split())} "
        points = np.frombuffer(padded.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
        hashes = []
        for size in self._sizes:
            if len(points) >= size:
                grams = np.zeros(len(points) - size + 1, np.uint64)
                for at in range(size):
                    grams = (grams + points[at : len(points) - size + 1 + at]) * _SPREAD
                hashes.append(grams ^ (grams >> np.uint64(29)))
        if not hashes:
            return np.zeros(self._dimensions, np.float32)
        found = np.concatenate(hashes)
        signs = np.where(found & np.uint64(1), 1.0, -1.0)
        places = ((found >> np.uint64(8)) % np.uint64(self._dimensions)).astype(np.int64)
        return np.bincount(places, signs, self._dimensions).astype(np.float32)


class WordEmbedder:
    """Means of word vectors: the tables that come inside the package ``wordllama`` (Miller 2024), English.

    The tables are read from the installed package's own files. Nothing is ever fetched.
    """

    def __init__(self, table: Vectors, tokenizer: Any) -> None:  # noqa: ANN401 - tokenizers has no types
        self._table = table
        self._tokenizer = tokenizer

    @property
    def name(self) -> str:
        """Return what vectors are kept under."""
        return f"wordllama-l2-supercat-{self._table.shape[1]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the normalised means of the vectors of a text's tokens."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False) if texts else []
        rows = np.zeros((len(texts), self._table.shape[1]), np.float32)
        for at, found in enumerate(encoded):
            if found.ids:
                rows[at] = self._table[found.ids].mean(axis=0)
        return _unit(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The embedder that a language gets, and what is to be said of the choice."""

    embedder: Embedder
    note: str | None = None


def default_embedder(language: str) -> Chosen:
    """Choose the embedder that works offline: word vectors for English where they are installed, else n-grams."""
    if language != "en":
        return Chosen(embedder=NgramEmbedder())
    try:
        return Chosen(embedder=word_embedder())
    except MissingExtraError as error:
        return Chosen(embedder=NgramEmbedder(), note=error.message)


def word_embedder() -> WordEmbedder:
    """Read the word vectors of the installed package ``wordllama``, 16 MB.

    Raises:
        MissingExtraError: it is not installed.
        EmbedderError: its files are damaged or of another form.
    """
    found = find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("wordllama", "knowledge", "texts are compared by their letters instead")
    return read_words(Path(found.submodule_search_locations[0]))


@cache
def read_words(folder: Path) -> WordEmbedder:
    """Read word vectors from the folder of a ``wordllama`` package, once per process.

    Raises:
        EmbedderError: its files are missing, damaged or of another form.
    """
    try:
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return WordEmbedder(_table(folder / _WEIGHTS), tokenizer)
    except Exception as error:  # the library raises nothing narrower
        raise EmbedderError(f"the word vectors in {folder} cannot be read: {error}; install wordllama again") from error


def _table(path: Path) -> Vectors:
    """Read the one tensor of a safetensors file: eight bytes of length, a JSON header, numbers."""
    content = path.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    entry = json.loads(content[8:begin])[_TENSOR]
    first, last = entry["data_offsets"]
    numbers = np.frombuffer(content[begin + first : begin + last], _TYPES[entry["dtype"]])
    return numbers.reshape(entry["shape"]).astype(np.float32)


def _unit(rows: npt.NDArray[np.floating[Any]]) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
