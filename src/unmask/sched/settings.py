"""What decides the shape of a batch."""

from collections.abc import Iterable
from dataclasses import dataclass

from unmask.service import Batching


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReserve:
    """Share of the pages that is kept for one service class."""

    service_class: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedSettings:
    """Sizes and switches of the scheduler.

    Attributes:
        pages: KV pages in all.
        page_size: tokens a page holds.
        max_rows: rows of one forward.
        prefill_tokens: prompt tokens a tick may append over all rows; a longer prompt is appended in chunks.
        chunked_prefill: whether prompts are appended in chunks at all.
        prefix_cache: whether pages are shared between prompts that begin alike.
        fused_prefill: whether the last chunk shares a row with the first denoise step.
        fused_commit: whether a finished canvas is appended in the row of the next one.
        batching: whether requests join and leave at every step, or a batch of one bucket as a whole.
        tick_tokens: row tokens of one tick; the others pause. ``None``: whatever ``max_rows`` rows hold.
        fast_tick_tokens: the tokens up to which a tick takes rows of other classes while interactive work is
            there. ``None``: as many as ever.
        page_reserves: pages kept for classes.
        patience_s: where a class has no deadline, the wait after which its queue counts as behind.
        fill_wait_s: how long a request of an aligned batch may be passed over while its bucket is not full, and the
            longest that anybody is held on an idle engine for others to join.
    """

    pages: int = 1024
    page_size: int = 32
    max_rows: int = 16
    prefill_tokens: int = 256
    chunked_prefill: bool = True
    prefix_cache: bool = True
    fused_prefill: bool = True
    fused_commit: bool = True
    batching: Batching = Batching.STEP
    tick_tokens: int | None = None
    fast_tick_tokens: int | None = None
    page_reserves: tuple[PageReserve, ...] = ()
    patience_s: float = 60.0
    fill_wait_s: float = 0.1

    def reserved_pages(self, service_class: str) -> int:
        """Return the pages kept for a class."""
        return sum(
            int(entry.share * self.pages) for entry in self.page_reserves if entry.service_class == service_class
        )

    def reserves_beside(self, service_class: str) -> Iterable[str]:
        """Return the other classes that pages are kept for."""
        return (entry.service_class for entry in self.page_reserves if entry.service_class != service_class)

    def most_pages(self, service_class: str) -> int:
        """Return the pages that a request of a class can come to hold: all but those kept for others."""
        return self.pages - sum(map(self.reserved_pages, self.reserves_beside(service_class)))
