"""Behaviour of `unmask.control.question`."""

import pytest

from unmask.control.question import QuestionKind, kind_of


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("What is your home?", QuestionKind.WHAT),
        ("So, tell me: who made you?", QuestionKind.TELL),
        ("And what of your ally?", QuestionKind.FOLLOW_UP),
        ("Is your rival Miven?", QuestionKind.WHETHER),
        ("sort 3, 1, 2", QuestionKind.COMMAND),
        ("고향이 어디인가요?", QuestionKind.WHERE),
        ("그리고 네 스승은?", QuestionKind.FOLLOW_UP),
        ("스승은 누구입니까", QuestionKind.WHO),
        ("3, 1, 2 를 정렬해 줘", QuestionKind.COMMAND),
        ("2314", QuestionKind.OTHER),
        ("", QuestionKind.OTHER),
        ("안녕하세요", QuestionKind.OTHER),
    ],
)
def test_first_telling_word_decides(line: str, kind: QuestionKind) -> None:
    """A line is of the kind of the first word that tells one, in English or by a stem in Korean."""
    assert kind_of(line, line.lower().replace(",", " ").split()) is kind
