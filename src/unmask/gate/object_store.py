"""Opens folders of any kind by their URL, and tells what may go wrong with them."""

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs

from unmask.gate.errors import RunFolderError


def opened(url: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system that a URL is of, and the path in it; credentials are looked for when it is first used.

    Raises:
        RunFolderError: there is no such kind of store, it needs what is not installed, or no bucket is named.
    """
    try:
        files, found = url_to_fs(url)
    except ImportError as error:
        raise RunFolderError(
            f"{url!r} needs what is not installed: {error}; for s3:// that is pip install 'unmask[aws]'"
        ) from error
    except ValueError as error:
        raise RunFolderError(
            f"{url!r} is no folder that can be opened: {error}; allowed: a path, or a URL such as s3://bucket/run"
        ) from error
    path = str(found).rstrip("/")
    if "://" in url and not path:
        raise RunFolderError(f"{url!r} names no bucket, allowed: a URL such as s3://bucket/run")
    return files, path


def store_faults(files: AbstractFileSystem) -> tuple[type[Exception], ...]:
    """Return what a store raises when it fails: S3 without credentials or a connection raises no `OSError`."""
    protocols = (files.protocol,) if isinstance(files.protocol, str) else files.protocol
    if "s3" not in protocols:
        return (OSError,)
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - comes with s3fs, which is an extra

    return (OSError, BotoCoreError)


def one_line(error: Exception) -> str:
    """Return what an error says, or what kind it is where it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__
