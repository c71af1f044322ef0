"""Weights out of an object store, on this machine's disk, each file by the digest that its uploader gave it.

Beside the files lies `SUMS`, as ``sha256sum`` writes it, uploaded last: without it an upload is not finished, and what
does not match it is half an upload, or another one. What can hold code, such as pickles and Python files, is left where
it is.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from fsspec import AbstractFileSystem

from unmask.errors import WeightsError, shown
from unmask.gate.errors import RunFolderError
from unmask.gate.object_store import one_line, opened, store_faults

SUMS = "SHA256SUMS"
WEIGHTS = ".safetensors"
FETCHED = frozenset({WEIGHTS, ".jinja", ".json", ".model", ".txt"})
"""Endings of files that are data and nothing else."""
LARGEST_SUMS = 1 << 20
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def weights_cache(environ: Mapping[str, str]) -> Path:
    """Return where fetched weights are kept, in the words of the XDG base directory specification 0.8.

    Raises:
        RuntimeError: there is no home folder.
    """
    cache = Path(environ.get("XDG_CACHE_HOME", ""))
    # The specification has relative paths ignored.
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "unmask" / "weights"


def fetched_weights(url: str, cache: Path, notice: Callable[[str], None]) -> Path:
    """Fetch weights that are not here yet, and return their file, or their folder where they are several files.

    Args:
        url: of the folder that they and their `SUMS` lie in.
        cache: keeps what was fetched, by the digest of its `SUMS`; what is there was compared when it came.
        notice: told of each file before it is fetched.

    Raises:
        WeightsError: they cannot be read or kept, or are not as `SUMS` says.
    """
    try:
        files, root = opened(url)
    except RunFolderError as error:
        raise WeightsError(error.message) from error
    try:
        content = bytes(files.cat_file(f"{root}/{SUMS}", end=LARGEST_SUMS + 1))
    except FileNotFoundError as error:
        raise WeightsError(
            f"{url} holds no {SUMS}, so whether its upload has finished is not known; make one by "
            f"`sha256sum * > {SUMS}` where the weights are, and upload it last"
        ) from error
    except store_faults(files) as error:
        raise WeightsError(f"cannot read {url}/{SUMS}: {one_line(error)}") from error
    sums = {name: digest for name, digest in _parsed(content, url).items() if PurePosixPath(name).suffix in FETCHED}
    if not any(name.endswith(WEIGHTS) for name in sums):
        raise WeightsError(f"{url}/{SUMS} names no {WEIGHTS} file, allowed: that format alone. Convert the weights.")
    folder = cache / hashlib.sha256(content).hexdigest()[:16] / PurePosixPath(root).name
    for name, digest in sums.items():
        _keep(files, f"{root}/{name}", folder / name, digest, notice)
    return folder if len(sums) > 1 else folder / next(iter(sums))


def _parsed(content: bytes, url: str) -> Mapping[str, str]:
    """Return digests by name; a name may lie in a folder, and never outside of the one that is fetched."""
    sums: dict[str, str] = {}
    if len(content) > LARGEST_SUMS:
        raise WeightsError(f"{url}/{SUMS} is larger than {LARGEST_SUMS} bytes, so it lists no model")
    for number, line in enumerate(content.decode(errors="replace").splitlines(), start=1):
        found = _LINE.fullmatch(line)
        name = PurePosixPath(found[2]) if found else None
        if found is None or name is None or name.is_absolute() or ".." in name.parts or "\0" in found[2]:
            raise WeightsError(
                f"line {number} of {url}/{SUMS} is {shown(line)}, allowed: a SHA-256, two spaces and the name of a "
                "file in that folder, as sha256sum writes it"
            )
        sums[str(name)] = found[1]
    return sums


def _keep(files: AbstractFileSystem, source: str, target: Path, digest: str, notice: Callable[[str], None]) -> None:
    """Fetch one file; it gets its name once it is whole and right, so what has one needs no second look."""
    if target.is_file():
        return
    place = files.unstrip_protocol(source)
    notice(f"fetching {place}")
    # Of this process alone: two jobs of one machine may fetch the same.
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        files.get_file(source, str(partial))
        with partial.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != digest:
            raise WeightsError(
                f"{place} has the SHA-256 {found[:16]} and {SUMS} says {digest[:16]}: its upload has not finished, or "
                f"another one is under way; upload it again, and {SUMS} last"
            )
        partial.replace(target)
    except store_faults(files) as error:
        raise WeightsError(f"cannot fetch {place} to {target}: {one_line(error)}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
