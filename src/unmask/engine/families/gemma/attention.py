"""Attention of DiffusionGemma's layers over KV pages, in place of transformers' own caches and masks.

Rows are flat: all but attention treats tokens one by one, so rows of all lengths share a forward unpadded. Layers of a
sliding window see the last ``window`` positions when they append; a canvas sees all of itself and, of its context, one
position fewer than the window holds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ATTENTION = "unmask_pages"
"""What transformers calls it by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A row's tokens in a forward.

    Attributes:
        start: position of the first of them.
        count: how many.
        slots: in the pool, of all positions up to the last token that is appended, ``[positions]``.
    """

    start: int
    count: int
    slots: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one forward, all of which append or all of which denoise.

    Attributes:
        spans: of the rows.
        pool: keys and values of each layer, ``[slots, 2, heads, width]``.
        appends: whether keys and values of the tokens are kept.
    """

    spans: tuple[Span, ...]
    pool: tuple[Tensor, ...]
    appends: bool

    def attend(self, layer: int, query: Tensor, fresh: Tensor, window: int | None, scale: float) -> Tensor:
        """Return what queries find.

        Args:
            layer: its number.
            query: ``[tokens, heads, width]``.
            fresh: keys and values of the same tokens, ``[tokens, 2, key heads, width]``.
            window: positions that a sliding layer sees.
            scale: of products.

        Returns:
            ``[tokens, heads, width]``.
        """
        counts = [span.count for span in self.spans]
        one = self._appended if self.appends else self._denoised
        parts = zip(self.spans, query.split(counts), fresh.split(counts), strict=True)
        return torch.cat([one(span, self.pool[layer], queries, own, window, scale) for span, queries, own in parts])

    def _appended(
        self, span: Span, pool: Tensor, query: Tensor, own: Tensor, window: int | None, scale: float
    ) -> Tensor:
        pool[span.slots[span.start :]] = own
        first = 0 if window is None else max(0, span.start - window + 1)
        places = torch.arange(first, span.start + span.count, device=query.device)
        behind = places[span.start - first :, None] - places
        sees = behind >= 0 if window is None else (behind >= 0) & (behind < window)
        return _found(query, pool[span.slots[first:]], sees, scale)

    def _denoised(
        self, span: Span, pool: Tensor, query: Tensor, own: Tensor, window: int | None, scale: float
    ) -> Tensor:
        first = 0 if window is None else max(0, span.start - window + 1)
        return _found(query, torch.cat((pool[span.slots[first:]], own)), None, scale)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,  # noqa: ARG001 - part of the signature that transformers calls
    *,
    scaling: float,
    sliding_window: int | None,
    rows: Rows,
    **_: object,
) -> tuple[Tensor, None]:
    """Attend for a layer of transformers.

    Args:
        module: the layer.
        query: ``[1, heads, tokens, width]``; ``key`` and ``value`` likewise, with fewer heads.
        key: of the same tokens.
        value: of the same tokens.
        attention_mask: none.
        scaling: of products.
        sliding_window: positions that the layer sees, where not all.
        rows: of the forward.

    Returns:
        ``[1, tokens, heads, width]``.
    """
    index: int = module.layer_idx  # type: ignore[assignment] # its own attribute, which stubs would have
    fresh = torch.stack((key[0].transpose(0, 1), value[0].transpose(0, 1)), dim=1)
    return rows.attend(index, query[0].transpose(0, 1), fresh, sliding_window, scaling)[None], None


def layer_sizes(layers: Iterable[Any]) -> tuple[tuple[int, int], ...]:
    """Return heads of keys and values of each layer, and their width."""
    attentions = [layer.self_attn for layer in layers]
    return tuple((part.k_proj.out_features // part.head_dim, part.head_dim) for part in attentions)


def _found(query: Tensor, kept: Tensor, sees: Tensor | None, scale: float) -> Tensor:
    keys, values = kept.permute(1, 2, 0, 3)[:, None]
    found = F.scaled_dot_product_attention(
        query.transpose(0, 1)[None], keys, values, attn_mask=sees, scale=scale, enable_gqa=True
    )
    return found[0].transpose(0, 1)
