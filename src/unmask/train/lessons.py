"""Lessons: training documents that drill one skill more densely than the task types do.

What is fixed in a lesson is neither masked nor predicted, so that the loss is on the skill alone.
"""

from collections.abc import Iterable, Sequence
from random import Random

from unmask.cards import Fact, render_cards, render_triples
from unmask.tasks.dialogue_draft import listing
from unmask.tasks.dialogue_grammar import write_claim
from unmask.tasks.dialogue_phrases import ASKED_SLOTS, QUESTION_FRAMES, SLOT_NOUNS, SLOT_WORDS
from unmask.tasks.item import Split
from unmask.tasks.lookup import RELATIONS
from unmask.tasks.names import draw_names
from unmask.tasks.phrasing import draw_phrasing
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import Special, TextTokenizer
from unmask.train.document import Document
from unmask.types import Message, Role

RECALL = "recall"
REPEAT = "repeat"
TELLING = "telling"
ADMITTING = "admitting"
MOST_TOLD = 7
"""Sentences of a lesson in telling or admitting: its answer takes a few canvases."""
LACKING_SHARE = 0.4


def task_order() -> tuple[str, ...]:
    """Names by the task index of a micro-batch: the task types, then the lessons."""
    return (*all_tasks(), RECALL, REPEAT, TELLING, ADMITTING)


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
        Fact(subject=subject, slot=slot, value=_value(rng, slot))
        for subject, slot in rng.sample(keys, rng.randint(4, 14))
    ]
    speaker = rng.choice(names)
    prompt = _card_prompt(tokenizer, rng, facts, speaker, "Tell me all that you know.")
    rng.shuffle(facts)
    first, *others = (_told(rng, fact, speaker) for fact in facts[:MOST_TOLD])
    return _lesson(tokenizer, TELLING, prompt, [first, *((f" {before}", *rest) for before, *rest in others)])


def admitting_document(tokenizer: TextTokenizer, rng: Random) -> Document:
    """Draw a card and a question for many slots of its speaker, of which nearly half are not on the card.

    Whole sentences are open: whether a slot is there decides how its sentence begins. In dialogues one answer in
    ten admits anything, too few to be learnt from.
    """
    names = draw_names(rng, Split.TRAIN, rng.randint(2, 6))
    speaker = names[0]
    asked = rng.sample(ASKED_SLOTS, rng.randint(3, MOST_TOLD))
    lacking = {slot for slot in asked if rng.random() < LACKING_SHARE}
    own = {slot: _value(rng, slot) for slot in ASKED_SLOTS if slot in asked and slot not in lacking}
    others = [(name, slot) for name in names[1:] for slot in ASKED_SLOTS]
    facts = [Fact(subject=speaker, slot=slot, value=value) for slot, value in own.items()]
    facts += [
        Fact(subject=name, slot=slot, value=_value(rng, slot)) for name, slot in rng.sample(others, rng.randint(2, 10))
    ]
    rng.shuffle(facts)
    nouns = listing([f"your {rng.choice(SLOT_NOUNS[slot])}" for slot in asked])
    claims = [f"first|{slot}|{own[slot]}" if slot in own else f"absent|{slot}" for slot in asked]
    question = draw_phrasing(rng, Split.TRAIN, QUESTION_FRAMES).format(x=nouns)
    return Document(
        task=ADMITTING,
        prompt=tuple(_card_prompt(tokenizer, rng, facts, speaker, question)),
        answer=(*tokenizer.encode(" ".join(write_claim(rng, claim) for claim in claims)), Special.END),
    )


def _value(rng: Random, slot: str) -> str:
    return rng.choice(SLOT_WORDS.get(slot) or draw_names(rng, Split.TRAIN, 1))


def _card_prompt(
    tokenizer: TextTokenizer, rng: Random, facts: Sequence[Fact], speaker: str, question: str
) -> Sequence[int]:
    """Tokenise a dialogue's system message, in either format, and a question."""
    render = rng.choice((render_triples, render_cards))
    return tokenizer.encode_chat(
        (
            Message(role=Role.SYSTEM, content=f"{render(facts)}\nYou are {speaker}."),
            Message(role=Role.USER, content=question),
        )
    )


def _told(rng: Random, fact: Fact, speaker: str) -> tuple[str, str, str]:
    """Write a fact's sentence: what stands before its value, the value, what stands behind."""
    hole = "{v}"
    teller = "first" if fact.subject == speaker else f"third|{fact.subject}"
    before, behind = write_claim(rng, f"{teller}|{fact.slot}|{hole}").split(hole)
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
