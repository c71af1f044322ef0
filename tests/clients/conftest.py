"""What the tests of clients share: one server process for all of them."""

import shutil
from collections.abc import Iterator

import pytest

from tests.clients.process import Served, served_process

# Tests need nothing but Python; where there is a curl as well, it is a client like the others.
collect_ignore = [] if shutil.which("curl") else ["test_curl.py"]


@pytest.fixture(name="process", scope="session")
def _process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_process(tmp_path_factory.mktemp("serve")) as served:
        yield served
