"""How the answer to a user's own item is checked: fixed kinds that compare it with what the item says is right."""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from unmask.tasks.failure import FailureKind
from unmask.tasks.formats import JsonSchema
from unmask.tasks.item import PASSED, CheckResult, failed
from unmask.tasks.numeric import LONGEST_NUMBER, last_number
from unmask.tasks.patterns import Pattern
from unmask.tasks.verifier import LONGEST_ANSWER
from unmask.types import Verification

_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])", re.ASCII)


class Check(Protocol):
    """One thing that an answer is held to; what it does takes time in proportion to the answer's length."""

    def judge(self, text: str) -> CheckResult:
        """Judge an answer; never raises on any text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Passes one of some texts as it stands, blanks around it aside. Characters count as composed (NFC)."""

    alternatives: tuple[str, ...]

    def judge(self, text: str) -> CheckResult:
        """Compare."""
        same = composed(text) in map(composed, self.alternatives)
        return PASSED if same else failed("not the text asked for", FailureKind.LOGIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SameText:
    """Passes a text that is one of some once both are `normal`."""

    alternatives: tuple[str, ...]

    def judge(self, text: str) -> CheckResult:
        """Compare."""
        same = normal(text) in map(normal, self.alternatives)
        return PASSED if same else failed("not the text asked for", FailureKind.LOGIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contains:
    """Passes a text that holds all of some others, once all are `normal`."""

    texts: tuple[str, ...]

    def judge(self, text: str) -> CheckResult:
        """Look for each."""
        said = normal(text)
        missing = next((wanted for wanted in self.texts if normal(wanted) not in said), None)
        return PASSED if missing is None else failed(f"{missing[:64]!r} is missing", FailureKind.LOGIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Passes a text that a pattern matches as a whole, in linear time."""

    pattern: Pattern

    def judge(self, text: str) -> CheckResult:
        """Match."""
        return self.pattern.judge((), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitsSchema:
    """Passes a JSON value that a schema allows."""

    form: JsonSchema

    def judge(self, text: str) -> CheckResult:
        """Validate."""
        fits = self.form.verify(text) is Verification.PASS
        return PASSED if fits else failed("no JSON that the schema allows", FailureKind.FORMAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """Passes a text whose last number is near enough; ``1,234`` is read as 1234."""

    value: Decimal
    tolerance: Decimal

    def judge(self, text: str) -> CheckResult:
        """Read the number and compare it."""
        found = last_number(_THOUSANDS.sub(lambda number: number[0].replace(",", ""), text))
        if found is None or len(found[0]) > LONGEST_NUMBER:
            return failed("no number", FailureKind.FORMAT)
        near = abs(Decimal(found[0]) - self.value) <= self.tolerance
        return PASSED if near else failed(f"{found[0]} is not the number asked for", FailureKind.LOGIC)


def judge_all(checks: tuple[Check, ...], text: str) -> CheckResult:
    """Return the first failure of several checks, which all have to pass."""
    if len(text) > LONGEST_ANSWER:
        return failed("longer than what is looked at", FailureKind.FORMAT)
    return next((result for check in checks if not (result := check.judge(text)).passed), PASSED)


def composed(text: str) -> str:
    """Return a text without blanks at its ends, its characters composed, however they were typed."""
    return unicodedata.normalize("NFC", text).strip()


def normal(text: str) -> str:
    """Return a text as it is compared where its writing does not matter.

    Case, width and composition of characters (NFKC), runs of blanks, and blanks and punctuation at the ends are gone.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = " ".join(folded.split())
    inside = [place for place, char in enumerate(words) if not _is_edge(char)]
    return words[inside[0] : inside[-1] + 1] if inside else ""


def _is_edge(char: str) -> bool:
    return char == " " or unicodedata.category(char).startswith("P")
