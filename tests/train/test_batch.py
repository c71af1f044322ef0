"""Packing documents into micro-batches."""

from collections import Counter
from random import Random

import numpy as np

from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import Special, packaged_tokenizer
from unmask.train.batch import AFTER_END_WEIGHT, COPIES, FEW_COPIES, ROUND_LENGTH, make_micro_batches, pack
from unmask.train.document import Copy, Document, item_document
from unmask.train.lessons import task_order

TOKENIZER = packaged_tokenizer()
SHORT = Document(task="sort", prompt=(3, 20, 4), answer=(30, 31, Special.END))
LONG = Document(task="latin", prompt=(3, 20, 21, 22, 4), answer=(*range(40, 60), Special.END), fixed=frozenset({0, 1}))


def copy_of(document: Document, start: int, length: int, masked: set[int]) -> Copy:
    """Return a canvas with chosen masks."""
    target = (document.answer + (Special.END,) * length)[start : start + length]
    return Copy(start=start, target=target, masked=tuple(place in masked for place in range(length)))


def items(count: int) -> list[Document]:
    """Return documents of every task type."""
    rng = Random(5)
    tasks = list(all_tasks().values())
    return [item_document(TOKENIZER, tasks[index % 6].generate(rng, Split.TRAIN)) for index in range(count)]


def test_texts_are_padded_to_a_round_length() -> None:
    """Every row holds prompt and answer, then end tokens up to a multiple of sixteen."""
    batch = pack([SHORT, LONG], [[copy_of(SHORT, 0, 8, {0})], [copy_of(LONG, 8, 8, {1})]])
    assert batch.text.shape == (2, 2 * ROUND_LENGTH)
    for row, document in zip(batch.text, (SHORT, LONG), strict=True):
        assert tuple(row[: document.length]) == document.prompt + document.answer
        assert set(row[document.length :]) <= {Special.END}


def test_canvases_start_behind_their_prompt_and_hide_what_is_masked() -> None:
    """A canvas holds its target with masks, and its start is absolute."""
    batch = pack([SHORT, LONG], [[copy_of(SHORT, 0, 8, {0, 2})], [copy_of(LONG, 16, 8, {1})]])
    assert batch.starts.tolist() == [[3], [5 + 16]]
    assert batch.canvases[0, 0].tolist() == [Special.MASK, 31, Special.MASK, *[Special.END] * 5]
    assert batch.canvases[1, 0].tolist() == [56, Special.MASK, 58, 59, *[Special.END] * 4]


def test_canvas_targets_are_the_masked_tokens() -> None:
    """Each masked position is a target at its flat place; those behind the end token hardly weigh."""
    batch = pack([SHORT, LONG], [[copy_of(SHORT, 0, 8, {0, 2, 5})], [copy_of(LONG, 16, 8, {1})]])
    targets = batch.canvas_targets
    assert targets.rows.tolist() == [0, 2, 5, 9]
    assert targets.tokens.tolist() == [30, Special.END, Special.END, 57]
    np.testing.assert_allclose(targets.weights, [1.0, 1.0, AFTER_END_WEIGHT, 1.0])
    assert [task_order()[task] for task in targets.tasks] == ["sort"] * 3 + ["latin"]


def test_text_targets_are_the_answers_next_tokens() -> None:
    """Every answer token that is not fixed is predicted from the place before it."""
    batch = pack([SHORT, LONG], [[copy_of(SHORT, 0, 8, {0})], [copy_of(LONG, 8, 8, {1})]])
    flat, targets = batch.text.flatten(), batch.text_targets
    assert np.array_equal(flat[targets.rows + 1], targets.tokens)
    assert targets.rows[:3].tolist() == [2, 3, 4]
    assert len(targets.rows) == len(SHORT.answer) + len(LONG.answer) - len(LONG.fixed)
    assert set(targets.weights) == {1.0}


def test_every_document_is_packed_once() -> None:
    """Micro-batches hold each document exactly once, with the copies its canvas length has."""
    documents = items(60)
    batches = make_micro_batches(Random(1), documents, {8: 0.2, 16: 0.3, 32: 0.5}, 4096)
    packed = Counter(row.tobytes().rstrip(b"\x00\x01") for batch in batches for row in batch.text)
    assert packed.total() == len(documents)
    for batch in batches:
        assert batch.canvases.shape[:2] == batch.starts.shape == (len(batch.text), COPIES[batch.canvases.shape[2]])


def test_documents_may_have_fewer_copies() -> None:
    """How many canvases a document gets is the caller's choice, by canvas length."""
    for batch in make_micro_batches(Random(1), items(12), {8: 0.5, 32: 0.5}, 4096, FEW_COPIES):
        assert batch.starts.shape == (len(batch.text), FEW_COPIES[batch.canvases.shape[2]])


def test_micro_batches_keep_to_their_size() -> None:
    """Text and canvases together stay under the limit, rounding aside, unless one document alone exceeds it."""
    limit = 4096
    for batch in make_micro_batches(Random(1), items(60), {8: 0.2, 16: 0.3, 32: 0.5}, limit):
        rows = len(batch.text)
        assert batch.text.size - rows * ROUND_LENGTH + batch.canvases.size <= limit or rows == 1
    tight = make_micro_batches(Random(1), items(6), {8: 1.0}, 1)
    assert [len(batch.text) for batch in tight] == [1] * 6


def test_documents_of_like_length_go_together() -> None:
    """Little is spent on padding: the longest texts are packed with the next longest."""
    batches = make_micro_batches(Random(1), items(60), {32: 1.0}, 4096)
    lengths = sorted((batch.text.shape[1] for batch in batches), reverse=True)
    assert lengths[0] > 2 * lengths[-1]
