"""What the engine must know of a model family beyond its weights."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """Special ids and capabilities of a model with an absorbing mask.

    Attributes:
        mask: id that marks an open position.
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
