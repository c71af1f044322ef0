"""Asks scenarios in every arm as a server with the model's approved policy would, turn by turn, in waves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from unmask.backend import ModelInfo, Request
from unmask.bench.arms import main_arm
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.bench.gate_journal import Arm, GateJournal, Key, Reply
from unmask.bench.gate_stages import Stage, Way
from unmask.bench.modes import BOTH_MODES
from unmask.control.asked import Asked
from unmask.control.budget import assign
from unmask.control.check import make_check
from unmask.control.sources import ActivePolicy
from unmask.core.core import Core
from unmask.errors import UnmaskError
from unmask.gate.asking import system_message
from unmask.gate.scenario import Scenario, Suite
from unmask.knowledge.context import Context
from unmask.local.limits import make_submission
from unmask.local.model import model_info
from unmask.sequence import Sequence as Generation
from unmask.sequence import Submission
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Outcome, Role, Sampling

TASK = "dialogue"
"""The task type that clients name with every question."""
TEMPERATURE = 0.3
"""Low, as where answers are to keep to facts, and high enough that most answers differ from seed to seed."""

ARMS = tuple(Arm(stage=stage, mode=mode) for stage in Stage for mode in BOTH_MODES)
Done = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is asked, with which facts, under which policy."""

    suite: Suite
    contexts: Mapping[Stage, Mapping[str, tuple[Context, ...]]]
    policy: ActivePolicy | None


def contexts_of(suite: Suite, ways: Mapping[Stage, Way]) -> dict[Stage, dict[str, tuple[Context, ...]]]:
    """Return each stage's facts for every turn of every scenario; modes and seeds share them."""
    return {stage: {scenario.id: way.contexts(scenario) for scenario in suite.scenarios} for stage, way in ways.items()}


class Desk:
    """Turns questions into submissions.

    Budget, strategy and exit rule are what the policy gives a client that names the task type and nothing else; a
    further attempt after a failed check, and control runs, are off in all arms.
    """

    def __init__(self, bench: Bench, setting: Setting) -> None:
        self.setting = setting
        self._bench = bench
        self._info: ModelInfo = model_info(bench.model, bench.precision)
        self._task = all_tasks()[TASK]

    def messages(self, scenario: Scenario, stage: Stage, earlier: Sequence[Reply]) -> tuple[Message, ...]:
        """Return the prompt of the turn after ``earlier``: what was answered wrongly is what it follows upon."""
        turn = len(earlier)
        world = self.setting.suite.worlds[scenario.world]
        said: list[Message] = []
        for asked, reply in zip(scenario.turns, earlier, strict=False):
            said.append(Message(role=Role.USER, content=asked.question))
            said.append(Message(role=Role.ASSISTANT, content=reply.text))
        question = Message(role=Role.USER, content=scenario.turns[turn].question)
        return (system_message(world, scenario, self.setting.contexts[stage][scenario.id][turn]), *said, question)

    def submission(
        self,
        key: Key,
        scenario: Scenario,
        earlier: Sequence[Reply],
        *,
        temperature: float = TEMPERATURE,
        lane: str = "",
    ) -> Submission:
        """Return a turn in tokens.

        Args:
            key: which scenario, arm and seed.
            scenario: the key's.
            earlier: the answers before it.
            temperature: 0 takes the likeliest token.
            lane: prompts are cached for one arm, seed and lane; another's would make this one look faster.
        """
        messages = self.messages(scenario, key.arm.stage, earlier)
        request = Request(
            model=self._info.name,
            messages=messages,
            sampling=Sampling(temperature=temperature, seed=key.seed),
            mode=key.arm.mode,
            tenant=f"{key.arm.name}/{key.seed}/{lane}",
        )
        given = assign(self.setting.policy, request, Asked(task=TASK), self._info, task=TASK, estimate=None)
        check = None if given.exit is None else make_check(messages, self._task, None)
        request = replace(request, budget=given.budget, strategy=given.strategy, exit=given.exit, check=check)
        return make_submission(request, self._info, tuple(self._bench.tokenizer.encode_chat(messages)))


def ask_all(
    bench: Bench, desk: Desk, journal: GateJournal, *, seeds: Sequence[int], order: int, wave: int, done: Done
) -> None:
    """Ask whatever the journal lacks; ``done`` is told how many more answers there are.

    Scenarios come in waves, and in each the arms one after the other in random order: an arm has the engine to itself,
    16 rows at once, and what disturbs the machine for longer than a wave disturbs all arms alike.

    Raises:
        UnmaskError: the engine failed one.
    """
    core = main_arm(bench).core
    scenarios = desk.setting.suite.scenarios
    for number, first in enumerate(range(0, len(scenarios), wave)):
        part = scenarios[first : first + wave]
        for arm in Random(f"arms {order} {number}").sample(ARMS, len(ARMS)):
            jobs = {
                key: scenario
                for scenario in part
                for seed in seeds
                if (key := Key(scenario=scenario.id, arm=arm, seed=seed)) not in journal
            }
            for key, replies in _answered(bench, core, desk, jobs, done).items():
                journal.note(key, replies)


def _answered(bench: Bench, core: Core, desk: Desk, jobs: Mapping[Key, Scenario], done: Done) -> dict[Key, list[Reply]]:
    """Ask scenarios side by side, all first turns and then all second ones, as far as they have them."""
    replies: dict[Key, list[Reply]] = {key: [] for key in jobs}
    while open_ := [key for key, scenario in jobs.items() if len(replies[key]) < len(scenario.turns)]:
        work = [desk.submission(key, jobs[key], replies[key]) for key in open_]
        for key, sequence in zip(open_, drive(core, work, bench.clock).sequences, strict=True):
            replies[key].append(reply_of(sequence, key))
        done(len(open_))
    return replies


def missing(suite: Suite, journal: GateJournal, seeds: Sequence[int]) -> int:
    """Return how many answers the journal lacks."""
    return sum(
        len(scenario.turns)
        for scenario in suite.scenarios
        for arm in ARMS
        for seed in seeds
        if Key(scenario=scenario.id, arm=arm, seed=seed) not in journal
    )


def reply_of(sequence: Generation, key: Key) -> Reply:
    """Return what came of a submission.

    Raises:
        UnmaskError: the engine failed it.
    """
    if sequence.outcome is not Outcome.COMPLETED or sequence.started is None or sequence.finished is None:
        raise UnmaskError(f"{key.scenario} in {key.arm.name} {sequence.outcome}: {sequence.error or 'no reason'}")
    return Reply(
        text=sequence.text,
        steps=sequence.steps,
        tokens=len(sequence.output),
        seconds=sequence.finished - sequence.started,
    )
