"""Lessons in copying, recalling, telling and admitting."""

from random import Random

from unmask.cards import parse_facts
from unmask.tasks.dialogue_grammar import read_answer
from unmask.tasks.dialogue_phrases import SLOT_NOUNS, SLOT_WORDS
from unmask.tasks.names import is_held_out
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import Special, packaged_tokenizer
from unmask.train.lessons import (
    ADMITTING,
    RECALL,
    REPEAT,
    TELLING,
    admitting_document,
    recall_document,
    repeat_document,
    task_order,
    telling_document,
)

TOKENIZER = packaged_tokenizer()


def test_recall_repeats_the_prompts_facts_in_another_order() -> None:
    """A recall document states its facts again, keys fixed and values to be predicted."""
    rng = Random(1)
    moved = 0
    for _ in range(50):
        document = recall_document(TOKENIZER, rng)
        given = parse_facts(TOKENIZER.decode(document.prompt))
        repeated = parse_facts(TOKENIZER.decode(document.answer))
        assert sorted(map(repr, given)) == sorted(map(repr, repeated))
        moved += given != repeated
        asked = [token for place, token in enumerate(document.answer[:-1]) if place not in document.fixed]
        assert [word.strip() for word in TOKENIZER.decode(asked).split("\n")[:-1]] == [fact.value for fact in repeated]
        names = [fact.subject for fact in given] + [fact.value for fact in given if fact.slot not in SLOT_WORDS]
        assert not any(map(is_held_out, names))
        assert all(fact.value in SLOT_WORDS[fact.slot] for fact in given if fact.slot in SLOT_WORDS)
        assert document.task == RECALL
    assert moved > 30


def test_telling_states_the_prompts_facts_in_sentences() -> None:
    """A lesson in telling is sentences that the dialogue task reads as facts of its prompt; only values are open."""
    rng = Random(1)
    persons = set[str]()
    for _ in range(50):
        document = telling_document(TOKENIZER, rng)
        text, prompt = TOKENIZER.decode(document.answer), TOKENIZER.decode(document.prompt)
        facts = {fact.claim(): fact for fact in parse_facts(prompt.split("You are ")[0])}
        reading = read_answer(text, "gruff")
        assert not reading.problem
        told = [claim.split("|") for group in reading.claims for claim in group]
        persons.update(person for person, *_ in told)
        values = [
            TOKENIZER.decode([token]) for place, token in enumerate(document.answer) if place not in document.fixed
        ]
        assert {rest[-1] for _, *rest in told} <= {fact.value for fact in facts.values()}
        assert "".join(values).strip()
        assert document.task == TELLING
    assert persons == {"first", "third"}


def test_words_are_open_with_the_blank_before_them() -> None:
    """What a lesson asks for has the tokens that it has in every other text."""
    rng = Random(2)
    for lesson in (recall_document, telling_document):
        for _ in range(30):
            document = lesson(TOKENIZER, rng)
            assert list(document.answer[:-1]) == TOKENIZER.encode(TOKENIZER.decode(document.answer))


def test_admitting_says_which_slots_the_card_lacks() -> None:
    """A lesson in admitting answers each slot asked for, in order, with the card's value or an admission."""
    rng = Random(3)
    lacking = total = 0
    for _ in range(50):
        document = admitting_document(TOKENIZER, rng)
        system, question = TOKENIZER.decode(document.prompt).split("You are ")
        speaker = question.split(".")[0]
        own = {fact.slot: fact.value for fact in parse_facts(system) if fact.subject == speaker}
        reading = read_answer(TOKENIZER.decode(document.answer), "gruff")
        assert not reading.problem
        asked = [claim.split("|")[1] for claims in reading.claims for claim in claims]
        claims = [f"first|{slot}|{own[slot]}" if slot in own else f"absent|{slot}" for slot in asked]
        assert [frozenset((claim,)) for claim in claims] == list(reading.claims)
        assert all(any(f"your {noun}" in question for noun in SLOT_NOUNS[slot]) for slot in asked)
        assert document.task == ADMITTING
        assert not document.fixed
        lacking += sum(slot not in own for slot in asked)
        total += len(asked)
    assert 0.3 < lacking / total < 0.5


def test_repetition_says_the_prompt_again() -> None:
    """The lesson of repetition is names, and the same names again."""
    rng = Random(1)
    for _ in range(20):
        document = repeat_document(TOKENIZER, rng)
        names = TOKENIZER.decode(document.prompt)
        assert document.task == REPEAT
        assert TOKENIZER.decode(document.answer) == names
        assert not any(map(is_held_out, names.split()))
        assert document.answer[-1] == Special.END


def test_task_order_is_every_task_and_the_lessons() -> None:
    """Figures are kept for the task types in their order, then for the lessons."""
    assert task_order() == (*all_tasks(), RECALL, REPEAT, TELLING, ADMITTING)
