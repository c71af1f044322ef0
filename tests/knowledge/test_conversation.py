"""Behaviour of retrieval over the turns of a conversation."""

import pytest

from unmask.knowledge.context import Context, Form, Reason
from unmask.knowledge.conversation import Conversation
from unmask.knowledge.embedding import NgramEmbedder
from unmask.knowledge.retriever import Ask, Retriever
from unmask.testing.small_worlds import small_world

SMALL = Retriever(small_world(), embedder=NgramEmbedder())


def talk(*questions: str, language: str = "en", forgotten: int = 0) -> list[Context]:
    """Ask the keeper one question after the other."""
    conversation = Conversation()
    turns: list[Context] = []
    for question in questions:
        ask = Ask(question=question, speaker="jungwoo", language=language, form=Form.PROSE, conversation=conversation)
        turns.append(SMALL.retrieve(ask))
        conversation = conversation.after(turns[-1]).without(forgotten)
    return turns


def ids(context: Context, *reasons: Reason) -> set[str]:
    """Return the ids that are there for these reasons."""
    return {fact.id for fact in context.facts if fact.reason in reasons}


@pytest.mark.parametrize(
    ("questions", "language", "asked"),
    [
        (("Who is your ally?", "And their home?"), "en", "kaelis.home"),
        (("Who is your ally?", "Where do they live?"), "en", "kaelis.home"),
        (("Have you seen Kaelis?", "Who is her mentor?"), "en", "kaelis.mentor"),
        (("Where does Kaelis live?", "And Haeun?"), "en", "haeun.home"),
        (("Where does Kaelis live?", "And your ally?"), "en", "jungwoo.ally"),
        (("Who is your ally?", "What is his craft?", "And his mentor?"), "en", "kaelis.mentor"),
        (("Who is your ally?", "How are you?", "Where does she live?"), "en", "kaelis.home"),
        (("네 동료는 누구야?", "그의 고향은?"), "ko", "kaelis.home"),
        (("네 동료는 누구야?", "그녀는 어디 살아?"), "ko", "kaelis.home"),
        (("카엘리스의 고향은?", "하은은?"), "ko", "haeun.home"),
    ],
)
def test_follow_ups(questions: tuple[str, ...], language: str, asked: str) -> None:
    """Pronouns mean whom the last turn was about; what a short question leaves out is what was asked before."""
    assert asked in ids(talk(*questions, language=language)[-1], Reason.ASKED, Reason.CARRIED)


def test_a_place_is_pointed_at_as_there() -> None:
    """*There* means the place that the last turn led to, not the person."""
    context = talk("Where does Kaelis live?", "What is the state there?")[-1]

    assert "dorasen" in context.entities
    assert "dorasen.state" in {fact.id for fact in context.facts}
    assert "kaelis" not in context.entities


def test_what_was_told_is_carried_and_not_told_again() -> None:
    """A fact of an earlier turn costs nothing, is not written again, and is reported as carried."""
    first, second = talk("Where is your home?", "Where is your home, I ask again?")

    assert ids(first, Reason.ASKED) == {"jungwoo.home"}
    assert ids(second, Reason.CARRIED) >= {"jungwoo.home", "jungwoo.role"}
    assert second.text == ""
    assert second.tokens == 0


def test_what_the_model_no_longer_reads_is_told_again() -> None:
    """After the first turn dropped out of the context its facts come back; those of the second do not."""
    turns = talk("Where is your home?", "Who is your rival?", "Where is your home?", forgotten=1)

    assert ids(turns[1], Reason.CARRIED) == set()
    assert "jungwoo.home" in ids(turns[2], Reason.ASKED)
    assert "jungwoo.role" in ids(turns[2], Reason.CARRIED)


def test_the_speaker_stays_the_speaker() -> None:
    """*Your* is the speaker's after any talk of others, and without a conversation a pronoun means nobody."""
    assert ids(talk("Where does Haeun live?", "And where is your home?")[-1], Reason.ASKED) >= {"jungwoo.home"}
    assert talk("What do they say?")[0].entities == ()
