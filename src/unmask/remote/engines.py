"""What an operator says of how diffusion engines were launched, since they do not tell it themselves."""

from dataclasses import dataclass

from unmask.types import Bucket

METRICS_PATH = "/metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmSettings:
    """A vLLM that serves a diffusion model.

    Attributes:
        canvas_length: as it was launched with.
        max_steps: denoise steps after which it finishes a canvas that has no cap of its own.
        default_steps: of a canvas whose request names none; ``None`` is ``max_steps``.
        canvas_lengths: smaller canvases that requests may choose, where it schedules asynchronously.
        vocabulary: how many tokens the model has: open positions of a draft start as any of them. For models that
            denoise from noise; without this and ``mask_token`` drafts are refused.
        mask_token: what open positions of a draft start as, for models that denoise from masks.
        metrics_path: where its counters stand, at the root of its address; ``None`` leaves steps unknown.
    """

    canvas_length: int
    max_steps: int
    default_steps: int | None = None
    canvas_lengths: tuple[int, ...] = ()
    vocabulary: int | None = None
    mask_token: int | None = None
    metrics_path: str | None = METRICS_PATH

    @property
    def takes_drafts(self) -> bool:
        """Whether it is known what the open positions of a draft hold."""
        return self.vocabulary is not None or self.mask_token is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """SGLang servers of one setting.

    Attributes:
        name: upstreams say which pool they belong to.
        steps: most denoise steps of a canvas that its setting can come to.
        threshold: confidence from which its algorithm reveals a token; it is part of what a policy is measured with.
        buckets: tiers whose requests go to it where it is within their cap.
    """

    name: str
    steps: int
    threshold: float | None = None
    buckets: tuple[Bucket, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SglangSettings:
    """SGLang servers that serve a diffusion model.

    Attributes:
        canvas_length: the block size that all were launched with.
    """

    canvas_length: int
    pools: tuple[PoolSettings, ...]

    @property
    def default_pool(self) -> PoolSettings:
        """Where requests without a budget go."""
        return max(self.pools, key=lambda pool: pool.steps)
