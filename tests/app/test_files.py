"""Behaviour of `unmask.app.files`."""

import subprocess
import sys

import pytest

pytest.importorskip("resource")

PROGRAM = """
import resource, sys
from unmask.app.files import OTHERS, make_room
from unmask.errors import ConfigError
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 400))
make_room(400 - OTHERS)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
make_room(10)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
try:
    make_room(401 - OTHERS)
except ConfigError as error:
    print(error.param, error, OTHERS)
"""


def test_files_are_made_room_for_as_far_as_may_be() -> None:
    """The limit is raised to what is needed, never lowered; where that is not allowed, it is said before serving."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    raised, kept, refused = done.stdout.splitlines()

    assert raised == kept == "(400, 400)"
    assert refused.startswith(
        "max_connections max_connections is 305, and this process may open 400 files, allowed: at most 304."
    )
