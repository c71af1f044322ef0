"""Behaviour of `unmask.cache.embedding`."""

from unmask.cache.embedding import RETRY_S, OfflineEmbeddings, ServerEmbeddings, thresholds
from unmask.knowledge.embedding import default_embedder
from unmask.testing.caches import FlakyEmbedder
from unmask.testing.manual_clock import ManualClock


async def test_offline_embedders_have_calibrated_thresholds() -> None:
    """One for English and one for everything else, each with its own vectors."""
    embeddings = OfflineEmbeddings()
    english, korean = await embeddings.compared("What is your home?"), await embeddings.compared("고향이 뭐야?")

    assert english is not None
    assert korean is not None
    for found, language in ((english, "en"), (korean, "ko")):
        assert found.meaning.embedder == default_embedder(language).embedder.name
        assert found.least == thresholds()[found.meaning.embedder]


async def test_a_threshold_of_ones_own_stands_in() -> None:
    """For both embedders."""
    embeddings = OfflineEmbeddings(0.75)

    assert [found.least for text in ("home", "고향") if (found := await embeddings.compared(text))] == [0.75, 0.75]


async def test_a_server_that_is_down_is_left_alone_for_a_while() -> None:
    """Nobody waits for it meanwhile, and it is asked again afterwards."""
    clock, embedder = ManualClock(), FlakyEmbedder()
    closed: list[bool] = []
    embeddings = ServerEmbeddings(embedder, 0.5, clock, lambda: closed.append(True))
    assert await embeddings.compared("home") is not None
    embedder.is_down = True
    assert [await embeddings.compared("home") for _ in range(3)] == [None, None, None]
    assert (embedder.asked, embeddings.is_up, embeddings.failures) == (2, False, 1)
    clock.advance(RETRY_S)
    assert await embeddings.compared("home") is None
    assert embedder.asked == 3
    embedder.is_down = False
    clock.advance(RETRY_S)
    assert await embeddings.compared("home") is not None
    assert embeddings.is_up
    embeddings.close()

    assert closed == [True]
