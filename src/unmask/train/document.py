"""What the network is trained on: rows as the engine feeds them.

A document is a prompt and an answer. Its training row holds both once, as
appended (causal) tokens, beside several *copies*: canvases cut from the answer
at a multiple of their length, with some tokens masked. A copy sees the prompt,
the answer before its start and all of itself, which is what a canvas row sees
in the engine; the appended answer carries the autoregressive loss and serves
every copy as committed context (after Arriola et al. 2025, block diffusion).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from unmask.cards import Fact, render_cards, render_triples
from unmask.tasks.dialogue_grammar import write_claim
from unmask.tasks.dialogue_phrases import ASKED_SLOTS, SLOT_WORDS
from unmask.tasks.item import Item, Split
from unmask.tasks.lookup import RELATIONS
from unmask.tasks.names import draw_names
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import Special, TextTokenizer
from unmask.types import Message, Role

RECALL = "recall"
REPEAT = "repeat"
TELLING = "telling"
MOST_TOLD = 7
"""Sentences of a lesson in telling: its answer takes a few canvases."""


def task_order() -> tuple[str, ...]:
    """Names by the task index of a micro-batch: the task types, then the lessons in copying."""
    return (*all_tasks(), RECALL, REPEAT, TELLING)


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


def repeat_document(tokenizer: TextTokenizer, rng: Random) -> Document:
    """Draw random names, then the same names again: the densest lesson in copying there is."""
    text = " ".join(draw_names(rng, Split.TRAIN, rng.randint(4, 14)))
    prompt = tokenizer.encode_chat((Message(role=Role.USER, content=text),))
    return Document(task=REPEAT, prompt=tuple(prompt), answer=(*tokenizer.encode(text), Special.END))


def recall_document(tokenizer: TextTokenizer, rng: Random) -> Document:
    """Draw a shuffled key-value recall: facts of every slot, then the same facts in another order."""
    names = draw_names(rng, Split.TRAIN, rng.randint(3, 10))
    keys = [(name, slot) for name in names for slot in (*RELATIONS, *SLOT_WORDS)]
    chosen = rng.sample(keys, rng.randint(2, 12))
    facts = [
        Fact(subject=subject, slot=slot, value=rng.choice(SLOT_WORDS.get(slot) or names)) for subject, slot in chosen
    ]
    render = rng.choice((render_triples, render_cards))
    prompt = tokenizer.encode_chat((Message(role=Role.USER, content=render(facts)),))
    rng.shuffle(facts)
    lines = [(f"{fact.subject} {fact.slot} ", f"{fact.value}\n") for fact in facts]
    return _lesson(tokenizer, RECALL, prompt, lines)


def telling_document(tokenizer: TextTokenizer, rng: Random) -> Document:
    """Draw facts, then sentences of the dialogue task that state them in another order, values to be filled in.

    A dialogue states one or two facts and a lesson many, so that a phrase comes to ask for its slot of its subject.
    """
    names = draw_names(rng, Split.TRAIN, rng.randint(2, 6))
    keys = [(name, slot) for name in names for slot in ASKED_SLOTS]
    facts = [
        Fact(subject=subject, slot=slot, value=rng.choice(SLOT_WORDS.get(slot) or draw_names(rng, Split.TRAIN, 1)))
        for subject, slot in rng.sample(keys, rng.randint(4, 14))
    ]
    speaker = rng.choice(names)
    render = rng.choice((render_triples, render_cards))
    prompt = tokenizer.encode_chat(
        (
            Message(role=Role.SYSTEM, content=f"{render(facts)}\nYou are {speaker}."),
            Message(role=Role.USER, content="Tell me all that you know."),
        )
    )
    rng.shuffle(facts)
    first, *others = (_told(rng, fact, speaker) for fact in facts[:MOST_TOLD])
    return _lesson(tokenizer, TELLING, prompt, [first, *((f" {before}", *rest) for before, *rest in others)])


def _told(rng: Random, fact: Fact, speaker: str) -> tuple[str, str, str]:
    """Write a fact's sentence: what stands before its value, the value, what stands behind."""
    hole = "{v}"
    if fact.subject == speaker:
        before, behind = write_claim(rng, f"first|{fact.slot}|{hole}").split(hole)
    else:
        before, behind = write_claim(rng, f"third|{fact.subject}|{fact.slot}|{hole}").split(hole)
    return before, fact.value, behind


def _lesson(tokenizer: TextTokenizer, task: str, prompt: Sequence[int], pieces: Iterable[tuple[str, ...]]) -> Document:
    """Make a document of pieces, the second text of each to be predicted and the others fixed.

    All is tokenised as one text, as the network meets it elsewhere: a word has other tokens without the blank
    before it, and learning those would teach nothing of these.
    """
    texts = [(text, place == 1) for piece in pieces for place, text in enumerate(piece)]
    free = [is_value for text, is_value in texts for _ in text.encode()]
    tokens = tokenizer.encode("".join(text for text, _ in texts))
    fixed: set[int] = set()
    start = 0
    for place, token in enumerate(tokens):
        end = start + len(tokenizer.token_bytes(token))
        if not any(free[start:end]):
            fixed.add(place)
        start = end
    return Document(task=task, prompt=tuple(prompt), answer=(*tokens, Special.END), fixed=frozenset(fixed))


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
