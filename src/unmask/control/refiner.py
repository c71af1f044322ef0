"""Refines prompts while serving, where somebody can tell what that does to answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unmask.backend import ModelInfo
from unmask.control.pairs import Pairs
from unmask.refine.refine import refine
from unmask.types import Message

CountTokens = Callable[[Sequence[Message]], int]
"""Returns how many tokens a prompt has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinedPrompt:
    """A prompt without what was cut.

    Attributes:
        tokens_saved: how many fewer tokens it has.
        is_control: whether the request is answered unrefined, and refined beside it, to compare the two.
    """

    messages: tuple[Message, ...]
    tokens_saved: int
    is_control: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refiner:
    """What refines prompts.

    Attributes:
        pairs: which task types lose by it.
        count_tokens: how long a prompt is.
        control_share: share of refined requests that are answered both ways.
        draw: uniform numbers from 0 up to but without 1.
    """

    pairs: Pairs
    count_tokens: CountTokens
    control_share: float
    draw: Callable[[], float]

    def refined(
        self, model: ModelInfo, task: str, messages: tuple[Message, ...], *, may_pair: bool
    ) -> RefinedPrompt | None:
        """Return a prompt's refinement; nothing where it has none, or its task type has lost by it.

        Args:
            model: which one answers.
            task: the request's task type.
            messages: its prompt.
            may_pair: whether it may be answered both ways.
        """
        if self.pairs.is_suspended(model.digest, task):
            return None
        found = refine(messages)
        saved = self.count_tokens(messages) - self.count_tokens(found.messages) if found.cuts else 0
        if saved <= 0:
            return None
        is_control = may_pair and self.draw() < self.control_share
        return RefinedPrompt(messages=found.messages, tokens_saved=saved, is_control=is_control)
