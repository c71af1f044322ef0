"""Behaviour of retrieval: which facts a question gets, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.cards import parse_facts
from unmask.errors import InvalidRequestError
from unmask.knowledge.context import Context, Form, Reason
from unmask.knowledge.embedding import NgramEmbedder
from unmask.knowledge.retrieval_errors import BudgetTooSmallError
from unmask.knowledge.retriever import Ask, Retrieval, Retriever
from unmask.testing.small_worlds import large_world, make_entity, make_statement, make_world, small_world

SMALL = Retriever(small_world(), embedder=NgramEmbedder())


def retrieve(question: str, language: str = "en", form: Form = Form.PROSE, retriever: Retriever = SMALL) -> Context:
    """Ask the keeper of the small world."""
    return retriever.retrieve(Ask(question=question, speaker="jungwoo", language=language, form=form))


def because(context: Context, *reasons: Reason) -> list[str]:
    """Return the ids that are there for these reasons."""
    return [fact.id for fact in context.facts if fact.reason in reasons]


@pytest.mark.parametrize(
    ("question", "asked", "on_the_way"),
    [
        ("Where is your home?", ["jungwoo.home"], []),
        ("What is the home of your ally?", ["kaelis.home"], ["jungwoo.ally"]),
        ("Where does your ally live?", ["kaelis.home"], ["jungwoo.ally"]),
        ("What craft does your ally have?", ["kaelis.craft"], ["jungwoo.ally"]),
        ("Where does the mentor of your ally live?", ["sera.home"], ["jungwoo.ally", "kaelis.mentor"]),
        ("What is the home of your ally's mentor?", ["sera.home"], ["jungwoo.ally", "kaelis.mentor"]),
        ("What is the home of the mentor of your ally?", ["sera.home"], ["jungwoo.ally", "kaelis.mentor"]),
        ("Who is your ally and where do they live?", ["jungwoo.ally", "kaelis.home"], []),
        ("What is your home and your rival?", ["jungwoo.home", "jungwoo.rival"], []),
        ("Tell me the home and the craft of your ally.", ["kaelis.home", "kaelis.craft"], ["jungwoo.ally"]),
        (
            "Name the home, the craft and the mentor of your ally.",
            ["kaelis.home", "kaelis.craft", "kaelis.mentor"],
            ["jungwoo.ally"],
        ),
        ("Tell me your home, your rival.", ["jungwoo.home", "jungwoo.rival"], []),
        ("Tell me your ally's home and craft.", ["kaelis.home", "kaelis.craft"], ["jungwoo.ally"]),
        ("Where do Kaelis and Haeun live?", ["kaelis.home", "haeun.home"], []),
        ("Who lives in Miven?", ["jungwoo.home", "haeun.home"], []),
        ("Whose mentor is Sera?", ["kaelis.mentor"], []),
        ("Who did Sera seal?", ["vorn.sealed_by.sera"], []),
        ("Who is the healer?", ["kaelis.role", "haeun.role"], []),
        ("Do you know where the ember blade is?", ["vael.possession"], []),
        ("What is your craft?", [], []),
    ],
)
def test_english_questions(question: str, asked: list[str], on_the_way: list[str]) -> None:
    """What is asked for is there with the way to it, and nothing that only resembles it."""
    context = retrieve(question)

    assert sorted(because(context, Reason.ASKED)) == sorted(asked)
    assert sorted(because(context, Reason.NEIGHBOUR)) == sorted(on_the_way)
    assert because(context, Reason.SIMILAR) == []


@pytest.mark.parametrize(
    ("question", "asked", "on_the_way"),
    [
        ("당신의 고향은 어디입니까?", ["jungwoo.home"], []),
        ("고향이 어디야?", ["jungwoo.home"], []),
        ("네 동료의 고향은?", ["kaelis.home"], ["jungwoo.ally"]),
        ("네 동료는 어디 살아?", ["kaelis.home"], ["jungwoo.ally"]),
        ("카엘리스의 스승은 어디에 살아요?", ["sera.home"], ["kaelis.mentor"]),
        ("네 고향과 숙적을 말해줘", ["jungwoo.home", "jungwoo.rival"], []),
        ("네 동료의 고향과 기술을 말해줘", ["kaelis.home", "kaelis.craft"], ["jungwoo.ally"]),
        ("바엘성에는 무슨 보물이 있지?", ["vael.possession"], []),
        ("보른을 봉인한 자는 누구야?", ["vorn.sealed_by"], []),
        ("처음 보른을 봉인한 자는 누구야?", ["vorn.sealed_by", "vorn.sealed_by.sera"], []),
    ],
)
def test_korean_questions(question: str, asked: list[str], on_the_way: list[str]) -> None:
    """Korean names, pronouns and chains lead to the same facts as English ones."""
    context = retrieve(question, "ko")

    assert sorted(because(context, Reason.ASKED)) == sorted(asked)
    assert sorted(because(context, Reason.NEIGHBOUR)) == sorted(on_the_way)


@pytest.mark.parametrize(
    ("question", "language", "correction"),
    [
        ("Is Kaelin your rival?", "en", ["jungwoo.rival.not", "jungwoo.rival"]),
        ("You were betrayed by your own kin, no?", "en", ["jungwoo.rival.not", "jungwoo.rival"]),
        ("Is Kaelis the smith?", "en", ["kaelis.role.not"]),
        ("Is Kaelis or Kaelin hiding?", "en", ["kaelis.role.not"]),
        ("카엘리스가 대장장이인가요?", "ko", ["kaelis.role.not"]),
        ("카엘리스는 대장간에서 일하지?", "ko", ["kaelis.role.not"]),
        ("Is Tulven your rival?", "en", []),
        ("Who is your rival?", "en", []),
        ("Who is the smith?", "en", []),
    ],
)
def test_misconceptions(question: str, language: str, correction: list[str]) -> None:
    """A false premise brings its record and what puts it right; a true one and an open question bring none."""
    assert because(retrieve(question, language), Reason.CORRECTION) == correction


def test_current_values_only_unless_the_past_is_asked_for() -> None:
    """What has ended is told where the question asks for it."""
    assert because(retrieve("Who sealed Vorn?"), Reason.ASKED) == ["vorn.sealed_by"]
    assert set(because(retrieve("Who first sealed Vorn?"), Reason.ASKED)) == {"vorn.sealed_by", "vorn.sealed_by.sera"}


def test_homonym_is_told_by_the_speaker_and_by_what_is_asked() -> None:
    """An alias of two means the one next to the speaker; where nothing tells them apart both are kept."""
    assert retrieve("What is the home of the Grey?").entities == ("kaelis",)
    one, other = (make_entity(id_, "person", id_, id_, en="the Fox") for id_ in ("ada", "bea"))
    me = make_entity("jungwoo", "person", "Jungwoo", "정우")
    alike = [make_statement("ada", "home", "ada"), make_statement("bea", "home", "bea")]
    both = Retriever(make_world([one, other, me], alike), embedder=NgramEmbedder())
    only = Retriever(make_world([one, other, me], alike[:1]), embedder=NgramEmbedder())

    assert retrieve("Where does the Fox live?", retriever=both).entities == ("ada", "bea")
    assert retrieve("Where does the Fox live?", retriever=only).entities == ("ada",)


def test_identity_of_speaker_and_of_whom_is_named_is_pinned() -> None:
    """Who answers and who is named are told, and the speaker's persona though its slot is no identity."""
    assert because(retrieve("Where does Kaelis live?"), Reason.PINNED) == [
        "jungwoo.persona", "jungwoo.role", "kaelis.role",
    ]  # fmt: skip


def test_only_the_speaker_can_be_pinned() -> None:
    """Pinning of others can be turned off."""
    retriever = Retriever(small_world(), settings=Retrieval(pin_linked=False), embedder=NgramEmbedder())

    assert because(retrieve("Where does Kaelis live?", retriever=retriever), Reason.PINNED) == [
        "jungwoo.persona", "jungwoo.role",
    ]  # fmt: skip


def test_pinning_of_the_speaker_can_be_turned_off() -> None:
    """With that of others or without it."""
    named, none = (
        Retriever(small_world(), settings=Retrieval(pin_speaker=False, pin_linked=linked), embedder=NgramEmbedder())
        for linked in (True, False)
    )

    assert because(retrieve("Where does Kaelis live?", retriever=named), Reason.PINNED) == ["kaelis.role"]
    assert because(retrieve("Where does Kaelis live?", retriever=none), Reason.PINNED) == []


def test_similar_facts_only_where_no_slot_was_recognised() -> None:
    """A question about somebody gets facts of theirs, at most as many as are allowed."""
    context = retrieve("Tell me about Kaelis")

    found = because(context, Reason.SIMILAR)
    assert found
    assert all(id_.startswith("kaelis.") for id_ in found)
    assert len(because(retrieve("Something altogether else"), Reason.SIMILAR)) <= Retrieval().most_similar


def test_cards_can_be_read_back_and_leave_out_what_they_cannot_write() -> None:
    """A card's names are one word, denials are denials, and a slot that cards lack is reported."""
    context = retrieve("Is Kaelin your rival? And how old are you?", form=Form.CARDS)
    facts = parse_facts(context.text)

    assert len(facts) == len(context.facts)
    assert [fact.claim() for fact in facts if fact.denied] == ["not rival Kaelin"]
    assert context.left_out == ("jungwoo.age",)
    assert "# Old-Vorn" in retrieve("Who sealed Vorn?", form=Form.CARDS).text


def test_pinned_facts_beyond_the_budget_are_an_error_with_the_numbers() -> None:
    """The error says what they take and what is allowed."""
    retriever = Retriever(small_world(), settings=Retrieval(budget=5), embedder=NgramEmbedder(), count_tokens=len)

    with pytest.raises(BudgetTooSmallError) as raised:
        retrieve("Hello", retriever=retriever)
    full = retrieve("Hello", retriever=Retriever(small_world(), embedder=NgramEmbedder(), count_tokens=len))
    pinned = [line for line in full.text.splitlines() if "role" in line or "persona" in line]
    assert raised.value.pinned_tokens == len("\n".join(pinned[:2]))
    assert raised.value.budget == 5


@pytest.mark.parametrize(("speaker", "language"), [("nobody", "en"), ("jungwoo", "fr")])
def test_unknown_speaker_or_language(speaker: str, language: str) -> None:
    """Both are refused by name."""
    with pytest.raises(InvalidRequestError) as raised:
        SMALL.retrieve(Ask(question="x", speaker=speaker, language=language))
    assert raised.value.param in ("speaker", "language")


TEXT = (
    "who where is the of your ally home rival Kaelis Vorn Kaelin live smith and their past? "
    "당신의 고향은 카엘리스가 봉인한 그의 ㄱ ' - the Grey Miven"
)
WORDS = TEXT.split()


@given(
    words=st.lists(st.sampled_from(WORDS), max_size=9),
    budget=st.integers(70, 400),
    language=st.sampled_from(["en", "ko"]),
    form=st.sampled_from(list(Form)),
    speaker=st.sampled_from(sorted(small_world().entities)),
)
def test_laws(words: list[str], budget: int, language: str, form: Form, speaker: str) -> None:
    """Never over budget, the pinned always there, every id in the world, and the same again for the same question."""
    world = SMALL.world
    retriever = Retriever(world, settings=Retrieval(budget=budget), embedder=NgramEmbedder(), count_tokens=len)
    ask = Ask(question=" ".join(words), speaker=speaker, language=language, form=form)
    try:
        context = retriever.retrieve(ask)
    except BudgetTooSmallError as error:
        too_small = error.pinned_tokens > budget
        assert too_small
        return

    ids = [fact.id for fact in context.facts]
    assert len(context.text) == context.tokens <= budget
    assert sum(fact.tokens for fact in context.facts) == context.tokens
    assert len(set(ids)) == len(ids)
    assert set(ids) | set(context.dropped) | set(context.left_out) <= {*world.statements, *world.misconceptions}
    slots = world.types[world.entities[speaker].type].slots.values()
    identity = {f"{speaker}.{slot.name}" for slot in slots if slot.identity or slot.name == "persona"}
    assert identity & set(world.statements) <= set(ids)
    assert retriever.retrieve(ask) == context


@given(text=st.text(max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    """Whatever is typed gets a context."""
    assert retrieve(text).tokens > 0


@pytest.mark.slow
def test_ten_thousand_entities() -> None:
    """In a large world names, chains and particles lead to the right facts."""
    world = large_world()
    retriever = Retriever(world, embedder=NgramEmbedder())

    def asked(question: str, language: str) -> list[str]:
        ask = Ask(question=question, speaker="e7", language=language)
        return because(retriever.retrieve(ask), Reason.ASKED, Reason.NEIGHBOUR)

    name = world.entities["e4321"].names
    assert asked(f"Where does the ally of {name['en']} live?", "en") == ["e4321.ally", "e4322.home"]
    assert asked(f"{name['ko']}의 동료는 어디에 살아?", "ko") == ["e4321.ally", "e4322.home"]
    assert asked("What is the home of your friend?", "en") == ["e7.ally", "e8.home"]
    assert len(asked(f"Who lives in {world.entities['p12'].names['en']}?", "en")) == 8
