"""What the confidence stop comes to: tokens committed behind the point, and the manner of who speaks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.backend import Generation
from unmask.bench.report import Figure, measured
from unmask.stats import Interval, IntervalResult, bootstrap_mean, paired_difference, ratio_interval, wilson
from unmask.tasks.dialogue_check import read_request
from unmask.tasks.dialogue_phrases import MANNERS
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import TextTokenizer

SAVED = "confidence_stop.saved"
QUALITY = "confidence_stop.quality_difference"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAnswer:
    """One answer of a character.

    Attributes:
        committed: its tokens, without end token and padding.
        wasted: those behind the earliest beginning of it that the checker passes; 0 where none does.
        opens, closes: whether it begins and ends in its persona's manner.
    """

    committed: int
    wasted: int
    steps: int
    seconds: float
    right: bool
    opens: bool
    closes: bool

    @property
    def is_kept(self) -> bool:
        """Whether it is right and shows its manner: what the stop must not cost."""
        return self.right and (self.opens or self.closes)


def read_stop(item: Item, generation: Generation, tokenizer: TextTokenizer) -> StopAnswer:
    """Judge an answer to a dialogue item by the offline checker."""
    check = all_tasks()[item.task].check
    pieces = [data for data in map(tokenizer.token_bytes, generation.tokens) if data]
    request = read_request(item.messages)
    manner = MANNERS.get("" if request is None else request.persona)
    text = generation.text.strip()
    point = next((place for place, begun in _beginnings(pieces) if check(item, begun).passed), len(pieces))
    return StopAnswer(
        committed=len(pieces),
        wasted=len(pieces) - point,
        steps=generation.usage.steps_used,
        seconds=generation.timing.finished - generation.timing.started,
        right=check(item, generation.text).passed,
        opens=manner is not None and any(text.startswith(f"{opening} ") for opening in manner.openings),
        closes=manner is not None and any(text.endswith(f" {closing}") for closing in manner.closings),
    )


def stop_figures(without: Sequence[StopAnswer], within: Sequence[StopAnswer], seed: int) -> list[Figure]:
    """Return what the stop saves and what it costs, item by item, with intervals.

    Args:
        without: answers that end with their end token.
        within: answers to the same items that end once they are complete.
        seed: of resampling.
    """
    n = len(without)
    before, after = [float(one.wasted) for one in without], [float(one.wasted) for one in within]
    remaining = ratio_interval(after, before, seed, paired=True)
    kept_before, kept = ([float(one.is_kept) for one in answers] for answers in (without, within))
    difference = paired_difference(kept, kept_before, seed, bounds=(-1.0, 1.0))
    return [
        measured(SAVED, one_minus(remaining), fallback=1 - sum(after) / max(1.0, sum(before)), n=n),
        measured(QUALITY, difference, fallback=(sum(kept) - sum(kept_before)) / max(1, n), n=n),
        *_of_arm("without_stop", without, seed),
        *_of_arm("with_stop", within, seed),
    ]


def one_minus(found: IntervalResult) -> IntervalResult:
    """Return what is saved where so much remains."""
    if not isinstance(found, Interval):
        return found
    return Interval(estimate=1 - found.estimate, low=1 - found.high, high=1 - found.low)


def _of_arm(name: str, answers: Sequence[StopAnswer], seed: int) -> Iterator[Figure]:
    n = len(answers)
    committed = [float(one.committed) for one in answers]
    wasted = [float(one.wasted) for one in answers]
    share = ratio_interval(wasted, committed, seed, paired=True)
    yield measured(f"{name}.wasted_share", share, fallback=sum(wasted) / max(1.0, sum(committed)), n=n)
    for what, holds in (
        ("quality", [one.right for one in answers]),
        ("in_manner", [one.opens or one.closes for one in answers]),
        ("closing", [one.closes for one in answers]),
    ):
        yield measured(f"{name}.{what}", wilson(sum(holds), n), fallback=_mean(holds), n=n)
    for what, values in (("tokens", committed), ("steps", [float(one.steps) for one in answers])):
        yield measured(f"{name}.mean_{what}", bootstrap_mean(values, seed), fallback=_mean(values), n=n, unit=what)


def _beginnings(pieces: Sequence[bytes]) -> Iterator[tuple[int, str]]:
    """Yield every beginning of an answer that ends a sentence, with how many tokens it has."""
    data = b""
    for place, piece in enumerate(pieces, start=1):
        data += piece
        text = data.decode("utf-8", "replace")
        if text.rstrip()[-1:] in ".!?":
            yield place, text


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
