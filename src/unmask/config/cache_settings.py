"""Settings of the cache of answers: their types, what they allow and what they mean."""

from typing import Annotated

from unmask.config.choices import CacheMode
from unmask.config.rules import Group, ModelAt, OneOf, Range, Setting

CacheChoice = Annotated[
    CacheMode,
    Setting(
        Group.CACHE,
        OneOf(CacheMode),
        "Whether an answer may be given again: to the very same request, or also to one that asks the same in "
        "other words. Never across tenants.",
    ),
]

CacheEntries = Annotated[
    int,
    Setting(Group.CACHE, Range(1, 10_000_000), "Most answers kept; beyond it the one unused longest goes."),
]

CacheBytes = Annotated[
    int,
    Setting(Group.CACHE, Range(65_536, 1 << 40), "Most bytes that kept answers take, by a rough count."),
]

CacheTtl = Annotated[
    float, Setting(Group.CACHE, Range(1, 31_536_000), "Seconds after which an answer is not given again.")
]

CacheAuditShare = Annotated[
    float,
    Setting(
        Group.CACHE,
        Range(0, 1),
        "Share of hits that are generated again and compared; the new text is answered. Without any, nobody "
        "knows how many hits are false.",
    ),
]

CacheEmbeddings = Annotated[
    str | None,
    Setting(
        Group.CACHE,
        ModelAt(),
        "Server with /v1/embeddings whose vectors compare questions.",
        empty="word vectors and n-grams, without any server",
    ),
]

CacheSimilarity = Annotated[
    float,
    Setting(
        Group.CACHE,
        Range(0, 1),
        "Least cosine of questions that may ask the same; 0 takes the calibrated one. For a server's vectors "
        "`unmask cache calibrate` finds it, and it has to be set.",
    ),
]
