"""What decides the shape of a batch."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedSettings:
    """Sizes and switches of the scheduler.

    Attributes:
        pages: KV pages in all.
        page_size: tokens a page holds.
        max_rows: sequences that run at once.
        prefill_tokens: prompt tokens a tick may append over all rows; a longer prompt is appended in chunks.
        chunked_prefill: whether prompts are appended in chunks at all.
        prefix_cache: whether pages are shared between prompts that begin alike.
        fused_prefill: whether the last chunk shares a row with the first denoise step.
        fused_commit: whether a finished canvas is appended in the row of the next one.
        lockstep: whether a batch is filled once and every row waits for the slowest, for comparison.
    """

    pages: int = 1024
    page_size: int = 32
    max_rows: int = 16
    prefill_tokens: int = 256
    chunked_prefill: bool = True
    prefix_cache: bool = True
    fused_prefill: bool = True
    fused_commit: bool = True
    lockstep: bool = False
