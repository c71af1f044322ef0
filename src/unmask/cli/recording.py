"""Records what ``--watch`` shows as a moving picture: one SVG, which browsers and code hosts play without a script."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from unicodedata import east_asian_width

from unmask.backend import CommitEvent, PieceState, StepEvent
from unmask.cli.exits import UsageError
from unmask.cli.watch import Watcher, shown

COLUMNS = 84
LINE_PX, CELL_PX, MARGIN_PX = 22, 8.6, 16
STEP_S = 0.45
HOLD_S = 3.0
COLOURS = {
    "committed": "#7ee787",
    PieceState.FIXED: "#ffffff",
    PieceState.GUESSED: "#e3b341",
    PieceState.MASKED: "#6e7681",
    "note": "#8b949e",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A run of text of one colour, by its name in `COLOURS`."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What is shown at one moment: a title, and the answer so far."""

    title: str
    spans: tuple[Span, ...]


class RecordingWatcher:
    """Keeps a frame for every step while another watcher shows it."""

    def __init__(self, shown: Watcher) -> None:
        self._shown = shown
        self._committed = ""
        self._frames: list[Frame] = []

    async def show(self, event: StepEvent | CommitEvent) -> None:
        """Keep the frame and pass the event on."""
        if isinstance(event, StepEvent):
            title = f"canvas {event.canvas + 1}, step {event.step} of {event.max_steps}"
            pieces = (Span(text=shown(piece), kind=piece.state) for piece in event.pieces)
            self._frames.append(Frame(title=title, spans=(self._done(), *pieces)))
        else:
            self._committed += event.text
        await self._shown.show(event)

    def picture(self, command: str, report: str) -> str:
        """Return the picture; its last frame, the whole answer, is also what viewers without animation see."""
        return draw(command, (*self._frames, Frame(title=report, spans=(self._done(),))))

    def _done(self) -> Span:
        return Span(text=self._committed, kind="committed")


def save_picture(path: Path, picture: str) -> None:
    """Write the picture.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--picture is {str(path)!r}, which cannot be written: {error.strerror}") from error


def draw(command: str, frames: tuple[Frame, ...]) -> str:
    """Draw frames one after the other, for ever, below the command that was typed."""
    typed = _wrapped((Span(text="$ ", kind="note"), Span(text=command, kind="fixed")))
    pages = [[(Span(text=frame.title, kind="note"),), *_wrapped(frame.spans)] for frame in frames]
    width = round(COLUMNS * CELL_PX + 2 * MARGIN_PX)
    height = (len(typed) + max(map(len, pages))) * LINE_PX + 2 * MARGIN_PX
    total = STEP_S * (len(frames) - 1) + HOLD_S
    groups = "\n".join(
        f'<g class="f{number}">\n{_texts(lines, len(typed))}\n</g>' for number, lines in enumerate(pages)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">\n'
        f"<title>{escape(command)}</title>\n"
        f"<style>\n{_style(len(frames), total)}\n</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>\n{_texts(typed, 0)}\n{groups}\n</svg>\n'
    )


def _style(count: int, total: float) -> str:
    """Show each frame in its share of the time; the last one stands still where movement is not wanted."""
    rules = ["text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre}"]
    rules += [f".{kind}{{fill:{colour}}}" for kind, colour in COLOURS.items()]
    moving = []
    for number in range(count):
        # Under step-end a value holds until the next key frame.
        start, end = (round(100 * moment * STEP_S / total, 2) for moment in (number, number + 1))
        before = "0%{visibility:hidden}" if number else ""
        after = f"{end}%{{visibility:hidden}}" if number < count - 1 else ""
        moving.append(f"@keyframes k{number}{{{before}{start}%{{visibility:visible}}{after}}}")
        moving.append(f".f{number}{{animation:k{number} {total:.2f}s step-end infinite}}")
    still = "".join(f".f{number}{{visibility:hidden}}" for number in range(count - 1))
    return "\n".join([*rules, still, "@media (prefers-reduced-motion: no-preference){", *moving, "}"])


def _texts(lines: list[tuple[Span, ...]], first: int) -> str:
    return "\n".join(_text(first + row, line) for row, line in enumerate(lines))


def _text(row: int, line: Iterable[Span]) -> str:
    y = MARGIN_PX + (row + 1) * LINE_PX - 6
    spans = "".join(f'<tspan class="{span.kind}">{escape(span.text)}</tspan>' for span in line if span.text)
    return f'<text x="{MARGIN_PX}" y="{y}" xml:space="preserve">{spans}</text>'


def _wrapped(spans: Iterable[Span]) -> list[tuple[Span, ...]]:
    """Break text into lines of at most `COLUMNS` cells; wide characters take two."""
    lines: list[list[Span]] = [[]]
    room = COLUMNS
    for span in spans:
        for character in span.text:
            cells = 2 if east_asian_width(character) in "WF" else 1
            if character == "\n" or cells > room:
                lines.append([])
                room = COLUMNS
            if character != "\n":
                lines[-1].append(Span(text=character, kind=span.kind))
                room -= cells
    return [*map(_joined, lines)]


def _joined(line: list[Span]) -> tuple[Span, ...]:
    """Join neighbours of one kind."""
    joined: list[Span] = []
    for span in line:
        if joined and joined[-1].kind == span.kind:
            joined[-1] = Span(text=joined[-1].text + span.text, kind=span.kind)
        else:
            joined.append(span)
    return tuple(joined)
