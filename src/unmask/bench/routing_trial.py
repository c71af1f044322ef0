"""Conversations over several replicas, simulated: routed by the rule of `unmask.replicas`, or at random."""

from collections.abc import Sequence as Items
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush
from random import Random
from typing import assert_never

import numpy as np

from unmask.backend import Request, Usage
from unmask.bench.report import Figure, measured
from unmask.bench.simulated import SimulatedCore, TickCost
from unmask.replicas.choice import Choice
from unmask.replicas.prompt import Prompt, token_reader
from unmask.replicas.router import Router
from unmask.routing import RouteReason
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.stats import ratio_interval
from unmask.types import ExitReason, Message, Role, StepBudget

MODEL = "simulated"
CANVAS, STEPS = 32, 8


class RoutingArm(StrEnum):
    """How replicas are chosen: by the rule, at random, by the fewest requests, or by the longest prefix alone."""

    RULE = "rule"
    RANDOM = "random"
    LEAST = "least"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingTrial:
    """Conversations that begin at random times, each turn some time after the answer to the one before.

    Attributes:
        pages: KV pages of a replica; those of the others are never of use to it.
        systems: system messages of each tenant; the first is the beginning of half of its conversations.
        rate: conversations a second that begin.
        think_s: mean seconds before the next turn.
    """

    cost: TickCost
    replicas: int = 4
    pages: int = 512
    rows: int = 8
    tenants: int = 3
    systems: int = 4
    system_tokens: int = 256
    turn_tokens: int = 64
    conversations: int = 120
    turns: int = 4
    rate: float = 20.0
    think_s: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingOutcome:
    """What became of the turns of one arm.

    Attributes:
        hit_rate: share of all prompt tokens that were found in a prefix cache.
        mean_s, p99_s: from a turn's arrival to its answer.
        imbalance: work seconds of the busiest replica over those of the mean one.
    """

    hit_rate: float
    mean_s: float
    p99_s: float
    imbalance: float


@dataclass(slots=True, kw_only=True)
class _Turn:
    """A turn of a conversation, and where it was sent; listens to its sequence."""

    conversation: int
    number: int
    tenant: str
    text: str
    simulation: "_Simulation"
    choice: Choice | None = None
    stay: ExitStack = field(default_factory=ExitStack)

    def stepped(self, sequence: Sequence) -> None:
        """Take no note of steps."""

    def grown(self, sequence: Sequence) -> None:
        """Take no note of output."""

    def ended(self, sequence: Sequence) -> None:
        """Go on when the tick that ended it is over."""
        self.simulation.ended(self, sequence)


class _Simulation:
    """One arm and one seed."""

    def __init__(self, trial: RoutingTrial, arm: RoutingArm, seed: int) -> None:
        settings = SchedSettings(pages=trial.pages, max_rows=trial.rows)
        self._trial, self._arm, self._seed = trial, arm, seed
        # What arrives is drawn apart from what is chosen, so that all arms serve the same.
        self._rng, self._chance = Random(seed), Random(seed + 1)
        self._cores = {str(number): SimulatedCore(settings, trial.cost) for number in range(trial.replicas)}
        self._router = Router(tuple(self._cores), pages=trial.pages, first_work=float(CANVAS * STEPS))
        self._read = token_reader(_tokens, settings.page_size)
        self._events: list[tuple[float, int, _Turn, Sequence | None]] = []
        self._count = 0
        self._prompt_tokens = 0
        self._cached_tokens = 0
        self._times: list[float] = []

    def run(self) -> RoutingOutcome:
        now = 0.0
        for conversation in range(self._trial.conversations):
            now += self._rng.expovariate(self._trial.rate)
            self._push(now, self._first(conversation, self._rng), None)
        while True:
            core = min(self._cores.values(), key=lambda one: one.ready_at)
            if self._events and self._events[0][0] <= core.ready_at:
                at, _, turn, sequence = heappop(self._events)
                if sequence is None:
                    self._arrive(at, turn)
                else:
                    self._answered(at, turn, sequence)
            elif core.core.is_idle:
                break
            else:
                core.tick()
        return self._outcome()

    def ended(self, turn: _Turn, sequence: Sequence) -> None:
        assert sequence.finished is not None, "an ended sequence has its time"
        self._push(sequence.finished, turn, sequence)

    def _first(self, conversation: int, rng: Random) -> _Turn:
        trial = self._trial
        tenant = str(rng.randrange(trial.tenants))
        system = 0 if rng.random() < 1 / 2 else rng.randrange(trial.systems)
        text = _text(Random(f"{tenant} {system}"), trial.system_tokens) + _text(rng, trial.turn_tokens)
        return _Turn(conversation=conversation, number=0, tenant=tenant, text=text, simulation=self)

    def _arrive(self, at: float, turn: _Turn) -> None:
        message = Message(role=Role.USER, content=turn.text)
        request = Request(model=MODEL, messages=(message,), tenant=turn.tenant, session=str(turn.conversation))
        prompt = self._read(request)
        turn.choice = self._choose(prompt)
        turn.stay.enter_context(self._router.visit(prompt, turn.choice))
        if self._arm is RoutingArm.PREFIX:
            turn.stay.close()
        self._cores[turn.choice.name].submit(at, _submission(turn), turn)

    def _choose(self, prompt: Prompt) -> Choice:
        takers = {name: one.core.load.running + one.core.load.waiting for name, one in self._cores.items()}
        match self._arm:
            case RoutingArm.RULE:
                return self._router.choose(prompt, takers)
            case RoutingArm.RANDOM:
                return _to(self._chance.choice(list(takers)))
            case RoutingArm.LEAST:
                return _to(min(takers, key=lambda name: (takers[name], self._chance.random())))
            case RoutingArm.PREFIX:
                # No visit lasts in this arm, so that no queue counts and the rule goes by what is cached alone.
                return self._router.choose(prompt, dict.fromkeys(takers, 0))
            case _:
                assert_never(self._arm)

    def _answered(self, at: float, turn: _Turn, sequence: Sequence) -> None:
        assert turn.choice is not None, "an answered turn was sent somewhere"
        turn.stay.close()
        usage = _usage(sequence)
        self._router.answered(turn.choice, usage, CANVAS)
        self._prompt_tokens += usage.prompt_tokens
        self._cached_tokens += usage.cached_tokens
        self._times.append(at - sequence.arrived)
        if turn.number + 1 < self._trial.turns:
            rng = Random(f"{self._seed} {turn.conversation} {turn.number}")
            text = turn.text + _text(rng, self._trial.turn_tokens)
            following = _Turn(
                conversation=turn.conversation,
                number=turn.number + 1,
                tenant=turn.tenant,
                text=text,
                simulation=self,
            )
            self._push(at + rng.expovariate(1 / self._trial.think_s), following, None)

    def _push(self, at: float, turn: _Turn, sequence: Sequence | None) -> None:
        self._count += 1
        heappush(self._events, (at, self._count, turn, sequence))

    def _outcome(self) -> RoutingOutcome:
        work = [one.core.load.work.seconds for one in self._cores.values()]
        return RoutingOutcome(
            hit_rate=self._cached_tokens / self._prompt_tokens,
            mean_s=float(np.mean(self._times)),
            p99_s=float(np.quantile(self._times, 0.99)),
            imbalance=max(work) / float(np.mean(work)),
        )


def run_routing_trial(trial: RoutingTrial, arm: RoutingArm, seed: int) -> RoutingOutcome:
    """Serve the conversations of a seed, the same in every arm."""
    return _Simulation(trial, arm, seed).run()


def prefix_hit_rate_vs_random(trial: RoutingTrial, seeds: Items[int], seed: int = 0) -> Figure:
    """Return how many times a random choice's hit rate the rule's is, the same conversations in both.

    Args:
        trial: what is simulated.
        seeds: of the simulations, ten at least for an interval.
        seed: of the resampling.
    """
    rule, chance = (
        [run_routing_trial(trial, arm, one).hit_rate for one in seeds] for arm in (RoutingArm.RULE, RoutingArm.RANDOM)
    )
    return hit_rate_ratio(rule, chance, seed)


def hit_rate_ratio(rule: Items[float], chance: Items[float], seed: int) -> Figure:
    """Return the figure of hit rates, one of either choice a simulation, in the same order."""
    return measured(
        "prefix_hit_rate_vs_random",
        ratio_interval(rule, chance, seed, paired=True),
        fallback=float(np.mean(rule) / np.mean(chance)),
        unit="times",
        n=len(rule),
        note="share of prompt tokens found cached, over that of a random choice; simulated, seeds resampled",
    )


def _to(name: str) -> Choice:
    return Choice(name=name, reason=RouteReason.LOAD)


def _text(rng: Random, length: int) -> str:
    """Return text of so many syllables, a token each."""
    return "".join(chr(rng.randrange(ord("가"), ord("힣"))) for _ in range(length))


def _tokens(messages: Items[Message]) -> list[int]:
    return [ord(letter) for message in messages for letter in message.content]


def _submission(turn: _Turn) -> Submission:
    return Submission(
        prompt=tuple(map(ord, turn.text)),
        max_tokens=CANVAS,
        canvas_length=CANVAS,
        context_length=4_096,
        budget=StepBudget(max_steps=STEPS, max_total_steps=STEPS),
        tenant=turn.tenant,
    )


def _usage(sequence: Sequence) -> Usage:
    return Usage(
        prompt_tokens=len(sequence.submission.prompt),
        completion_tokens=len(sequence.output),
        cached_tokens=sequence.cached_tokens,
        prefill_tokens=sequence.prefill_tokens,
        commit_tokens=sequence.commit_tokens,
        steps_allocated=STEPS,
        steps_used=sequence.steps,
        canvases=sequence.canvases,
        exit_reason=ExitReason.CONVERGED,
    )
