"""Behaviour of ``unmask generate --watch --picture``."""

from pathlib import Path
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from tests.cli.terminal import type_in
from unmask.cli.recording import COLUMNS, Frame, Span, draw
from unmask.testing.fake_backend import FakeBackend

SVG = "{http://www.w3.org/2000/svg}"


def parsed(picture: str) -> ET.Element:
    """Parse a picture that this test has drawn."""
    return ET.fromstring(picture)  # noqa: S314 - our own output, not a stranger's


def rows_of(picture: str) -> list[list[str]]:
    """Return the rows of text of every frame."""
    groups = parsed(picture).findall(f"{SVG}g")
    return [["".join(text.itertext()) for text in group.findall(f"{SVG}text")] for group in groups]


def test_picture_holds_a_frame_for_every_step_and_the_answer(tmp_path: Path) -> None:
    """The picture shows the command, the canvas after every step, and at last the answer with what it took."""
    path = tmp_path / "watch.svg"
    ended = type_in("generate", "add <1> & 2", "--watch", "--picture", str(path), backend=FakeBackend("42"))

    assert ended.code == 0
    picture = path.read_text(encoding="utf-8")
    assert "$ unmask generate 'add <1> & 2' --watch" in "".join(parsed(picture).itertext())
    first, *_, last = rows_of(picture)
    assert first[0].startswith("canvas 1, step 1 of")
    assert "·" in first[1]
    assert "of 16 steps" in last[0]
    assert last[1] == "42"


def test_picture_needs_watch(tmp_path: Path) -> None:
    """There is nothing to keep of a generation that was not watched."""
    ended = type_in("generate", "x", "--picture", str(tmp_path / "a.svg"), backend=FakeBackend())

    assert ended.code == 2
    assert "--watch" in ended.err


def test_picture_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """A folder that does not exist is named."""
    path = tmp_path / "none" / "a.svg"
    ended = type_in("generate", "x", "--watch", "--picture", str(path), backend=FakeBackend())

    assert ended.code == 2
    assert str(path) in ended.err


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["C"])), st.sampled_from(["fixed", "guessed"]))))
def test_every_character_is_drawn_once(pieces: list[tuple[str, str]]) -> None:
    """Text of any script is broken into lines and stays whole."""
    frame = Frame(title="t", spans=tuple(Span(text=text, kind=kind) for text, kind in pieces))
    ((_, *lines),) = rows_of(draw("c", (frame,)))

    assert "".join(lines) == "".join(text for text, _ in pieces)


def test_wide_characters_take_two_cells() -> None:
    """A line of Hangul holds half as many characters."""
    frame = Frame(title="t", spans=(Span(text="가" * COLUMNS, kind="fixed"),))
    ((_, *lines),) = rows_of(draw("c", (frame,)))

    assert [len(line) for line in lines] == [COLUMNS // 2, COLUMNS // 2]
