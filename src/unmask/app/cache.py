"""Builds what keeps answers to give them again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from unmask.cache.cache import AnswerCache
from unmask.cache.embedding import Embeddings, OfflineEmbeddings, ServerEmbeddings
from unmask.cache.store import AnswerStore, Bounds
from unmask.clock import Clock
from unmask.config import Settings
from unmask.config.choices import CacheMode
from unmask.config.state import state_folder
from unmask.control.cache_audits import AuditBook
from unmask.control.cached import CacheParts
from unmask.errors import ConfigError
from unmask.knowledge.endpoint_embedder import EndpointEmbedder

EMBED_S = 1.0
"""Longest that a server of embeddings is waited for: a request waits as long."""


def audit_folder(environ: Mapping[str, str]) -> Path:
    """Return where comparisons of cached answers are kept: in the user's folder of state."""
    return state_folder(environ) / "cache"


def cache_parts(
    settings: Settings, audits: Path, clock: Clock, *, new_id: Callable[[], str], draw_seed: Callable[[], int]
) -> CacheParts | None:
    """Return what answers are kept by, or nothing where none are.

    Args:
        settings: how many, how long, and who compares them.
        audits: the folder of comparisons.
        clock: tells their age.
        new_id: names them.
        draw_seed: makes the seed of draws.

    Raises:
        ConfigError: a server of embeddings is named, and not how alike its vectors have to be.
    """
    if settings.cache is CacheMode.OFF:
        return None
    bounds = Bounds(entries=settings.cache_entries, bytes=settings.cache_bytes, ttl_s=settings.cache_ttl_s)
    embeddings = _embeddings(settings, clock) if settings.cache is CacheMode.SEMANTIC else None
    return CacheParts(
        cache=AnswerCache(AnswerStore(bounds, clock), embeddings, clock, new_id),
        audit_share=settings.cache_audit_share,
        draw=Random(draw_seed()).random,
        book=AuditBook(audits),
    )


def _embeddings(settings: Settings, clock: Clock) -> Embeddings:
    if settings.cache_embeddings is None:
        return OfflineEmbeddings(settings.cache_similarity or None)
    if not settings.cache_similarity:
        raise ConfigError(
            "cache_similarity is 0, allowed: above 0 with cache_embeddings, whose vectors are not calibrated. Find it "
            f"with `unmask cache calibrate --embeddings {settings.cache_embeddings}`.",
            param="cache_similarity",
        )
    model, _, url = settings.cache_embeddings.partition("@")
    embedder = EndpointEmbedder(url, model, timeout_s=EMBED_S)
    return ServerEmbeddings(embedder, settings.cache_similarity, clock, embedder.close)
