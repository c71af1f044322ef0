"""KV pages as bytes, to be kept by another engine of the same weights."""

from collections.abc import Sequence

import torch
from torch import Tensor


class KvPages:
    """Reads and writes the pages of a runner; by its engine's thread alone.

    Args:
        pool: keys and values, ``[layers, slots, ...]``; a page is ``page_size`` slots.
        page_size: tokens of a page.
        ids: of the tokens, ``[slots]``, where the runner keeps them too.
    """

    def __init__(self, pool: Tensor, page_size: int, ids: Tensor | None = None) -> None:
        self._pool = pool
        self._page_size = page_size
        self._ids = ids

    @property
    def layout(self) -> str:
        """What another engine's pages have to be like, to be written here."""
        layers, _, *sizes = self._pool.shape
        return f"{layers}x{self._page_size}x{'x'.join(map(str, sizes))} {self._pool.dtype}"

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        return self._pool[:, : self._page_size].nbytes

    @torch.inference_mode()
    def read(self, pages: Sequence[int]) -> bytes:
        """Return keys and values, page after page."""
        kept = self._pool[:, self._slots(pages)]
        paged = kept.unflatten(1, (len(pages), self._page_size)).transpose(0, 1).contiguous()
        # By way of whole numbers, as NumPy has no bfloat16.
        return bytes(paged.flatten().view(torch.uint8).cpu().numpy())

    @torch.inference_mode()
    def write(self, pages: Sequence[int], tokens: Sequence[int], data: bytes) -> None:
        """Put what `read` gave, of so many tokens, into pages."""
        layers, _, *sizes = self._pool.shape
        paged = torch.frombuffer(bytearray(data), dtype=self._pool.dtype)
        paged = paged.view(len(pages), layers, self._page_size, *sizes).transpose(0, 1).flatten(1, 2)
        slots = self._slots(pages)
        self._pool[:, slots] = paged.to(self._pool.device)
        if self._ids is not None:
            self._ids[slots.to(self._ids.device)] = torch.tensor(tokens, dtype=self._ids.dtype, device=self._ids.device)

    def _slots(self, pages: Sequence[int]) -> Tensor:
        first = torch.tensor(pages, dtype=torch.long, device=self._pool.device) * self._page_size
        return (first[:, None] + torch.arange(self._page_size, device=self._pool.device)).flatten()
