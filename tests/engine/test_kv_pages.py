"""Behaviour of `unmask.engine.kv_pages`."""

import pytest
import torch

from unmask.engine.kv_pages import KvPages

SIZE = 4


def make_pool(dtype: torch.dtype, *sizes: int) -> torch.Tensor:
    """Return three layers of six pages and a spare slot, every number another one."""
    pool = torch.zeros(3, 6 * SIZE + 1, *sizes, dtype=dtype)
    return torch.arange(pool.numel()).view_as(pool).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("sizes", [(8,), (2, 2, 3)])
def test_pages_are_the_same_where_they_are_written(dtype: torch.dtype, sizes: tuple[int, ...]) -> None:
    """In other places of another pool; nothing else is touched."""
    pool = make_pool(dtype, *sizes)
    other = torch.zeros_like(pool)
    data = KvPages(pool, SIZE).read([4, 1])
    KvPages(other, SIZE).write([0, 5], range(2 * SIZE), data)

    assert len(data) == 2 * KvPages(pool, SIZE).page_bytes
    assert torch.equal(other[:, :SIZE], pool[:, 4 * SIZE : 5 * SIZE])
    assert torch.equal(other[:, 5 * SIZE : 6 * SIZE], pool[:, SIZE : 2 * SIZE])
    assert not other[:, SIZE : 5 * SIZE].any()


def test_ids_are_written_too() -> None:
    """Where a runner keeps them."""
    pool, ids = make_pool(torch.float32, 8), torch.zeros(6 * SIZE, dtype=torch.long)
    pages = KvPages(pool, SIZE, ids)
    pages.write([2], [7, 8, 9, 10], pages.read([1]))

    assert ids.tolist() == [0] * 8 + [7, 8, 9, 10] + [0] * 12


def test_pages_that_would_not_fit_have_another_layout() -> None:
    """Layers, page size, width and type of numbers are all in it."""
    pools = [make_pool(torch.float32, 8), make_pool(torch.bfloat16, 8), make_pool(torch.float32, 2, 4)]
    layouts = {KvPages(pool, SIZE).layout for pool in pools} | {KvPages(pools[0][:2], SIZE).layout}

    assert len(layouts | {KvPages(pools[0], 2 * SIZE).layout}) == 5
