"""The server's own secret, without which the table of keys is of no use to whoever reads it."""

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from unmask.config.state import state_folder
from unmask.tenants.errors import PepperError
from unmask.tenants.token import Token

PEPPER_BYTES = 32
DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Pepper:
    """The key of a keyed hash.

    A password needs a slow hash because people choose it. A token has 256 random bits, which no guessing finds, so one
    HMAC-SHA256 (RFC 2104) is enough, and it is quick enough to be made anew for every request.
    """

    secret: bytes = field(repr=False)

    def digest(self, token: Token) -> bytes:
        """Return what is stored of a token; of its id too, so that no digest fits into another key's row."""
        return hmac.new(self.secret, f"{token.public_id}-{token.secret}".encode(), hashlib.sha256).digest()

    @property
    def fingerprint(self) -> str:
        """Sixteen digits that tell this pepper from others, and nothing else of it."""
        return hmac.new(self.secret, b"fingerprint", hashlib.sha256).hexdigest()[:16]


def pepper_path(pepper_file: str | None, environ: Mapping[str, str]) -> Path:
    """Return where the pepper is.

    Args:
        pepper_file: the setting; ``None`` is ``pepper`` in the folder of state.
        environ: environment variables, of which ``XDG_STATE_HOME`` counts.

    Raises:
        PepperError: there is no home folder to put it into.
    """
    try:
        return state_folder(environ) / "pepper" if pepper_file is None else Path(pepper_file).expanduser()
    except RuntimeError as error:
        raise PepperError(
            f"there is no home folder for the pepper: {error}; name a file in pepper_file", param="pepper_file"
        ) from error


def open_pepper(path: Path) -> Pepper:
    """Read the pepper of a file; where there is none, make one that only its owner may read.

    Raises:
        PepperError: the file cannot be read or made, is open to others, or holds something else.
    """
    try:
        if not path.exists():
            _make(path)
        _check_mode(path)
        content = path.read_bytes()
    except OSError as error:
        raise PepperError(
            f"pepper_file is {path}, which cannot be read or made: {error.strerror}. Name a file in a folder of yours.",
            param="pepper_file",
        ) from error
    if len(content) != PEPPER_BYTES:
        raise PepperError(
            f"pepper_file is {path} and holds {len(content)} bytes, allowed: {PEPPER_BYTES}. Name another file, or put "
            "back the one that keys were made with.",
            param="pepper_file",
        )
    return Pepper(secret=content)


def _make(path: Path) -> None:
    """Write a new pepper whole or not at all; of several processes that do so at once, one wins."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(PEPPER_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, a link never replaces what is there already.
        with suppress(FileExistsError):
            os.link(partial, path)
    finally:
        partial.unlink()


def _check_mode(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        raise PepperError(
            f"pepper_file is {path} with mode {mode:04o}, allowed: 0600, for whoever reads it and the database can try "
            f"keys. Run: chmod 600 {path}",
            param="pepper_file",
        )
