"""Training documents and their canvases."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.drawn import drawn
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import Special, packaged_tokenizer
from unmask.train.document import Copy, Document, draw_copies, item_document

TOKENIZER = packaged_tokenizer()

documents = st.builds(
    lambda answer, fixed: Document(
        task="sort",
        prompt=(3, 9, 4),
        answer=(*answer, Special.END),
        fixed=frozenset(place for place in fixed if place < len(answer)),
    ),
    st.lists(st.integers(8, 1279), max_size=90),
    st.frozensets(st.integers(0, 90)),
)


def mask_rate(copies: Sequence[Copy]) -> float:
    """Return the share of masked positions."""
    return sum(sum(copy.masked) for copy in copies) / sum(len(copy.masked) for copy in copies)


@pytest.mark.parametrize("task", all_tasks())
def test_items_become_prompt_and_closed_answer(task: str) -> None:
    """The prompt is the chat as it is served, the answer its text and the end token."""
    for item in drawn(task, Split.TRAIN, 200)[:20]:
        document = item_document(TOKENIZER, item)
        assert document.task == task
        assert list(document.prompt) == TOKENIZER.encode_chat(item.messages)
        assert document.answer[-1] == Special.END
        assert TOKENIZER.decode(document.answer) == item.answer
        assert document.length == len(document.prompt) + len(document.answer)
        assert not document.fixed


@given(document=documents, length=st.sampled_from((8, 16, 32)), count=st.integers(1, 8), seed=st.integers(0, 99))
def test_copies_are_windows_of_the_answer(document: Document, length: int, count: int, seed: int) -> None:
    """A copy starts at a multiple of its length inside the answer, continues it, and is padded by end tokens."""
    for copy in draw_copies(Random(seed), document, length, count):
        assert copy.start % length == 0
        assert copy.start < len(document.answer)
        padded = document.answer + (Special.END,) * length
        assert copy.target == padded[copy.start : copy.start + length]
        assert len(copy.masked) == length


@given(document=documents, length=st.sampled_from((8, 16, 32)), count=st.integers(1, 8), seed=st.integers(0, 99))
def test_fixed_positions_are_never_masked_and_something_is(
    document: Document, length: int, count: int, seed: int
) -> None:
    """No fixed position is masked; one that is free is, if there is any; the last copy masks all that is free."""
    copies = draw_copies(Random(seed), document, length, count)
    for copy in copies:
        free = [copy.start + place not in document.fixed for place in range(length)]
        assert not any(masked and not may for masked, may in zip(copy.masked, free, strict=True))
        assert any(copy.masked) == any(free)
    assert list(copies[-1].masked) == [copies[-1].start + place not in document.fixed for place in range(length)]


@pytest.mark.parametrize("length", [8, 16, 32])
def test_mask_rates_are_spread_evenly(length: int) -> None:
    """Copy ``i`` of ``n`` has rates between ``i / n`` and ``(i + 1) / n``, never no mask; the last is masked whole."""
    rng = Random(7)
    document = Document(task="sort", prompt=(3,), answer=tuple(range(8, 72)))
    count = 4
    runs = [draw_copies(rng, document, length, count) for _ in range(1500)]
    for index in range(count - 1):
        rate = mask_rate([copies[index] for copies in runs])
        low, high = index / count, (index + 1) / count
        unmasked = ((1 - low) ** (length + 1) - (1 - high) ** (length + 1)) / (length + 1) * count
        assert abs(rate - (low + high) / 2 - unmasked / length) < 0.015
    assert mask_rate([copies[-1] for copies in runs]) == 1.0


def test_every_part_of_an_answer_is_drawn() -> None:
    """Canvases start at every multiple of their length, about equally often."""
    rng = Random(8)
    document = Document(task="sort", prompt=(3,), answer=tuple(range(8, 72)))
    starts = [copy.start for _ in range(500) for copy in draw_copies(rng, document, 16, 4)]
    assert {start: abs(starts.count(start) / len(starts) - 0.25) < 0.05 for start in set(starts)} == dict.fromkeys(
        (0, 16, 32, 48), True
    )
