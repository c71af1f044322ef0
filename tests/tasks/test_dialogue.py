"""The dialogue task: what its generator promises, what its checker and verifier refuse."""

import re
from collections.abc import Mapping
from functools import cache
from random import Random

import pytest

from unmask.cards import SLOTS, parse_facts
from unmask.tasks import dialogue_grammar as grammar
from unmask.tasks.dialogue import Dialogue
from unmask.tasks.dialogue_check import read_request
from unmask.tasks.dialogue_draft import KINDS
from unmask.tasks.dialogue_phrases import (
    ADMISSIONS,
    ASKED_SLOTS,
    DENIALS,
    FIRST_PERSON,
    FOLLOW_FRAMES,
    MANNERS,
    PREMISE_FRAMES,
    QUESTION_FRAMES,
    SLOT_NOUNS,
    SLOT_WORDS,
    THIRD_PERSON,
)
from unmask.tasks.item import Item, Split, split_of
from unmask.types import Message, Role

TASK = Dialogue()
COUNT = 300
POOLS = (QUESTION_FRAMES, PREMISE_FRAMES, FOLLOW_FRAMES)


@cache
def items(split: Split) -> tuple[Item, ...]:
    """Return the seeded items of a split."""
    rng = Random(f"dialogue {split}")
    return tuple(TASK.generate(rng, split) for _ in range(COUNT))


def all_items() -> list[Item]:
    """Return the seeded items of every split."""
    return [item for split in Split for item in items(split)]


def of_kind(kind: str) -> list[Item]:
    """Return the seeded items of a kind."""
    return [item for item in all_items() if KINDS[item.difficulty["kind"]] == kind]


def persona_of(item: Item) -> str:
    """Return the speaker's persona."""
    request = read_request(item.messages)
    assert request is not None
    return request.persona


def say(*claims: str, seed: int = 0) -> str:
    """Write claims with no manner."""
    rng = Random(seed)
    return " ".join(grammar.write_claim(rng, claim) for claim in grammar.expand(claims))


def proxy_length(text: str) -> int:
    """Count words and punctuation marks."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def samples(pools: Mapping[str, tuple[str, ...]], person: str) -> list[tuple[str, str]]:
    """Return every fact phrasing filled in, with its claim."""
    filled = []
    for slot, pool in pools.items():
        value = SLOT_WORDS[slot][0] if slot in SLOT_WORDS else "Miven"
        claim = f"first|{slot}|{value}" if person == "first" else f"third|Dorasen|{slot}|{value}"
        filled += [(phrase.format(s="Dorasen", v=value), claim) for phrase in pool]
    return filled


@pytest.mark.parametrize("split", list(Split))
def test_reference_answers_pass(split: Split) -> None:
    """The reference answer of every item passes the checker and the verifier."""
    for item in items(split):
        assert TASK.check(item, item.answer).passed, TASK.check(item, item.answer).reason
        assert TASK.verify(item.messages, item.answer).passed, TASK.verify(item.messages, item.answer).reason


@pytest.mark.parametrize("split", list(Split))
def test_items_fall_into_their_split(split: Split) -> None:
    """The hash of an item's canonical form falls into the split asked for."""
    assert {split_of(item.canonical) for item in items(split)} == {split}


def test_equal_seeds_draw_equal_items() -> None:
    """An item is a function of the generator's state and the split."""
    for split in Split:
        first, second = Random(7), Random(7)
        for _ in range(20):
            assert TASK.generate(first, split) == TASK.generate(second, split)


def test_held_out_frames_are_for_the_test_split_only() -> None:
    """The last quarter of every frame pool is asked in the test split and nowhere else."""

    def held_out(item: Item) -> bool:
        asked = [message.content for message in item.messages if message.role is Role.USER]
        return any(pattern.search(question) for pattern in patterns for question in asked)

    frames = [frame for pool in POOLS for frame in pool[-len(pool) // 4 :]]
    patterns = [
        re.compile("(?:^|[.?] )" + re.sub(r"\\{.\\}", lambda _: r"[\w', ]+", re.escape(frame)) + "(?:$| )")
        for frame in frames
    ]
    assert any(held_out(item) for item in items(Split.TEST))
    for split in (Split.TRAIN, Split.TUNE, Split.CALIBRATE):
        assert not any(held_out(item) for item in items(split))


@pytest.mark.parametrize("pool", POOLS)
def test_held_out_frames_use_trained_words(pool: tuple[str, ...]) -> None:
    """Every word of a held-out frame stands in a trained frame."""
    trained = len(pool) - len(pool) // 4
    known = set(re.findall(r"\w+", " ".join(frame for other in POOLS for frame in other[: len(other) * 3 // 4])))
    assert set(re.findall(r"\w+", " ".join(pool[trained:]))) <= known


def test_any_phrasing_in_any_order_passes() -> None:
    """The checker accepts other phrasings than the reference's, and another order."""
    for seed, item in enumerate(all_items()):
        assert TASK.check(item, say(*item.accepted, seed=seed)).passed
        assert TASK.check(item, say(*item.accepted[::-1], seed=seed)).passed


def test_white_space_does_not_matter() -> None:
    """Line breaks and repeated blanks read as one blank."""
    for item in items(Split.TEST)[:50]:
        assert TASK.check(item, "\n " + item.answer.replace(" ", " \n ") + " ").passed


def test_wrong_values_fail() -> None:
    """A value that is not the card's fails both judges, with the claim named."""
    for item in of_kind("plain"):
        head, _ = item.accepted[0].rsplit("|", 1)
        text = say(f"{head}|Wrongo", *item.accepted[1:])
        assert TASK.check(item, text).reason == f"wrong value: {head}|Wrongo"
        assert not TASK.verify(item.messages, text).passed


def test_missing_facts_fail() -> None:
    """An answer that leaves out a required claim fails the checker, but may hold."""
    for item in all_items():
        claims = grammar.expand(item.accepted)
        if len(claims) > 1:
            result = TASK.check(item, say(*claims[:-1]))
            assert result.reason == f"missing: {claims[-1]}"


def test_extra_sentences_fail() -> None:
    """A sentence that is no required claim and no manner fails, true or not."""
    for item in all_items():
        assert not TASK.check(item, item.answer + " I like soup.").passed
        repeated = say(*item.accepted, grammar.expand(item.accepted)[-1])
        assert TASK.check(item, repeated).reason.startswith("not asked for or repeated")
        assert not TASK.check(item, item.answer + " and").passed


def test_spliced_phrasings_fail() -> None:
    """The head of one phrasing and the tail of another are a broken sentence."""
    spliced = 0
    for item in of_kind("plain"):
        _, slot, value = item.accepted[0].split("|")
        pool = [phrase.format(v=value) for phrase in FIRST_PERSON[slot]]
        for first, second in zip(pool, pool[1:] + pool[:1], strict=True):
            head, tail = first.split(), second.split()
            text = " ".join(head[: len(head) // 2] + tail[len(tail) // 2 :])
            if text in pool:
                continue
            spliced += 1
            assert not TASK.check(item, " ".join((text, say(*item.accepted[1:])))).passed, text
            assert not TASK.verify(item.messages, text).passed, text
    assert spliced > COUNT


def test_another_personas_manner_fails() -> None:
    """Openings and closings of another persona fail, and the reason says so."""
    for item in items(Split.TEST):
        for persona, manner in MANNERS.items():
            result = TASK.check(item, f"{manner.openings[0]} {say(*item.accepted)} {manner.closings[-1]}")
            assert result.passed == (persona == persona_of(item))
            if not result.passed:
                assert result.reason.startswith("manner of another persona")


def test_half_a_closing_fails() -> None:
    """A closing counts whole only."""
    for item in items(Split.TUNE):
        closing = MANNERS[persona_of(item)].closings[1]
        half = re.split(r"(?<=[.!?]) ", closing)[0]
        assert not TASK.check(item, f"{say(*item.accepted)} {half}").passed


def test_manner_alone_is_no_answer() -> None:
    """An opening and a closing with nothing between fail both judges."""
    for item in items(Split.CALIBRATE)[:50]:
        manner = MANNERS[persona_of(item)]
        text = f"{manner.openings[0]} {manner.closings[0]}"
        assert not TASK.check(item, text).passed
        assert not TASK.verify(item.messages, text).passed


def test_corrections_need_the_denial() -> None:
    """A false premise is denied and corrected; either alone fails the checker."""
    for item in of_kind("false_premise"):
        deny, *facts = grammar.expand(item.accepted)
        assert TASK.check(item, say(*facts)).reason == f"missing: {deny}"
        assert not TASK.check(item, say(deny)).passed
        assert not TASK.verify(item.messages, say(deny)).passed


def test_verifier_refuses_to_deny_what_is_true_or_not_asked() -> None:
    """Only a value that the last question names and the card does not hold may be denied."""
    for item in of_kind("false_premise"):
        deny, fact, *_ = grammar.expand(item.accepted)
        true = fact.rsplit("|", 1)[1]
        assert TASK.verify(item.messages, say(deny, fact)).passed
        assert not TASK.verify(item.messages, say(f"deny|{true}", fact)).passed
        assert not TASK.verify(item.messages, say("deny|Wrongo", fact)).passed


def test_verifier_refuses_to_admit_what_the_card_holds() -> None:
    """Ignorance of a slot holds only where the speaker's card has no fact of it."""
    for item in of_kind("absent"):
        lacking = next(claim for claim in item.accepted if claim.startswith("absent"))
        assert TASK.verify(item.messages, say(lacking)).passed
    for item in of_kind("plain"):
        slot = item.accepted[0].split("|")[1]
        assert not TASK.verify(item.messages, say(f"absent|{slot}")).passed


def test_cross_answers_name_the_hop_first() -> None:
    """A cross answer states the speaker's fact and then the facts of the one it names."""
    for item in of_kind("cross"):
        hop, *rest = (claim.split("|") for claim in item.accepted)
        assert hop[0] == "first"
        assert rest
        assert {part[1] for part in rest} == {hop[2]}
        assert item.difficulty["hops"] == 2


def test_follow_ups_have_an_earlier_turn() -> None:
    """A follow-up has at least two turns, and every earlier answer holds on the card."""
    for item in all_items():
        questions = [message for message in item.messages if message.role is Role.USER]
        assert len(questions) == item.difficulty["turns"]
        assert item.messages[-1].role is Role.USER
        assert item.difficulty["turns"] >= (2 if item in of_kind("follow_up") else 1)
        for index, message in enumerate(item.messages):
            if message.role is Role.ASSISTANT:
                assert TASK.verify(item.messages[:index], message.content).passed


def test_facts_are_as_many_as_planned_and_never_contradict() -> None:
    """A card has the drawn size unless it was cut, one value a slot, and no denied truth."""
    for item in all_items():
        facts = parse_facts(item.messages[0].content)
        drawn = item.difficulty["card_facts"]
        assert len(facts) == drawn or (drawn >= 32 and drawn // 2 < len(facts) < drawn)
        truths = [(fact.subject, fact.slot) for fact in facts if not fact.denied]
        assert len(set(truths)) == len(truths)
        values = {(fact.subject, fact.slot, fact.value) for fact in facts if not fact.denied}
        assert not any((fact.subject, fact.slot, fact.value) in values for fact in facts if fact.denied)


def test_answer_lengths() -> None:
    """At least half of the answers have 24 to 96 words and marks, none more than 80."""
    for split in Split:
        lengths = [proxy_length(item.answer) for item in items(split)]
        assert sum(24 <= length <= 96 for length in lengths) >= COUNT / 2
        assert max(lengths) <= 80


def test_answers_stay_under_the_cost_limit() -> None:
    """No answer costs more than the limit, five facts with a closing included."""
    for item in all_items():
        assert grammar.cost(item.answer, grammar.expand(item.accepted)) <= grammar.MAX_COST


def test_every_phrasing_reads_as_its_own_claim_only() -> None:
    """No phrasing can be read as another slot's, and none breaks the sentence rule."""
    filled = samples(FIRST_PERSON, "first") + samples(THIRD_PERSON, "third")
    filled += [(phrase.format(w="Miven"), "deny|Miven") for phrase in DENIALS]
    filled += [
        (phrase.format(n=noun), f"absent|{slot}")
        for phrase in ADMISSIONS
        for slot, nouns in SLOT_NOUNS.items()
        for noun in nouns
    ]
    for sentence, claim in filled:
        assert grammar.read_answer(sentence, "gruff").claims == (frozenset({claim}),), sentence
        assert re.search(r"[.!?]", sentence[:-1]) is None


def test_every_pair_of_facts_joins_and_reads_back() -> None:
    """Two joined sentences read as both claims."""
    filled = samples(FIRST_PERSON, "first")
    rng = Random(5)
    for (first, one), (second, two) in (rng.sample(filled, 2) for _ in range(500)):
        lowered = second if second.startswith(("I ", "Miven")) else second[0].lower() + second[1:]
        read = grammar.read_answer(f"{first[:-1]}, and {lowered}", "sly").claims
        assert read == (frozenset({one}), frozenset({two}))


def test_a_joined_sentence_keeps_its_case() -> None:
    """A capital in mid-sentence is a mixed sentence."""
    assert grammar.read_answer("I live in Miven, and my ally is Velka.", "sly").claims
    assert grammar.read_answer("I live in Miven, and My ally is Velka.", "sly").problem
    assert grammar.read_answer("I live in Miven, and i serve Velka.", "sly").problem


def test_phrase_pools_cover_every_slot() -> None:
    """Every slot but the persona has nouns and six phrasings or more in both persons."""
    assert {*ASKED_SLOTS, "persona"} == set(SLOTS)
    for slot in ASKED_SLOTS:
        assert len(set(FIRST_PERSON[slot])) >= 6
        assert len(set(THIRD_PERSON[slot])) >= 6
    assert set(MANNERS) == set(SLOT_WORDS["persona"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "...",
        "안녕하세요. 저는 미벤에 살아요.",
        "I live in 미벤.",
        "\x00\ud800",
        "I " * 50_000,
        "a, and " * 500,
        "|",
    ],
)
def test_odd_text_fails_without_raising(text: str) -> None:
    """Text of any script, length or emptiness is refused, never an error."""
    for item in items(Split.TEST)[:20]:
        assert not TASK.check(item, text).passed
        assert not TASK.verify(item.messages, text).passed


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (Message(role=Role.USER, content="What is your home?"),),
        (Message(role=Role.SYSTEM, content="You are Miven."),),
        (Message(role=Role.SYSTEM, content="- home\n#\n당신은 누구"), Message(role=Role.USER, content="?")),
    ],
)
def test_odd_requests_fail_without_raising(messages: tuple[Message, ...]) -> None:
    """A request with no speaker or no facts verifies nothing."""
    assert not TASK.verify(messages, "I live in Miven.").passed


def test_unknown_claims_are_an_error() -> None:
    """Writing a claim of no known form is a programming error."""
    with pytest.raises(ValueError, match="unknown claim"):
        grammar.write_claim(Random(0), "second|home|Miven")
