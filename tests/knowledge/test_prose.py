"""Behaviour of facts written as sentences."""

import pytest

from unmask.knowledge.prose import Writer
from unmask.knowledge.token_count import embedded_tokens, estimated_tokens
from unmask.testing.small_worlds import small_world


@pytest.mark.parametrize(
    ("id_", "language", "sentence"),
    [
        ("jungwoo.home", "en", "The home of Jungwoo is Miven."),
        ("jungwoo.home", "ko", "정우의 사는 곳은 미벤이다."),
        ("jungwoo.role", "ko", "정우의 역할은 파수꾼이다."),
        ("kaelis.craft", "ko", "카엘리스의 기술은 직조다."),
        ("kaelis.mentor", "ko", "카엘리스의 스승은 세라다."),
        ("jungwoo.age", "ko", "정우의 나이는 41이다."),
        ("vorn.sealed_by", "en", "The sealer of Old Vorn is Haeun since the New Age."),
        ("vorn.sealed_by.sera", "en", "The sealer of Old Vorn was Sera until the New Age."),
        ("vorn.sealed_by.sera", "ko", "the New Age까지 늙은 보른의 봉인한 자는 세라였다."),
    ],
)
def test_statements(id_: str, language: str, sentence: str) -> None:
    """One sentence a fact, with the particles that fit, and in the past where it ended."""
    world = small_world()

    assert Writer(world, language).statement(world.statements[id_]) == sentence


@pytest.mark.parametrize(
    ("id_", "language", "sentence"),
    [
        ("jungwoo.rival.not", "en", "The rival of Jungwoo is not Kaelin."),
        ("kaelis.role.not", "en", "Kaelis is not Kaelin. The role of Kaelis is not smith."),
        ("jungwoo.rival.not", "ko", "정우의 숙적은 카엘린이 아니다."),
        ("kaelis.role.not", "ko", "카엘리스는 카엘린과 다르다. 카엘리스의 역할은 대장장이가 아니다."),
    ],
)
def test_misconceptions(id_: str, language: str, sentence: str) -> None:
    """A misconception is denied, and whom the subject is mistaken for is told."""
    world = small_world()

    assert Writer(world, language).misconception(world.misconceptions[id_]) == sentence


def test_tokens_of_scripts() -> None:
    """Hangul takes more tokens a character than English, by estimate and by the project's own tokenizer."""
    assert estimated_tokens("정우의 고향은 미벤이다.") > estimated_tokens("Jungwoo is of")
    assert estimated_tokens("") == 0
    assert embedded_tokens("# Kaloren\n- home Miven") > 5
