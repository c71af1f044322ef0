"""Sums of two to eight terms, every running total written out.

``add 12 + 30 + 5`` is answered ``012+030=0042+005=0047: 47``: each term restated three
digits wide, each running total four, then the result.
"""

import re
from random import Random

from unmask.tasks.draw import draw_in_split
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, Difficulty, Item, Split, failed, question_of
from unmask.tasks.phrasing import draw_phrasing
from unmask.tasks.span import difference
from unmask.tasks.spec import load_spec
from unmask.types import Message, Role

TERM_WIDTH = 3
TOTAL_WIDTH = 4
MAX_TERMS = 8
PHRASINGS = (
    "add {terms}",
    "what is {terms}?",
    "sum: {terms}",
    "add up {terms}",
    "please add {terms}",
    "compute {terms}",
    "what is the sum: {terms}?",
    "please compute {terms}",
)
# All of an expression: part of one with brackets, other operators or larger numbers is no sum of this task type.
_EXPRESSION = re.compile(r"(?<![-(\d.)])[-(]*\d[\d.)]*(?: *[-+*/^] *[-(]*\d[\d.)]*)+", re.ASCII)
_ANSWER = re.compile(r"(\d{3})((?:\+\d{3}=\d{4})+): \d{1,4}", re.ASCII)
_SUM = re.compile(r"\d{1,3}(?: *\+ *\d{1,3})+", re.ASCII)


def written_out(terms: tuple[int, ...]) -> str:
    """Return the answer for ``terms``: restated terms, running totals, result."""
    total = terms[0]
    text = f"{terms[0]:0{TERM_WIDTH}d}"
    for term in terms[1:]:
        total += term
        text += f"+{term:0{TERM_WIDTH}d}={total:0{TOTAL_WIDTH}d}"
    return f"{text}: {total}"


def read_terms(prompt: str) -> tuple[int, ...] | None:
    """Return the terms of the first sum in ``prompt``, or nothing when there is none this task type covers."""
    found = _EXPRESSION.search(prompt)
    if found is None or not _SUM.fullmatch(expression := found.group().rstrip(".")):
        return None
    terms = tuple(int(term) for term in expression.split("+"))
    return terms if len(terms) <= MAX_TERMS else None


class Arithmetic:
    """Sums with running totals; terms and digits are the difficulty axes."""

    name = "arithmetic"

    def generate(self, rng: Random, split: Split) -> Item:
        """Draw one sum of ``split``."""
        return draw_in_split(rng, split, self._draw)

    def _draw(self, rng: Random, split: Split) -> Item:
        spec = load_spec()
        count = spec.axis(self.name, "terms").draw_int(rng)
        digits = spec.axis(self.name, "digits").draw_int(rng)
        terms = tuple(rng.randrange(10 ** (digits - 1) if digits > 1 else 0, 10**digits) for _ in range(count))
        prompt = draw_phrasing(rng, split, PHRASINGS).format(terms=" + ".join(map(str, terms)))
        return Item(
            task=self.name,
            messages=(Message(role=Role.USER, content=prompt),),
            answer=written_out(terms),
            difficulty=Difficulty(axes=(("terms", count), ("digits", digits))),
            canonical="add " + "+".join(map(str, terms)),
        )

    def check(self, item: Item, text: str) -> CheckResult:
        """Pass only the exact written-out sum."""
        if text.strip() == item.answer:
            return PASSED
        return failed(f"expected {item.answer!r}", self.verify(item.messages, text).failure or FailureKind.LOGIC)

    def verify(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Pass when the terms are the request's and every total follows from the one before."""
        terms = read_terms(question_of(messages))
        if terms is None:
            return failed("no sum found in the request")
        if text.strip() == written_out(terms):
            return PASSED
        span = difference(text, written_out(terms))
        return failed("terms, totals and result do not agree", _failure(terms, text.strip()), span)


def _failure(terms: tuple[int, ...], text: str) -> FailureKind:
    found = _ANSWER.fullmatch(text)
    if found is None:
        return FailureKind.FORMAT
    restated = (found[1], *(pair[:TERM_WIDTH] for pair in found[2].split("+")[1:]))
    return FailureKind.LOGIC if tuple(map(int, restated)) == terms else FailureKind.FACT
