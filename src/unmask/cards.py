"""The fact-card format: what a request carries for the model to answer from.

Two renderings of the same facts, both parsed by `parse_facts`:

* cards, one block a subject::

      # Kaloren
      - persona gruff
      - home Miven
      - not rival Tulven

* triples, one line a fact::

      Kaloren persona gruff
      Kaloren home Miven
      Kaloren not rival Tulven

A line with ``not`` is a misconception record: the claim is false and the
answer corrects it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

SLOTS = (
    "role", "home", "affiliation", "ally", "rival", "state", "possession", "era", "sealed_by", "mentor", "craft",
    "persona",
)  # fmt: skip
MAX_FACTS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """``subject slot value``; ``denied`` marks a misconception record."""

    subject: str
    slot: str
    value: str
    denied: bool = False

    def claim(self) -> str:
        """Return ``slot value``, with ``not`` before a denied claim."""
        return f"not {self.slot} {self.value}" if self.denied else f"{self.slot} {self.value}"


def render_cards(facts: Iterable[Fact]) -> str:
    """Render facts as cards, subjects in order of first appearance."""
    blocks: dict[str, list[str]] = {}
    for fact in facts:
        blocks.setdefault(fact.subject, []).append(f"- {fact.claim()}")
    return "\n".join("\n".join((f"# {subject}", *lines)) for subject, lines in blocks.items())


def render_triples(facts: Iterable[Fact]) -> str:
    """Render facts as one triple a line, in the order given."""
    return "\n".join(f"{fact.subject} {fact.claim()}" for fact in facts)


def parse_facts(text: str) -> tuple[Fact, ...]:
    """Read every fact line in either rendering; other lines are ignored."""
    facts: list[Fact] = []
    subject = ""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "#":
            subject = words[1]
            continue
        if words and words[0] == "-":
            words = [subject, *words[1:]]
        fact = _parse_words(words)
        if fact is not None:
            facts.append(fact)
    return tuple(facts)


def _parse_words(words: list[str]) -> Fact | None:
    match words:
        case [subject, "not", slot, value] if subject and slot in SLOTS:
            return Fact(subject=subject, slot=slot, value=value, denied=True)
        case [subject, slot, value] if subject and slot in SLOTS:
            return Fact(subject=subject, slot=slot, value=value)
        case _:
            return None
