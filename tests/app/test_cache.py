"""Behaviour of `unmask.app.cache`."""

from dataclasses import replace
from pathlib import Path

import pytest

from unmask.app.cache import cache_parts
from unmask.config import Settings
from unmask.config.choices import CacheMode
from unmask.control.cached import CacheParts
from unmask.errors import ConfigError
from unmask.testing.builders import make_generation
from unmask.testing.caches import make_question
from unmask.testing.manual_clock import ManualClock
from unmask.types import Verification

SEMANTIC = Settings(cache=CacheMode.SEMANTIC)


def parts_of(settings: Settings, folder: Path) -> CacheParts | None:
    """Build the parts of a server with some settings."""
    return cache_parts(settings, folder, ManualClock(), new_id=lambda: "id", draw_seed=lambda: 0)


def test_there_is_none_unless_asked_for(tmp_path: Path) -> None:
    """By default."""
    assert parts_of(Settings(), tmp_path) is None


@pytest.mark.parametrize(("mode", "found"), [(CacheMode.EXACT, "miss"), (CacheMode.SEMANTIC, "semantic")])
async def test_only_a_semantic_cache_compares(tmp_path: Path, mode: CacheMode, found: str) -> None:
    """The other one finds the very same words."""
    parts = parts_of(Settings(cache=mode), tmp_path)
    assert parts is not None
    first, second = make_question("하은의 고향이 뭐야?"), make_question("하은의 고향을 알려 주세요.")
    looked = await parts.cache.find(first)
    parts.cache.put(first, make_generation(), Verification.SKIPPED, looked.meaning)

    assert (await parts.cache.find(first)).match == "exact"
    assert (await parts.cache.find(second)).match == found
    parts.close()


def test_vectors_of_a_server_need_a_threshold(tmp_path: Path) -> None:
    """None is calibrated for them; the message says how to find one."""
    settings = replace(SEMANTIC, cache_embeddings="small@http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match="unmask cache calibrate --embeddings small@"):
        parts_of(settings, tmp_path)
    parts = parts_of(replace(settings, cache_similarity=0.8), tmp_path)
    assert parts is not None
    parts.close()


async def test_a_server_of_embeddings_that_is_down_keeps_no_answer_out(tmp_path: Path) -> None:
    """The very same words are found without it."""
    settings = replace(SEMANTIC, cache_embeddings="small@http://127.0.0.1:9/v1", cache_similarity=0.8)
    parts = parts_of(settings, tmp_path)
    assert parts is not None
    question = make_question("고향이 뭐야?")
    looked = await parts.cache.find(question)
    parts.cache.put(question, make_generation(), Verification.SKIPPED, looked.meaning)

    assert (await parts.cache.find(question)).match == "exact"
    assert not parts.cache.is_embedder_up
    parts.close()
