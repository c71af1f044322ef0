"""A reward endpoint decides among what passes, and is given up where it does not answer."""

import asyncio

import pytest

from tests.search.fakes import Scripted, answer, make_setting
from unmask.search.candidates import candidates
from unmask.search.reward import RewardDesk

LINES = [answer("긴 답", -0.1), answer("둘", -0.2), answer("셋", -0.3), answer("틀림", -0.01)]


async def test_the_reward_decides_among_those_that_pass() -> None:
    """It is asked about no other, and about the surest only."""
    asked: list[str] = []

    async def reward(text: str) -> float:
        asked.append(text)
        return {"둘": 3.0}.get(text, 1.0)

    setting = make_setting(Scripted(LINES), check=lambda text: text != "틀림", desk=RewardDesk(reward=reward, among=2))
    found = await candidates(setting)

    assert (found.best.generation.text, found.best.score.reward) == ("둘", 3.0)
    assert asked == ["긴 답", "둘"]
    assert [one.score.reward for one in found.answers] == [1.0, 3.0, None, None]


async def test_an_endpoint_that_hangs_is_given_up_and_said() -> None:
    """The surest is the answer, and nothing goes on asking."""
    hanging = 0

    async def reward(_: str) -> float:
        nonlocal hanging
        hanging += 1
        try:
            await asyncio.Event().wait()
        finally:
            hanging -= 1
        return 0.0

    found = await candidates(make_setting(Scripted(LINES), desk=RewardDesk(reward=reward, timeout_s=0.01)))

    assert found.best.generation.text == "틀림"
    assert found.notes == ("the reward endpoint was given up after 0.01 s",)
    assert hanging == 0


@pytest.mark.parametrize("value", [ValueError("보상 없음"), float("nan")], ids=["raises", "no number"])
async def test_an_endpoint_that_fails_is_left_out(value: Exception | float) -> None:
    """So is one that answers with no number."""

    async def reward(_: str) -> float:
        if isinstance(value, Exception):
            raise value
        return value

    found = await candidates(make_setting(Scripted(LINES), desk=RewardDesk(reward=reward)))

    assert found.best.generation.text == "틀림"
    assert len(found.notes) == 1


async def test_a_single_text_needs_no_reward() -> None:
    """Nobody is asked to choose among one."""

    async def reward(_: str) -> float:
        raise AssertionError

    found = await candidates(make_setting(Scripted([answer("하나")]), desk=RewardDesk(reward=reward)))
    assert (found.best.generation.text, found.notes) == ("하나", ())
