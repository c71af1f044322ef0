"""The requests a bench runs: drawn from the frozen mixture's test split."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from unmask.backend import ModelInfo, Request
from unmask.local.limits import make_submission
from unmask.sequence import Submission
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.tasks.spec import load_spec
from unmask.text.tokenizer import TextTokenizer
from unmask.types import Mode, Role, StepBudget

MIN_PROMPT, MAX_PROMPT = 20, 600
BUDGETS = (4, 8, 16, 32)
# Turns of one conversation stand this far apart, so that the one before has ended when the next arrives.
TURN_DISTANCE = 48
STRATEGIES = (
    StrategyChoice(name=StrategyName.LOW_CONFIDENCE),
    StrategyChoice(name=StrategyName.LOW_CONFIDENCE),
    StrategyChoice(name=StrategyName.LOW_CONFIDENCE),
    StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One request of a workload and the item it came from; ``final`` is whether it asks the item's last question."""

    item: Item
    request: Request
    final: bool = True


def mixture_item(rng: Random) -> Item:
    """Draw a test item, its task type in the frozen mixture's shares."""
    return all_tasks()[load_spec().mixture.draw(rng)].generate(rng, Split.TEST)


def mixed_requests(seed: int, count: int, model: str, tokenizer: TextTokenizer) -> list[Entry]:
    """Draw requests with mixed budgets and strategies, conversations among them turn by turn."""
    rng = Random(seed)
    placed: list[tuple[float, Entry]] = []
    for place in range(count):
        item = mixture_item(rng)
        while not MIN_PROMPT <= len(tokenizer.encode_chat(item.messages)) <= MAX_PROMPT:
            item = mixture_item(rng)
        budget = StepBudget(max_steps=rng.choice(BUDGETS))
        strategy = rng.choice(STRATEGIES)
        questions = [index for index, message in enumerate(item.messages) if message.role is Role.USER]
        for turn, last in enumerate(questions):
            request = Request(
                model=model,
                messages=item.messages[: last + 1],
                budget=budget,
                strategy=strategy,
            )
            entry = Entry(item=item, request=request, final=last == questions[-1])
            placed.append((place + turn * TURN_DISTANCE, entry))
    placed.sort(key=lambda pair: pair[0])
    return [entry for _, entry in placed[:count]]


def submissions(entries: Sequence[Entry], info: ModelInfo, tokenizer: TextTokenizer) -> list[Submission]:
    """Return the entries' requests in tokens."""
    return [
        make_submission(entry.request, info, tuple(tokenizer.encode_chat(entry.request.messages))) for entry in entries
    ]


def item_request(item: Item, model: str, *, max_steps: int, mode: Mode = Mode.DIFFUSION) -> Request:
    """Return the request that asks for an item's answer."""
    return Request(model=model, messages=item.messages, budget=StepBudget(max_steps=max_steps), mode=mode)
