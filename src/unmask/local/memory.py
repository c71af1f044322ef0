"""How many KV pages there is memory for: measured where the server starts."""

import logging
from dataclasses import dataclass
from pathlib import Path

from unmask.errors import ConfigError

_LOG = logging.getLogger(__name__)

FREE_SHARE = 0.5
"""Part of the free memory that measured pools take together: forwards need some, and so does everybody else."""
BATCHES = 3
"""Full batches of whole contexts that a measured pool holds at most: one that runs, two that the prefix cache keeps."""
MEBIBYTE = 1 << 20
SETTING = "page_pool_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolNeed:
    """What one model's pages are sized by.

    Attributes:
        page_bytes: memory that a page takes.
        page_size: tokens that it holds.
        context_length: most tokens of one request.
        max_rows: requests that run at once.
    """

    model: str
    page_bytes: int
    page_size: int
    context_length: int
    max_rows: int

    @property
    def context_pages(self) -> int:
        """Pages of one request of the whole context."""
        return -(-self.context_length // self.page_size)


def measured_pages(need: PoolNeed, free: int | None, models: int) -> int:
    """Return the pages of a model's pool: what full batches come to, or what its part of the free memory holds.

    Args:
        need: the model's.
        free: bytes that are free; ``None`` where the system does not say, which limits nothing.
        models: how many share them.

    Raises:
        ConfigError: not even one request of the whole context would fit.
    """
    wanted = BATCHES * need.max_rows * need.context_pages
    if free is None:
        return wanted
    fitting = int(FREE_SHARE * free) // models // need.page_bytes
    if fitting < need.context_pages:
        raise ConfigError(
            f"{SETTING} is left out, and of {free / MEBIBYTE:.1f} MiB of free memory the part of {need.model}, "
            f"{FREE_SHARE / models:.3g} of it, holds KV pages for {fitting * need.page_size} tokens, allowed: "
            f"{need.context_length} or more, one request's, which take "
            f"{need.context_pages * need.page_bytes / MEBIBYTE:.1f} MiB. Free memory, load fewer models, or choose "
            "precision bfloat16.",
            param=SETTING,
        )
    pages = min(wanted, fitting)
    _LOG.log(
        logging.WARNING if pages < wanted else logging.INFO,
        "KV pages of %s: %d of %d tokens, %.1f MiB; %.1f MiB of memory are free, %d pages are three full batches of %d",
        need.model,
        pages,
        need.page_size,
        pages * need.page_bytes / MEBIBYTE,
        free / MEBIBYTE,
        wanted,
        need.max_rows,
    )
    return pages


def check_pages(pages: int, needs: tuple[PoolNeed, ...], free: int | None) -> None:
    """Refuse pools that a setting makes larger than the memory: the system would grant them, and kill later.

    Raises:
        ConfigError: the models' pages, so many for each, take more than is free.
    """
    a_page = sum(need.page_bytes for need in needs)
    if free is None or pages * a_page <= free:
        return
    size = needs[0].page_size
    raise ConfigError(
        f"{SETTING} is {pages * size}, and the KV pages of {', '.join(need.model for need in needs)} take "
        f"{pages * a_page / MEBIBYTE:.1f} MiB, of {free / MEBIBYTE:.1f} MiB that are free, allowed: up to "
        f"{free // a_page * size}. Lower it, or leave it out to have it measured.",
        param=SETTING,
    )


def free_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may still take: of the machine, or of its container where that has fewer.

    Linux alone says; elsewhere the answer is ``None``.

    Args:
        root: of the file system, for tests.
    """
    found = [_available(root / "proc/meminfo"), *(_left(*paths) for paths in _limits(root / "sys/fs/cgroup"))]
    return min((one for one in found if one is not None), default=None)


def _available(meminfo: Path) -> int | None:
    for line in _text(meminfo).splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None


def _limits(folder: Path) -> tuple[tuple[Path, Path, Path], ...]:
    """Return where a container's limit, use and statistics are, as the second and the first version have them."""
    old = folder / "memory"
    return (
        (folder / "memory.max", folder / "memory.current", folder / "memory.stat"),
        (old / "memory.limit_in_bytes", old / "memory.usage_in_bytes", old / "memory.stat"),
    )


def _left(limit: Path, used: Path, statistics: Path) -> int | None:
    most, taken = _text(limit).strip(), _text(used).strip()
    if not (most.isdecimal() and taken.isdecimal()):
        return None
    # Files that were read and may be dropped count as used, and are not.
    lines = dict(line.rpartition(" ")[::2] for line in _text(statistics).splitlines())
    cached = lines.get("total_inactive_file", lines.get("inactive_file", "0"))
    return max(0, int(most) - int(taken) + int(cached))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
