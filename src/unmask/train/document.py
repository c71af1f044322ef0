"""What the network is trained on: rows as the engine feeds them.

A document is a prompt and an answer. Its training row holds both once, as
appended (causal) tokens, beside several *copies*: canvases cut from the answer
at a multiple of their length, with some tokens masked. A copy sees the prompt,
the answer before its start and all of itself, which is what a canvas row sees
in the engine; the appended answer carries the autoregressive loss and serves
every copy as committed context (after Arriola et al. 2025, block diffusion).
"""

from dataclasses import dataclass
from random import Random

from unmask.tasks.item import Item
from unmask.text.tokenizer import Special, TextTokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Token ids of one training document; ``fixed`` answer positions are never masked nor predicted."""

    task: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    fixed: frozenset[int] = frozenset()

    @property
    def length(self) -> int:
        """Return the number of appended tokens."""
        return len(self.prompt) + len(self.answer)


def item_document(tokenizer: TextTokenizer, item: Item) -> Document:
    """Tokenise a generated item; the answer ends with the end token."""
    return Document(
        task=item.task,
        prompt=tuple(tokenizer.encode_chat(item.messages)),
        answer=(*tokenizer.encode(item.answer), Special.END),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One canvas of a document: where it starts in the answer, its tokens, and which are masked."""

    start: int
    target: tuple[int, ...]
    masked: tuple[bool, ...]


def draw_copies(rng: Random, document: Document, length: int, count: int) -> list[Copy]:
    """Draw ``count`` canvases with mask rates spread evenly over (0, 1], the highest always fully masked."""
    copies = []
    for index in range(count):
        start = length * rng.randrange((len(document.answer) + length - 1) // length)
        target = document.answer[start : start + length]
        target += (Special.END,) * (length - len(target))
        rate = (index + rng.random()) / count if index < count - 1 else 1.0
        free = [place for place in range(length) if start + place not in document.fixed]
        chosen = {place for place in free if rng.random() < rate} or ({rng.choice(free)} if free else set())
        copies.append(Copy(start=start, target=target, masked=tuple(place in chosen for place in range(length))))
    return copies
