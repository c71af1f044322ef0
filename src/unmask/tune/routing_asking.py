"""Asks the two models of a route the same items by turns, and charges each answer its share of the forwards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from unmask.backend import Backend, Generation, ModelInfo, Request
from unmask.control.check import make_check
from unmask.control.classify import packaged_classifier
from unmask.control.features import Features, features_of
from unmask.control.route import TaskRoute
from unmask.control.stored import CountTokens
from unmask.errors import UnmaskError
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.tune.in_flight import run_in_flight
from unmask.tune.routing import RoutedItem, Tried
from unmask.types import Outcome

TURN = 64
"""Items that one model is asked before the other has its turn, so that a busy machine slows both alike."""


class RoutingAskingError(UnmaskError):
    """A model did not answer an item, so nothing can be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingAsking:
    """How both models are asked: with their default budgets, as a server without a policy would.

    Attributes:
        models: the small one and the large one.
        count_tokens: how long a prompt is.
        max_tokens: most tokens of an answer whose request names none, on a route over both.
    """

    backend: Backend
    models: tuple[ModelInfo, ModelInfo]
    in_flight: int
    count_tokens: CountTokens
    max_tokens: int

    async def items(self, items: Sequence[Item]) -> list[RoutedItem]:
        """Ask both models all items.

        Raises:
            RoutingAskingError: one did not answer.
        """
        answers: tuple[list[Generation], list[Generation]] = ([], [])
        seconds = [0.0, 0.0]
        for start in range(0, len(items), TURN):
            for side, model in enumerate(self.models):
                before = self._forward_s(model)
                answers[side].extend(await self._answers(model, items[start : start + TURN]))
                seconds[side] += self._forward_s(model) - before
        small, large = (
            [
                _tried(item, one, charge)
                for item, one, charge in zip(items, found, charged(found, model, total), strict=True)
            ]
            for found, model, total in zip(answers, self.models, seconds, strict=True)
        )
        return [
            RoutedItem(features=self.features(item), small=first, large=second)
            for item, first, second in zip(items, small, large, strict=True)
        ]

    def features(self, item: Item) -> Features:
        """Return what a route would read of an item."""
        return features_of(
            item.messages, item.task, prompt_tokens=self.count_tokens(item.messages), max_tokens=self.max_tokens
        )

    async def _answers(self, model: ModelInfo, items: Sequence[Item]) -> list[Generation]:
        found: dict[int, Generation] = {}

        async def ask(index: int) -> None:
            item = items[index]
            request = Request(model=model.name, messages=item.messages, max_tokens=self.max_tokens)
            generation = await self.backend.generate(request)
            if generation.outcome is not Outcome.COMPLETED:
                raise RoutingAskingError(
                    f"{model.name}: item {item.digest} of {item.task} {generation.outcome}: {generation.error}"
                )
            found[index] = generation

        await run_in_flight(range(len(items)), ask, self.in_flight)
        return [found[index] for index in range(len(items))]

    def _forward_s(self, model: ModelInfo) -> float:
        return sum(load.work.seconds for load in self.backend.load() if load.model == model.name)


def charged(answers: Sequence[Generation], model: ModelInfo, forward_s: float) -> list[float]:
    """Return the seconds of forwards of each answer: of those that its model took, in proportion to its tokens.

    Of a server that does not tell its forwards, the seconds that each answer took.
    """
    if not forward_s:
        return [one.timing.finished - one.timing.started for one in answers]
    tokens = [
        one.usage.steps_used * model.default_canvas_length + one.usage.prefill_tokens + one.usage.commit_tokens
        for one in answers
    ]
    return [forward_s * count / sum(tokens) for count in tokens]


def decision_s(
    asking: RoutingAsking,
    items: Mapping[str, Sequence[Item]],
    routes: Mapping[str, TaskRoute],
    now: Callable[[], float],
) -> float:
    """Return the median seconds from a conversation to its probability, with its task type told from the prompt."""
    classifier = packaged_classifier()
    taken = []
    for task, found in items.items():
        for item in found[:TURN]:
            began = now()
            classifier.classify(item.messages)
            features = asking.features(item)
            if task in routes:
                routes[task].probability(features)
            taken.append(now() - began)
    return median(taken)


def _tried(item: Item, answer: Generation, seconds: float) -> Tried:
    task = all_tasks()[item.task]
    check = make_check(item.messages, task, None)
    return Tried(
        is_right=task.check(item, answer.text).passed,
        is_accepted=check is None or not check.verdict(answer.text).failures,
        seconds=seconds,
    )
