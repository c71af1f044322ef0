"""Asks judges about answers, each several times, and keeps every vote as it comes."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median

from unmask.gate.judges.client import JudgeClient
from unmask.gate.judges.errors import JudgeError
from unmask.gate.judges.prompt import judge_prompt
from unmask.gate.judges.reply import read_reply
from unmask.gate.judges.rubric import Criterion
from unmask.gate.judges.settings import JudgeSettings, PanelSettings
from unmask.gate.judges.vote_file import KeptVote, VoteFile, VoteName, asking_digest
from unmask.gate.patience import GaveUpError, Trying
from unmask.gate.response import Response
from unmask.gate.scenario import Scenario
from unmask.gate.score import Mark, Vote
from unmask.knowledge.world import World

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An answer to be judged by one criterion."""

    criterion: Criterion
    scenario: Scenario
    world: World
    response: Response


class Panel:
    """Judges with a file of their votes: a vote that is there is not asked for again.

    Args:
        settings: judges, rubric and number of votes.
        clients: the judges by name.
        trying: how faults of the infrastructure are borne with.
        rng: draws fences; where answers come from elsewhere it must not be foreseeable.
        file: where votes are kept.
    """

    def __init__(
        self,
        settings: PanelSettings,
        clients: Mapping[str, JudgeClient],
        trying: Trying,
        rng: Random,
        file: VoteFile,
    ) -> None:
        self._settings = settings
        self._clients = clients
        self._trying = trying
        self._rng = rng
        self._file = file
        self._places = {judge.name: asyncio.Semaphore(judge.in_flight) for judge in settings.judges}

    async def marks(self, questions: Sequence[Question], progress: Progress) -> tuple[Mark, ...]:
        """Return a mark for each question, in their order.

        Raises:
            JudgeError: a judge cannot be asked as it is set up; votes until then are kept.
        """
        marks: dict[int, Mark] = {}
        waiting = iter(enumerate(questions))
        workers = sum(judge.in_flight for judge in self._settings.judges)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(workers, len(questions))):
                    group.create_task(self._work(waiting, marks, progress, len(questions)))
        except* JudgeError as errors:
            raise _first(errors) from errors
        return tuple(marks[number] for number in range(len(questions)))

    async def _work(
        self, waiting: Iterator[tuple[int, Question]], marks: dict[int, Mark], progress: Progress, total: int
    ) -> None:
        for number, question in waiting:
            marks[number] = mark_of(question.criterion, await self._votes(question))
            progress(len(marks), total)

    async def _votes(self, question: Question) -> tuple[Vote, ...]:
        wanted = [(judge, number) for judge in self._settings.judges for number in range(self._settings.votes)]
        names = [self._name(question, judge, number) for judge, number in wanted]
        results = await asyncio.gather(
            *(self._vote(question, judge, name) for (judge, _), name in zip(wanted, names, strict=True)),
            return_exceptions=True,
        )
        fresh = [one for one in results if isinstance(one, KeptVote) and self._file.vote(one.name) is None]
        self._file.add(fresh)
        for one in results:
            if isinstance(one, BaseException):
                raise one
        return tuple(
            one.vote if isinstance(one, KeptVote) else one for one in results if not isinstance(one, BaseException)
        )

    def _name(self, question: Question, judge: JudgeSettings, number: int) -> VoteName:
        return VoteName(
            key=question.response.key,
            criterion=question.criterion.name,
            judge=judge.name,
            number=number,
            asking=asking_digest(judge, question.criterion, question.scenario, question.world, question.response),
        )

    async def _vote(self, question: Question, judge: JudgeSettings, name: VoteName) -> KeptVote | Vote:
        """Return a vote to be kept, or one that says that none came: that is asked for again next time."""
        kept = self._file.vote(name)
        if kept is not None:
            return KeptVote(name=name, vote=kept)
        prompt = judge_prompt(question.criterion, question.scenario, question.world, question.response, self._rng)
        client = self._clients[judge.name]
        try:
            async with self._places[judge.name]:
                reply, _ = await self._trying.until_answered(lambda: client.ask(prompt))
        except GaveUpError as error:
            reason = f"no reply after {error.tries} tries: {error.reason}"
            return Vote(judge=judge.name, value=None, reason=reason, raw="")
        read = read_reply(reply, question.criterion.scale)
        value = None if read.score is None else question.criterion.value(read.score)
        return KeptVote(name=name, vote=Vote(judge=judge.name, value=value, reason=read.reason, raw=reply.text))


def mark_of(criterion: Criterion, votes: Sequence[Vote]) -> Mark:
    """Return the median of the usable votes where most are usable, and else a mark without a value.

    Borderline: within the criterion's margin of good enough, votes further apart than that or on both sides of good
    enough, or a vote that cannot be used.
    """
    values = [vote.value for vote in votes if vote.value is not None]
    if 2 * len(values) <= len(votes):
        unusable = tuple(dict.fromkeys(vote.reason for vote in votes if vote.value is None))
        why = (f"{len(votes) - len(values)} of {len(votes)} votes cannot be used", *unusable)
        return Mark(metric=criterion.metric, value=None, why=why, votes=tuple(votes), borderline=True)
    value = float(median(values))
    sides = {one >= criterion.passes for one in values}
    apart = max(values) - min(values) > criterion.margin or len(sides) > 1
    near = abs(value - criterion.passes) < criterion.margin
    return Mark(
        metric=criterion.metric,
        value=value,
        why=tuple(dict.fromkeys(vote.reason for vote in votes)),
        votes=tuple(votes),
        borderline=near or apart or len(values) < len(votes),
    )


def _first(errors: BaseExceptionGroup[JudgeError]) -> JudgeError:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, JudgeError)
    return JudgeError(found.message, param=found.param)
