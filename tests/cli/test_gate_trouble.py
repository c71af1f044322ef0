"""What is told of faults that are tried again."""

from io import StringIO

from rich.console import Console

from unmask.cli.gate_trouble import MOST_TOLD, Trouble
from unmask.cli.tools import Tools
from unmask.testing.fake_backend import FakeBackend


def test_a_reason_is_told_once_and_few_are() -> None:
    """A hundred requests to a server that is not there are one line."""
    err = Console(file=StringIO(), width=100)
    trouble = Trouble(Tools(out=Console(file=StringIO()), err=err, make_backend=lambda _: FakeBackend()))
    for number in range(100):
        trouble("no connection")
        trouble(f"busy {number}")
    assert isinstance(err.file, StringIO)

    lines = err.file.getvalue().splitlines()
    assert lines[0] == "no connection; trying again, each for up to 5 minutes"
    assert len(lines) == MOST_TOLD
