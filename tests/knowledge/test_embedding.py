"""Behaviour of the embedders that work offline, and of the cache of vectors."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from unmask.knowledge.embedding import NgramEmbedder, Vectors, default_embedder, read_words, word_embedder
from unmask.knowledge.retrieval_errors import EmbedderError, MissingExtraError
from unmask.knowledge.vectors import VectorCache
from unmask.testing.small_worlds import small_world


def test_words_that_mean_alike_are_alike() -> None:
    """The word vectors know that a sword is nearer to a blade than to a baker."""
    sword, blade, baker = word_embedder().embed(["a sword", "a blade", "the bakery"])

    assert sword @ blade > sword @ baker
    assert np.linalg.norm(sword) == pytest.approx(1, abs=1e-5)


def test_ngrams_find_shared_letters_in_any_script() -> None:
    """Hangul texts of one stem are alike, whatever particles follow; the same text is the same vector."""
    embedder = NgramEmbedder()
    one, other, far = embedder.embed(["카엘리스의 고향", "카엘리스는 고향이", "마을의 대장장이"])

    assert one @ other > one @ far
    assert (embedder.embed(["카엘리스의 고향"])[0] == one).all()


@pytest.mark.parametrize("embedder", [NgramEmbedder(), word_embedder()])
def test_shapes(embedder: NgramEmbedder) -> None:
    """Rows are float32, as many as texts, zeros for what says nothing; no texts are no rows."""
    rows = embedder.embed(["", "x"])

    assert rows.dtype == np.float32
    assert rows.shape[0] == 2
    assert np.isfinite(rows).all()
    assert embedder.embed([]).shape == (0, rows.shape[1])


def test_english_without_the_extra_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters are compared instead, and the note says what to install; Korean never asks for it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr("unmask.knowledge.embedding.find_spec", lambda _: None)

    chosen = default_embedder("en")

    assert chosen.embedder.name == NgramEmbedder().name
    assert "unmask[knowledge]" in str(chosen.note)
    assert default_embedder("ko").note is None
    with pytest.raises(MissingExtraError):
        word_embedder()


def test_damaged_tables_are_an_error(tmp_path: Path) -> None:
    """Files that are not what they should be are named."""
    with pytest.raises(EmbedderError, match=str(tmp_path)):
        read_words(tmp_path)


class CountingEmbedder:
    """Counts the texts it is given."""

    def __init__(self) -> None:
        self.texts = 0
        self.name = "counting"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return ones."""
        self.texts += len(texts)
        return np.ones((len(texts), 1), np.float32)


def test_statements_are_embedded_once_per_world_and_language() -> None:
    """A second look costs nothing; another language is other texts."""
    world, embedder, cache = small_world(), CountingEmbedder(), VectorCache()

    first = cache.of(world, "en", embedder)
    assert cache.of(small_world(), "en", embedder) is first
    assert embedder.texts == len(world.statements)
    cache.of(world, "ko", embedder)
    assert embedder.texts == 2 * len(world.statements)
