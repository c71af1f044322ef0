"""The generated data as a whole: lengths in tokens and the frozen distributions."""

from collections import Counter
from collections.abc import Iterable, Mapping

import pytest

from tests.tasks.drawn import drawn
from unmask.tasks.dialogue_draft import FULL_CARD, KINDS
from unmask.tasks.dialogue_phrases import MANNERS
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.tasks.spec import Axis, load_spec
from unmask.text.tokenizer import packaged_tokenizer

COUNT = 1500
MAX_ANSWER_TOKENS = 95
MAX_PROMPT_TOKENS = 600
# One look-up in a thousand, 64 triples of long names, is longer than every other prompt.
MAX_LOOKUP_TOKENS = 640
SIGMAS = 4.5


def items(task: str) -> tuple[Item, ...]:
    """Return the items that this module measures."""
    return drawn(task, Split.TRAIN, COUNT)


def answer_tokens(task: str) -> list[int]:
    """Return the lengths of the answers."""
    tokenizer = packaged_tokenizer()
    return [len(tokenizer.encode(item.answer)) for item in items(task)]


def shares(axis: Axis) -> dict[str, float]:
    """Return the probability of every value of an axis."""
    return {value: weight / sum(axis.weights) for value, weight in zip(axis.values, axis.weights, strict=True)}


def axis(task: str, name: str) -> dict[str, float]:
    """Return the probability of every value of a task's axis."""
    return shares(load_spec().axis(task, name))


def assert_follows(values: Iterable[object], expected: Mapping[str, float]) -> None:
    """Fail when a value comes up more or less often than sampling error allows."""
    counts = Counter(str(value).lower() for value in values)
    n = counts.total()
    assert set(counts) <= set(expected)
    for value, share in expected.items():
        slack = SIGMAS * (share * (1 - share) / n) ** 0.5 + 1 / n
        assert abs(counts[value] / n - share) <= slack, (value, counts[value] / n, share)


@pytest.mark.parametrize("task", all_tasks())
def test_items_fit_canvases_and_context(task: str) -> None:
    """No answer is longer than 95 tokens, hardly a prompt longer than 600, in the packaged tokenizer."""
    tokenizer = packaged_tokenizer()
    assert max(answer_tokens(task)) <= MAX_ANSWER_TOKENS
    prompts = [len(tokenizer.encode_chat(item.messages)) for item in items(task)]
    assert max(prompts) <= (MAX_LOOKUP_TOKENS if task == "lookup" else MAX_PROMPT_TOKENS)
    assert sum(length > MAX_PROMPT_TOKENS for length in prompts) <= COUNT / 200


def test_dialogue_answers_are_long_enough_to_show_steps() -> None:
    """Half of the dialogue answers or more have 24 to 96 tokens."""
    assert sum(24 <= length <= 96 for length in answer_tokens("dialogue")) >= COUNT / 2


def test_extract_answers_are_long_enough_to_show_steps() -> None:
    """A third of the extract answers or more have 24 to 96 tokens."""
    assert sum(24 <= length <= 96 for length in answer_tokens("extract")) >= COUNT / 3


def test_lookup_axes_follow_the_spec() -> None:
    """Hops and format are drawn as frozen; facts too, but never fewer than the hops need."""
    drawn_items = items("lookup")
    hops, facts = axis("lookup", "hops"), axis("lookup", "facts")
    expected: Counter[str] = Counter()
    for hop, hop_share in hops.items():
        for count, fact_share in facts.items():
            expected[str(max(int(hop), int(count)))] += hop_share * fact_share  # type: ignore[assignment]
    assert_follows((item.difficulty["hops"] for item in drawn_items), hops)
    assert_follows((item.difficulty["facts"] for item in drawn_items), expected)
    formats = ("cards" if item.messages[0].content.startswith("# ") else "triples" for item in drawn_items)
    assert_follows(formats, axis("lookup", "format"))


def test_arithmetic_axes_follow_the_spec() -> None:
    """Terms and digits are drawn as frozen."""
    for name in ("terms", "digits"):
        assert_follows((item.difficulty[name] for item in items("arithmetic")), axis("arithmetic", name))


def test_sort_axis_follows_the_spec() -> None:
    """Lengths are drawn as frozen."""
    assert_follows((item.difficulty["length"] for item in items("sort")), axis("sort", "length"))


def test_latin_axes_follow_the_spec() -> None:
    """Sizes are drawn as frozen, and blanks are the drawn share of the cells."""
    assert_follows((item.difficulty["size"] for item in items("latin")), axis("latin", "size"))
    share_of = {
        (size, round(size * size * int(share) / 100)): share
        for size in (4, 6)
        for share in load_spec().axis("latin", "blank_share").values
    }
    drawn_shares = (share_of[item.difficulty["size"], item.difficulty["blanks"]] for item in items("latin"))
    assert_follows(drawn_shares, axis("latin", "blank_share"))


def test_extract_axes_follow_the_spec() -> None:
    """Fields and arrays are drawn as frozen; nesting too, where there are two fields to nest."""
    drawn_items = items("extract")
    assert_follows((item.difficulty["fields"] for item in drawn_items), axis("extract", "fields"))
    assert_follows((item.difficulty["array"] for item in drawn_items), axis("extract", "array"))
    wide = [item for item in drawn_items if item.difficulty["fields"] > 1]
    assert_follows((item.difficulty["nesting"] for item in wide), axis("extract", "nesting"))


def test_dialogue_axes_follow_the_spec() -> None:
    """Kind, card size, format and closing are drawn as frozen; turns where neither kind nor size overrules them."""
    drawn_items = items("dialogue")
    assert_follows((KINDS[item.difficulty["kind"]] for item in drawn_items), axis("dialogue", "kind"))
    assert_follows((item.difficulty["card_facts"] for item in drawn_items), axis("dialogue", "card_facts"))
    formats = ("cards" if item.messages[0].content.startswith("# ") else "triples" for item in drawn_items)
    assert_follows(formats, axis("dialogue", "format"))
    closings = tuple(closing for manner in MANNERS.values() for closing in manner.closings)
    assert_follows((item.answer.endswith(closings) for item in drawn_items), axis("dialogue", "closing"))
    free = [
        item
        for item in drawn_items
        if item.difficulty["card_facts"] != FULL_CARD and KINDS[item.difficulty["kind"]] != "follow_up"
    ]
    assert_follows((item.difficulty["turns"] for item in free), axis("dialogue", "turns"))
