"""Behaviour of `unmask.tenants.pepper`."""

import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from unmask.tenants.errors import PepperError
from unmask.tenants.pepper import PEPPER_BYTES, Pepper, open_pepper, pepper_path
from unmask.tenants.token import Token

TOKEN = Token(public_id="a" * 12, secret="b" * 43)


def test_a_pepper_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """The second to open it reads what the first has made."""
    path = tmp_path / "state" / "pepper"
    made = open_pepper(path)

    assert open_pepper(path) == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["pepper"]
    assert open_pepper(tmp_path / "other") != made


def test_many_that_make_it_at_once_agree(tmp_path: Path) -> None:
    """Whoever comes second takes what the first has made, so no key is hashed with a pepper that is gone."""
    path, found = tmp_path / "pepper", []
    barrier = threading.Barrier(8)

    def open_it() -> None:
        barrier.wait()
        found.append(open_pepper(path))

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert set(found) == {open_pepper(path)}


def test_a_pepper_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """The message says how to put it right."""
    path = tmp_path / "pepper"
    open_pepper(path)
    path.chmod(0o640)

    with pytest.raises(PepperError, match=r"mode 0640, allowed: 0600, .* chmod 600 "):
        open_pepper(path)


def test_a_damaged_pepper_is_refused(tmp_path: Path) -> None:
    """A shorter one would hash, and weakly."""
    path = tmp_path / "pepper"
    path.write_bytes(b"short")
    path.chmod(0o600)

    with pytest.raises(PepperError, match="holds 5 bytes, allowed: 32"):
        open_pepper(path)


def test_a_folder_is_no_pepper(tmp_path: Path) -> None:
    """What cannot be read is told with its reason."""
    folder = tmp_path / "pepper"
    folder.mkdir(mode=0o700)

    with pytest.raises(PepperError, match="cannot be read or made: Is a directory"):
        open_pepper(folder)


def test_the_default_is_in_the_folder_of_state(tmp_path: Path) -> None:
    """A setting wins over it."""
    environ = {"XDG_STATE_HOME": str(tmp_path)}

    assert pepper_path(None, environ) == tmp_path / "unmask" / "pepper"
    assert pepper_path("/a/b", environ) == Path("/a/b")


def test_digests_depend_on_every_part() -> None:
    """Another pepper, id or secret is another digest; so no digest fits into the row of another key."""
    pepper = Pepper(secret=b"p" * PEPPER_BYTES)
    others = [
        Pepper(secret=b"q" * PEPPER_BYTES).digest(TOKEN),
        pepper.digest(replace(TOKEN, public_id="a" * 11 + "b")),
        pepper.digest(replace(TOKEN, secret="b" * 42 + "c")),
    ]

    assert pepper.digest(TOKEN) == pepper.digest(replace(TOKEN))
    assert len({pepper.digest(TOKEN), *others}) == 4


def test_a_fingerprint_tells_peppers_apart_and_nothing_else() -> None:
    """It is in the database, where the secret must not be."""
    pepper = Pepper(secret=b"p" * PEPPER_BYTES)

    assert pepper.fingerprint != Pepper(secret=b"q" * PEPPER_BYTES).fingerprint
    assert len(pepper.fingerprint) == 16
    assert pepper.secret.hex()[:16] != pepper.fingerprint
    assert "pppp" not in repr(pepper)
