"""What the engine must know of a model family beyond its weights."""

from dataclasses import dataclass

NO_MASK = -1
"""Stands for an open position where a model has no mask: no token's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """Special ids and capabilities of a model.

    Attributes:
        mask: id that marks an open position; `NO_MASK` of a model that starts from noise.
        end: id after which nothing is output; what follows it is filled with it.
        other_ends: further ids after which nothing is output.
        forbidden: ids that are never drawn (the mask among them).
        exact_cache: whether committed KV equals that of a full forward.
        fused_prefill: whether the last prompt chunk may share a row with the first denoise step.
        fused_commit: whether a finished canvas may be appended in the row of the next canvas.
    """

    mask: int
    end: int
    forbidden: tuple[int, ...]
    other_ends: tuple[int, ...] = ()
    exact_cache: bool = True
    fused_prefill: bool = True
    fused_commit: bool = True

    @property
    def ends(self) -> tuple[int, ...]:
        """All ids after which nothing is output."""
        return (self.end, *self.other_ends)

    def horizon(self, tokens: tuple[int, ...], limit: int) -> int:
        """Return how many positions matter: up to and including the first end token, within the limit."""
        within = tokens[:limit]
        return min((within.index(end) + 1 for end in self.ends if end in within), default=limit)

    def closed(self, tokens: tuple[int, ...]) -> tuple[int, ...]:
        """Fill everything after the first end token with end tokens."""
        kept = self.horizon(tokens, len(tokens))
        return tokens[:kept] + (self.end,) * (len(tokens) - kept)
