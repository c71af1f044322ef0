"""A reward endpoint: tells how good an answer is, if it answers at all."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from unmask.search.score import Scored

_LOG = logging.getLogger(__name__)

Reward = Callable[[str], Awaitable[float]]
"""Returns how good a text is; the more the better. May raise, and may hang."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardDesk:
    """Asks a reward endpoint about the answers that everything cheaper has left.

    Attributes:
        among: most answers that it is asked about; those that rank highest.
        timeout_s: seconds in which it has to answer about all of them, which are asked about side by side.
    """

    reward: Reward
    among: int = 4
    timeout_s: float = 2.0

    async def judged(self, answers: Sequence[Scored]) -> tuple[list[Scored], str | None]:
        """Return answers with their rewards, or as they were and why.

        A reward compares with rewards only: where it is missing for one answer it is left out for all.
        """
        try:
            async with asyncio.timeout(self.timeout_s):
                found = await asyncio.gather(*(self.reward(answer.generation.text) for answer in answers))
        except TimeoutError:
            return list(answers), f"the reward endpoint was given up after {self.timeout_s:g} s"
        except Exception as error:  # noqa: BLE001 - whatever somebody else's endpoint does, there is an answer already
            _LOG.exception("the reward endpoint failed")
            return list(answers), f"the reward endpoint failed: {error}"
        if not all(map(isfinite, found)):
            return list(answers), f"the reward endpoint said {found}, which are not all numbers"
        return [
            replace(answer, score=replace(answer.score, reward=reward))
            for answer, reward in zip(answers, found, strict=True)
        ], None


async def chosen(answers: Sequence[Scored], desk: RewardDesk | None) -> tuple[Scored, tuple[Scored, ...], str | None]:
    """Return the best answer, all of them as they were judged, and what kept the reward endpoint from judging.

    Whether it passes comes first, then votes, then confidence. A reward decides among those that no other verdict
    tells apart by passing, at most `RewardDesk.among` different texts.

    Args:
        answers: at least one, with their votes.
        desk: asks the reward endpoint, if there is one.
    """
    ranked = sorted(answers, key=lambda answer: (answer.score.rank, -answer.number), reverse=True)
    first = ranked[0]
    if desk is None:
        return first, tuple(answers), None
    texts: dict[str, Scored] = {}
    for answer in ranked:
        if answer.score.passes is first.score.passes:
            texts.setdefault(answer.generation.text, answer)
    asked = list(texts.values())[: desk.among]
    if len(asked) < 2:
        return first, tuple(answers), None
    judged, problem = await desk.judged(asked)
    if problem is not None:
        return first, tuple(answers), problem
    best = max(judged, key=lambda answer: (answer.score.reward or 0.0, answer.score.rank, -answer.number))
    known = {answer.number: answer for answer in judged}
    return best, tuple(known.get(answer.number, answer) for answer in answers), None
