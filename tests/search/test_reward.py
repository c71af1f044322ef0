"""A reward endpoint decides among what passes, and is given up where it does not answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.search.fakes import REQUEST, Scripted, answer, make_setting
from unmask.backend import Generation, Request
from unmask.remote.breaker import Breaker
from unmask.remote.settings import Breaking
from unmask.search.candidates import candidates
from unmask.search.reward import RewardDesk, RewardEnd, RewardError
from unmask.testing.manual_clock import ManualClock
from unmask.types import Message

LINES = [answer("긴 답", -0.1), answer("둘", -0.2), answer("셋", -0.3), answer("틀림", -0.01)]


async def test_the_reward_decides_among_those_that_pass() -> None:
    """It is asked about no other, and about the surest only."""
    asked: list[str] = []

    async def reward(messages: Sequence[Message], texts: Sequence[str]) -> list[float]:
        assert messages == REQUEST.messages
        asked.extend(texts)
        return [{"둘": 3.0}.get(text, 1.0) for text in texts]

    setting = make_setting(Scripted(LINES), check=lambda text: text != "틀림", desk=RewardDesk(reward=reward, among=2))
    found = await candidates(setting)

    assert (found.best.generation.text, found.best.score.reward) == ("둘", 3.0)
    assert asked == ["긴 답", "둘"]
    assert [one.score.reward for one in found.answers] == [1.0, 3.0, None, None]
    assert found.reward is RewardEnd.USED


async def test_an_endpoint_that_hangs_is_given_up_and_said() -> None:
    """The surest is the answer, and nothing goes on asking."""
    hanging = 0

    async def reward(_: Sequence[Message], __: Sequence[str]) -> list[float]:
        nonlocal hanging
        hanging += 1
        try:
            await asyncio.Event().wait()
        finally:
            hanging -= 1
        return []

    found = await candidates(make_setting(Scripted(LINES), desk=RewardDesk(reward=reward, timeout_s=0.01)))

    assert found.best.generation.text == "틀림"
    assert (found.reward, found.notes) == (RewardEnd.LATE, ("the reward endpoint was given up after 0.01 s",))
    assert hanging == 0


@pytest.mark.parametrize(
    ("value", "end"),
    [
        (ValueError("보상 없음"), RewardEnd.FAILED),
        (RewardError(RewardEnd.NONSENSE, "says no scores"), RewardEnd.NONSENSE),
        ([1.0, float("nan"), 0.0, 0.0], RewardEnd.NONSENSE),
        ([1.0], RewardEnd.NONSENSE),
    ],
    ids=["raises", "says so", "no number", "too few"],
)
async def test_an_endpoint_that_fails_is_left_out(value: Exception | list[float], end: RewardEnd) -> None:
    """So is one that answers with no number for each."""

    async def reward(_: Sequence[Message], __: Sequence[str]) -> list[float]:
        if isinstance(value, Exception):
            raise value
        return value

    found = await candidates(make_setting(Scripted(LINES), desk=RewardDesk(reward=reward)))

    assert (found.best.generation.text, found.reward) == ("틀림", end)
    assert len(found.notes) == 1


async def test_a_single_text_needs_no_reward() -> None:
    """Nobody is asked to choose among one."""

    async def reward(_: Sequence[Message], __: Sequence[str]) -> list[float]:
        raise AssertionError

    found = await candidates(make_setting(Scripted([answer("하나")]), desk=RewardDesk(reward=reward)))
    assert (found.best.generation.text, found.reward, found.notes) == ("하나", None, ())


async def test_a_deadline_that_is_over_leaves_no_time_to_ask() -> None:
    """The answer is there, and whoever waits for it is not kept waiting for a reward."""
    clock = ManualClock()

    async def reward(_: Sequence[Message], __: Sequence[str]) -> list[float]:
        raise AssertionError

    async def last(request: Request) -> Generation:
        generation = await script(request)
        if script.open == 0:
            clock.advance(9.0)
        return generation

    script = Scripted(LINES)
    setting = make_setting(script, clock=clock, deadline=8.0, desk=RewardDesk(reward=reward), width=2)
    found = await candidates(replace(setting, generate=last))
    assert (found.reward, len(found.answers), found.best.generation.text) == (RewardEnd.SKIPPED, 2, "긴 답")


async def test_one_that_fails_often_is_left_alone_for_a_while() -> None:
    """It is not asked again until then, and one good answer makes it well."""
    clock, asked, is_well = ManualClock(), 0, False

    async def reward(_: Sequence[Message], texts: Sequence[str]) -> list[float]:
        nonlocal asked
        asked += 1
        if not is_well:
            raise ConnectionError
        return [float(place) for place, _ in enumerate(texts)]

    breaker = Breaker("reward", Breaking(failures=2, open=10.0), clock)
    desk = RewardDesk(reward=reward, breaker=breaker)

    async def end() -> RewardEnd:
        try:
            await desk.rewards(REQUEST.messages, ["하나", "둘"])
        except RewardError as error:
            return error.end
        return RewardEnd.USED

    assert [await end() for _ in range(3)] == [RewardEnd.FAILED, RewardEnd.FAILED, RewardEnd.SKIPPED]
    assert asked == 2
    clock.advance(11.0)
    is_well = True
    assert [await end() for _ in range(2)] == [RewardEnd.USED] * 2


async def test_a_caller_in_a_hurry_does_not_speak_against_the_endpoint() -> None:
    """Nor does one that leaves."""
    breaker = Breaker("reward", Breaking(failures=1, open=10.0), ManualClock())

    async def reward(_: Sequence[Message], __: Sequence[str]) -> list[float]:
        await asyncio.Event().wait()
        return []

    desk = RewardDesk(reward=reward, breaker=breaker)
    with pytest.raises(RewardError) as caught:
        await desk.rewards(REQUEST.messages, ["하나", "둘"], left_s=0.001)
    assert caught.value.end is RewardEnd.LATE
    leaving = asyncio.ensure_future(desk.rewards(REQUEST.messages, ["하나", "둘"]))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert breaker.takes
