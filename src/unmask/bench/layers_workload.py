"""The one workload of the layers bench: what is asked, how often again, how long, and how it arrives."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from random import Random
from typing import Literal

import orjson
import yaml
from pydantic import BaseModel, ConfigDict

from unmask.bench.bench import Bench
from unmask.bench.reworded import reworded
from unmask.bench.workload import item_request, mixture_item
from unmask.errors import UnmaskError
from unmask.local.limits import make_submission
from unmask.local.model import model_info
from unmask.sequence import Submission
from unmask.tasks.item import Item


class Kind(StrEnum):
    """Whether a request asks what an earlier one asked."""

    FRESH = "fresh"
    REPEATED = "repeated"
    PARAPHRASED = "paraphrased"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Counts(_Strict):
    full: int
    quick: int


class _Longest(_Strict):
    share: float
    prompt: tuple[int, int]


class _Arrivals(_Strict):
    process: Literal["poisson"]
    load: float


class WorkloadSpec(_Strict):
    """What is written down in ``layers_workload.yaml``."""

    requests: _Counts
    further: _Counts
    max_steps: tuple[int, ...]
    repeated: float
    paraphrased: float
    prompt: tuple[int, int]
    longest: _Longest
    arrivals: _Arrivals


@cache
def load_workload_spec() -> WorkloadSpec:
    """Load what is in the package."""
    text = files("unmask.bench").joinpath("layers_workload.yaml").read_text(encoding="utf-8")
    return WorkloadSpec.model_validate(yaml.safe_load(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request; ``of`` is the place of the one that it asks again."""

    item: Item
    max_steps: int
    kind: Kind = Kind.FRESH
    of: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Requests in the order in which they were drawn: a repeat comes after what it repeats.

    Attributes:
        further: requests beside them that repeat nothing.
        load: the share of a measured rate at which they arrive.
    """

    asks: tuple[Ask, ...]
    further: tuple[Ask, ...]
    load: float

    @property
    def digest(self) -> str:
        """The SHA-256 of every word that is asked, its budget, what repeats what, and the load."""
        said = [
            [[[message.role, message.content] for message in ask.item.messages], ask.max_steps, ask.kind, ask.of]
            for ask in (*self.asks, *self.further)
        ]
        return hashlib.sha256(orjson.dumps([said, self.load])).hexdigest()

    @property
    def fresh(self) -> tuple[Ask, ...]:
        """The requests that repeat nothing, for what must not gain by repeats."""
        return tuple(ask for ask in (*self.asks, *self.further) if ask.kind is Kind.FRESH)

    def part(self, number: int, parts: int, tasks: Collection[str]) -> tuple[Ask, ...]:
        """Return one of equal parts of the requests of some task types that repeat nothing.

        Raises:
            UnmaskError: there are too few of them.
        """
        found = tuple(ask for ask in self.fresh if ask.item.task in tasks)[number::parts]
        if not found:
            raise UnmaskError(f"the workload has too few requests of {', '.join(tasks)}; take another --seed")
        return found


def draw_workload(bench: Bench, seed: int, *, quick: bool, spec: WorkloadSpec | None = None) -> Workload:
    """Draw the workload of a seed; ``spec`` is the packaged one unless given."""
    chosen = load_workload_spec() if spec is None else spec
    rng, draws = Random(seed), _Draws(bench)
    count, further = ((one.quick if quick else one.full) for one in (chosen.requests, chosen.further))
    repeated, paraphrased = (round(share * count) for share in (chosen.repeated, chosen.paraphrased))
    kinds = [Kind.REPEATED] * repeated + [Kind.PARAPHRASED] * paraphrased
    asks = _fresh(rng, draws, count - len(kinds), chosen)
    return Workload(
        asks=tuple(_with_repeats(rng, asks, kinds)),
        further=tuple(_fresh(rng, draws, further, chosen)),
        load=chosen.arrivals.load,
    )


def submissions_of(bench: Bench, asks: Sequence[Ask]) -> list[Submission]:
    """Return requests in tokens."""
    info = model_info(bench.model, bench.precision)
    return [
        make_submission(
            item_request(ask.item, info.name, max_steps=ask.max_steps),
            info,
            tuple(bench.tokenizer.encode_chat(ask.item.messages)),
        )
        for ask in asks
    ]


class _Draws:
    """Draws items, none of them twice."""

    def __init__(self, bench: Bench) -> None:
        self._tokenizer = bench.tokenizer
        self._drawn: set[str] = set()

    def draw(self, rng: Random, prompt: tuple[int, int]) -> Item:
        least, most = prompt
        while True:
            item = mixture_item(rng)
            if item.digest not in self._drawn and least <= len(self._tokenizer.encode_chat(item.messages)) <= most:
                self._drawn.add(item.digest)
                return item


def _fresh(rng: Random, draws: _Draws, count: int, spec: WorkloadSpec) -> list[Ask]:
    longest = round(spec.longest.share * count)
    items = [draws.draw(rng, spec.longest.prompt) for _ in range(longest)]
    items += [draws.draw(rng, spec.prompt) for _ in range(count - longest)]
    rng.shuffle(items)
    budgets = [rng.choice(spec.max_steps) for _ in items]
    return [Ask(item=item, max_steps=steps) for item, steps in zip(items, budgets, strict=True)]


def _with_repeats(rng: Random, asks: list[Ask], kinds: list[Kind]) -> list[Ask]:
    """Spread repeats over the requests; each asks again what any of those before it was first to ask."""
    places = sorted((rng.randint(1, len(asks)), number) for number in range(len(kinds)))
    rng.shuffle(kinds)
    found: list[Ask] = []
    originals: list[int] = []
    for place, ask in enumerate(asks):
        while places and places[0][0] <= place:
            found.append(_repeat(rng, found, originals, kinds[places.pop(0)[1]]))
        originals.append(len(found))
        found.append(ask)
    return found + [_repeat(rng, found, originals, kinds[number]) for _, number in places]


def _repeat(rng: Random, found: Sequence[Ask], originals: Sequence[int], kind: Kind) -> Ask:
    for place in rng.sample(originals, len(originals)):
        asked = found[place]
        item = asked.item if kind is Kind.REPEATED else reworded(rng, asked.item)
        if item is not None:
            return Ask(item=item, max_steps=asked.max_steps, kind=kind, of=place)
    # Nothing so far can be put in other words.
    return Ask(item=found[originals[0]].item, max_steps=found[originals[0]].max_steps, kind=Kind.REPEATED, of=0)
