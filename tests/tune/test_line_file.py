"""Behaviour of `unmask.tune.line_file`."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unmask.tune.line_file import Lines, go_on, read_lines

HEADER = {"format": "lines"}


def add(path: Path, *values: int) -> None:
    """Go on with a file, and note values."""
    with go_on(path, read_lines(path).size, HEADER) as pen:
        for value in values:
            pen.note(value)


def test_a_file_begins_with_its_header_and_goes_on(tmp_path: Path) -> None:
    """The header is written once, and the folder is made."""
    path = tmp_path / "deep" / "lines.jsonl"
    assert read_lines(path) == Lines()
    add(path, 1)
    add(path, 2, 3)

    content = b'{"format":"lines"}\n1\n2\n3\n'
    assert path.read_bytes() == content
    assert read_lines(path) == Lines(whole=(b'{"format":"lines"}', b"1", b"2", b"3"), size=len(content), torn=False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 24))
def test_cut_anywhere_it_goes_on_behind_what_is_whole(tmp_path: Path, size: int) -> None:
    """Half a line is told and cut off, the header's too; whole lines stay."""
    path = tmp_path / "lines.jsonl"
    path.unlink(missing_ok=True)
    add(path, 10, 20)
    path.write_bytes(path.read_bytes()[:size])
    cut = read_lines(path)
    add(path, 30)

    assert cut.torn is (size not in {0, 19, 22, 25})
    assert read_lines(path).whole == (*(cut.whole or (b'{"format":"lines"}',)), b"30")
