"""A reward endpoint: tells how good answers are, if it answers at all."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isfinite

from unmask.errors import UnmaskError
from unmask.remote.breaker import Breaker
from unmask.search.score import Scored
from unmask.types import Message

_LOG = logging.getLogger(__name__)

Reward = Callable[[Sequence[Message], Sequence[str]], Awaitable[Sequence[float]]]
"""Returns how good each of several answers to a chat is; the more the better. May raise, and may hang."""


class RewardEnd(StrEnum):
    """What came of asking a reward endpoint.

    ``used``: it decided. ``late``: it did not answer in time. ``failed``: it cannot be reached, or answers with an
    error. ``nonsense``: what it says is not a number for each answer. ``skipped``: it was left alone, as it has failed
    too often of late, or as there was no time left.
    """

    USED = "used"
    LATE = "late"
    FAILED = "failed"
    NONSENSE = "nonsense"
    SKIPPED = "skipped"


class RewardError(UnmaskError):
    """A reward endpoint has not said how good answers are.

    Attributes:
        end: what came of asking it.
    """

    def __init__(self, end: RewardEnd, reason: str) -> None:
        super().__init__(f"the reward endpoint {reason}")
        self.args = (end, reason)
        self.end = end


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardDesk:
    """Asks a reward endpoint about the answers that everything cheaper has left.

    Attributes:
        among: most answers that it is asked about, in one call; those that rank highest.
        timeout_s: seconds in which it has to answer.
        breaker: leaves it alone for a while once it has failed often; ``None`` asks it every time.
    """

    reward: Reward
    among: int = 4
    timeout_s: float = 2.0
    breaker: Breaker | None = None

    async def rewards(
        self, messages: Sequence[Message], texts: Sequence[str], *, left_s: float | None = None
    ) -> Sequence[float]:
        """Return how good each text is, all finite.

        Args:
            messages: the chat that the texts answer.
            texts: at least one.
            left_s: seconds that there are for it; ``None``: as many as it takes.

        Raises:
            RewardError: it has not said.
        """
        seconds = self.timeout_s if left_s is None else min(self.timeout_s, left_s)
        if seconds <= 0:
            raise RewardError(RewardEnd.SKIPPED, "was not asked: the deadline is over")
        breaker = self.breaker
        if breaker is None:
            return await self._asked(messages, texts, seconds)
        if not breaker.takes:
            raise RewardError(RewardEnd.SKIPPED, f"was not asked: {breaker.error().reason}")
        breaker.enter()
        try:
            found = await self._asked(messages, texts, seconds)
        except RewardError as error:
            if error.end is RewardEnd.LATE and seconds < self.timeout_s:
                # That its caller was in a hurry does not speak against it.
                breaker.leave()
            else:
                breaker.fail(error.message)
            raise
        except BaseException:
            breaker.leave()
            raise
        breaker.succeed()
        return found

    async def _asked(self, messages: Sequence[Message], texts: Sequence[str], seconds: float) -> Sequence[float]:
        try:
            async with asyncio.timeout(seconds):
                found = await self.reward(messages, texts)
        except TimeoutError as error:
            raise RewardError(RewardEnd.LATE, f"was given up after {seconds:g} s") from error
        except RewardError:
            raise
        except Exception as error:
            # Whatever somebody else's endpoint does, there is an answer already.
            _LOG.exception("the reward endpoint failed")
            raise RewardError(RewardEnd.FAILED, f"failed: {error}") from error
        if len(found) != len(texts) or not all(map(isfinite, found)):
            raise RewardError(RewardEnd.NONSENSE, f"said {list(found)!s:.200}, allowed: {len(texts)} finite numbers")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which answer is taken.

    Attributes:
        best: the answer.
        answers: all of them, as they were judged.
        end: what came of asking the reward endpoint; ``None`` where it was not needed.
        problem: what kept it from judging.
    """

    best: Scored
    answers: tuple[Scored, ...]
    end: RewardEnd | None = None
    problem: str | None = None


async def chosen(
    answers: Sequence[Scored], desk: RewardDesk | None, messages: Sequence[Message], *, left_s: float | None = None
) -> Choice:
    """Return the best answer.

    Whether it passes comes first, then votes, then confidence. A reward decides among those that no other verdict
    tells apart by passing, at most `RewardDesk.among` different texts. Where there is none, it is as without a desk.

    Args:
        answers: at least one, with their votes.
        desk: asks the reward endpoint, if there is one.
        messages: the chat that they answer.
        left_s: seconds that there are for asking; ``None``: as many as it takes.
    """
    ranked = sorted(answers, key=lambda answer: (answer.score.rank, -answer.number), reverse=True)
    plain = Choice(best=ranked[0], answers=tuple(answers))
    if desk is None:
        return plain
    texts: dict[str, Scored] = {}
    for answer in ranked:
        if answer.score.passes is plain.best.score.passes:
            texts.setdefault(answer.generation.text, answer)
    asked = list(texts.values())[: desk.among]
    if len(asked) < 2:
        return plain
    try:
        found = await desk.rewards(messages, [one.generation.text for one in asked], left_s=left_s)
    except RewardError as error:
        return replace(plain, end=error.end, problem=error.message)
    judged = [replace(one, score=replace(one.score, reward=reward)) for one, reward in zip(asked, found, strict=True)]
    best = max(judged, key=lambda answer: (answer.score.reward or 0.0, answer.score.rank, -answer.number))
    known = {answer.number: answer for answer in judged}
    return Choice(best=best, answers=tuple(known.get(answer.number, answer) for answer in answers), end=RewardEnd.USED)
