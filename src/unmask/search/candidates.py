"""Candidates: several answers to one request side by side, the best of which is taken."""

import logging

from unmask.backend import Generation
from unmask.search.drafts import voted
from unmask.search.found import Found
from unmask.search.requests import drawn
from unmask.search.reward import RewardEnd, chosen
from unmask.search.running import Runner, Setting
from unmask.search.score import Score, Scored, confidence_of, counted, verdict_of
from unmask.types import Verification


async def candidates(setting: Setting) -> Found:
    """Run as many candidates as the plan is wide and return the best.

    The first is the request as it is; the others differ in their seed, and are drawn at the plan's temperature. All
    have the same prompt and tenant, so that its KV is computed once. With `SearchPlan.drafts` each says what its own
    drafts say together. Which is best: see `unmask.search.reward.chosen`.

    Raises:
        UnmaskError: none of them could be run.
    """
    runner, plan = Runner(setting), setting.plan
    requests = [drawn(setting, number) for number in range(plan.width)]

    def passes(generation: Generation) -> bool:
        return scored(setting, 0, generation).score.verdict is Verification.PASS

    is_enough = passes if plan.stops_at_pass else None
    generations = await runner.together(requests, setting.most_steps, is_enough=is_enough)
    answers = [
        scored(setting, number, generation) for number, generation in enumerate(generations) if generation is not None
    ]
    if is_enough is not None:
        # Those behind the first that passes may have ended before they could be dropped; they are as if they had not.
        first = next((answer.number for answer in answers if answer.score.passes), plan.width)
        answers = [answer for answer in answers if answer.number <= first]
    return await concluded(runner, answers)


def scored(setting: Setting, number: int, generation: Generation) -> Scored:
    """Return a generation as an answer: what it says, and how good that is."""
    confidence = confidence_of(generation)
    if setting.plan.drafts:
        generation = voted(generation, setting.check, setting.request.stop, setting.agreement)
    verdict = verdict_of(setting.check, generation.text)
    return Scored(number=number, generation=generation, score=Score(verdict=verdict, confidence=confidence))


async def concluded(runner: Runner, answers: list[Scored]) -> Found:
    """Return the best of whole answers as what a search has found.

    Args:
        runner: of the search.
        answers: at least one.
    """
    setting = runner.setting
    voting = counted(answers, setting.agreement) if setting.plan.votes else answers
    choice = await chosen(voting, setting.desk, setting.request.messages, left_s=setting.left_s)
    if choice.problem is not None:
        # What it has failed was told each time; that it is left alone for that is no news.
        runner.note(choice.problem, logging.INFO if choice.end is RewardEnd.SKIPPED else logging.WARNING)
    return Found(
        best=choice.best,
        answers=choice.answers,
        generations=tuple(runner.generations),
        steps=runner.purse.spent,
        limit=runner.limit,
        dropped=runner.dropped,
        reward=choice.end,
        notes=tuple(runner.notes),
    )
