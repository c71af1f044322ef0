"""How many pages there is memory for."""

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import ConfigError
from unmask.local.memory import FREE_SHARE, PoolNeed, check_pages, free_memory, measured_pages

NEED = PoolNeed(model="tiny", page_bytes=1_000, page_size=32, context_length=1_024, max_rows=16)
FULL = 3 * 16 * 32
"""Pages of three batches of sixteen contexts of thirty-two pages."""


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder and return it."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="ascii")
    return root


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, None),
        ({"proc/meminfo": "MemTotal:  900 kB\nMemAvailable:  500 kB\n"}, 512_000),
        (
            {
                "proc/meminfo": "MemAvailable: 500 kB\n",
                "sys/fs/cgroup/memory.max": "200000\n",
                "sys/fs/cgroup/memory.current": "150000\n",
                "sys/fs/cgroup/memory.stat": "anon 90000\ninactive_file 30000\n",
            },
            80_000,
        ),
        ({"proc/meminfo": "MemAvailable: 500 kB\n", "sys/fs/cgroup/memory.max": "max\n"}, 512_000),
        (
            {
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "4000\n",
            },
            0,
        ),
    ],
    ids=["elsewhere", "machine", "container", "unlimited container", "container of old, full"],
)
def test_free_is_what_the_machine_or_the_container_has_left(
    files: dict[str, str], free: int | None, tmp_path: Path
) -> None:
    """Whichever is less; files that were read can be dropped."""
    assert free_memory(write(tmp_path, files)) == free


@given(free=st.integers(0, 10**9), models=st.integers(1, 4))
def test_pools_take_their_part_of_what_is_free_or_nothing(free: int, models: int) -> None:
    """All models together never more than half; each at least one request of the whole context, or it is refused."""
    if int(FREE_SHARE * free) // models < NEED.context_pages * NEED.page_bytes:
        with pytest.raises(ConfigError):
            measured_pages(NEED, free, models)
        return
    pages = measured_pages(NEED, free, models)
    assert NEED.context_pages <= pages <= FULL
    assert models * pages * NEED.page_bytes <= FREE_SHARE * free


def test_a_pool_is_no_larger_than_full_batches_need(caplog: pytest.LogCaptureFixture) -> None:
    """However much is free, or where nobody says; the figures are logged, aloud where memory was short."""
    caplog.set_level(logging.INFO)

    assert measured_pages(NEED, None, 1) == measured_pages(NEED, 10**12, 1) == FULL
    assert measured_pages(NEED, 2 * 10**6, 2) == 500
    assert [record.levelno for record in caplog.records] == [logging.INFO, logging.WARNING]
    assert caplog.messages[1] == (
        "KV pages of tiny: 500 of 32 tokens, 0.5 MiB; 1.9 MiB of memory are free, "
        "1536 pages are three full batches of 16"
    )


def test_too_little_memory_is_refused_with_its_numbers() -> None:
    """What is free, whose part holds what, what one request takes, and what may be done."""
    with pytest.raises(ConfigError) as caught:
        measured_pages(NEED, 100_000, 2)

    assert caught.value.message == (
        "page_pool_tokens is left out, and of 0.1 MiB of free memory the part of tiny, 0.25 of it, holds KV pages for "
        "800 tokens, allowed: 1024 or more, one request's, which take 0.0 MiB. Free memory, load fewer models, or "
        "choose precision bfloat16."
    )


def test_a_setting_larger_than_the_memory_is_refused_with_its_numbers() -> None:
    """The system would grant it, and end the server once it is used."""
    needs = (NEED, NEED)
    check_pages(50, needs, 100_000)
    check_pages(10**9, needs, None)
    with pytest.raises(ConfigError, match=r"page_pool_tokens is 1632, .* up to 1600\.") as caught:
        check_pages(51, needs, 100_000)

    assert caught.value.param == "page_pool_tokens"
