"""Partly filled Latin squares; any completion is right."""

import re
from random import Random

from unmask.tasks.draw import draw_in_split
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, Difficulty, Item, Split, failed, question_of
from unmask.tasks.phrasing import draw_phrasing
from unmask.tasks.spec import load_spec
from unmask.types import Message, Role

BLANK = "_"
SIZES = (4, 6)
PHRASINGS = (
    "fill the square\n{rows}",
    "complete the square\n{rows}",
    "latin square\n{rows}",
    "please fill\n{rows}",
    "fill in the blanks\n{rows}",
    "complete\n{rows}",
    "please complete the latin square\n{rows}",
    "fill in the square\n{rows}",
)
_ROW = re.compile(r"[1-6_]{4}|[1-6_]{6}", re.ASCII)

Square = tuple[str, ...]


def draw_square(rng: Random, size: int) -> Square:
    """Draw a full Latin square row by row, starting over when a row has no completion."""
    symbols = [str(number + 1) for number in range(size)]
    while True:
        rows: list[str] = []
        for _ in range(size):
            row = _draw_row(rng, symbols, rows)
            if row is None:
                break
            rows.append(row)
        else:
            return tuple(rows)


def _draw_row(rng: Random, symbols: list[str], rows: list[str]) -> str | None:
    row: list[str] = []
    for column in range(len(symbols)):
        used = {above[column] for above in rows}
        free = [symbol for symbol in symbols if symbol not in used and symbol not in row]
        if not free:
            return None
        row.append(rng.choice(free))
    return "".join(row)


def read_square(prompt: str) -> Square | None:
    """Return the partly filled square of ``prompt``, or nothing when it holds none."""
    rows = tuple(line.strip() for line in prompt.splitlines() if _ROW.fullmatch(line.strip()))
    return rows if len(rows) in SIZES and {len(row) for row in rows} == {len(rows)} else None


def judge(givens: Square, text: str) -> CheckResult:
    """Pass when ``text`` is a Latin square that keeps every given cell."""
    size = len(givens)
    rows = text.strip().split("\n")
    symbols = sorted(str(number + 1) for number in range(size))
    if len(rows) != size or any(sorted(row) != symbols for row in rows):
        is_square = len(rows) == size and all(len(row) == size and set(row) <= set(symbols) for row in rows)
        failure = FailureKind.LOGIC if is_square else FailureKind.FORMAT
        return failed(f"a row is not a permutation of 1 to {size}", failure)
    if any(sorted(column) != symbols for column in zip(*rows, strict=True)):
        return failed(f"a column is not a permutation of 1 to {size}", FailureKind.LOGIC)
    kept = all(
        given in (BLANK, cell)
        for row, text_row in zip(givens, rows, strict=True)
        for given, cell in zip(row, text_row, strict=True)
    )
    return PASSED if kept else failed("a given cell was changed", FailureKind.FACT)


class Latin:
    """Latin squares; size and blanks are the difficulty axes."""

    name = "latin"

    def generate(self, rng: Random, split: Split) -> Item:
        """Draw one partly filled square of ``split``."""
        return draw_in_split(rng, split, self._draw)

    def _draw(self, rng: Random, split: Split) -> Item:
        spec = load_spec()
        size = spec.axis(self.name, "size").draw_int(rng)
        share = spec.axis(self.name, "blank_share").draw_int(rng)
        square = draw_square(rng, size)
        blanks = max(1, round(size * size * share / 100))
        hidden = set(rng.sample(range(size * size), blanks))
        givens = "\n".join(
            "".join(BLANK if row * size + column in hidden else square[row][column] for column in range(size))
            for row in range(size)
        )
        prompt = draw_phrasing(rng, split, PHRASINGS).format(rows=givens)
        return Item(
            task=self.name,
            messages=(Message(role=Role.USER, content=prompt),),
            answer="\n".join(square),
            difficulty=Difficulty(axes=(("size", size), ("blanks", blanks))),
            canonical="latin " + givens,
        )

    def check(self, item: Item, text: str) -> CheckResult:
        """Pass any completion."""
        return self.verify(item.messages, text)

    def verify(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Pass any completion: the request holds all there is to know."""
        givens = read_square(question_of(messages))
        return failed("no square found in the request") if givens is None else judge(givens, text)
