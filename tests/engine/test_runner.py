"""Rows over paged keys and values give the logits of a full forward."""

from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.engine.dense import dense_logits
from unmask.engine import matrix
from unmask.engine.network import Network
from unmask.engine.runner import Runner, round_up
from unmask.plan import CanvasTask, DecodeTask, Row
from unmask.testing.canvas_tasks import make_canvas_task
from unmask.testing.networks import TINY_SHAPE, make_network
from unmask.types import Precision, Sampling

TOLERANCE = 1e-5
NETWORK = make_network()
VOCABULARY = range(TINY_SHAPE.vocabulary)
DECODE = DecodeTask(index=0, sampling=Sampling())

Life = list[tuple[tuple[int, ...], tuple[int, ...]]]


@st.composite
def lives(draw: st.DrawFn) -> Life:
    """Draw what one sequence appends and denoises, row by row: chunks, canvases, both, or a token to decode."""
    rng = Random(draw(st.integers(0, 2**32)))
    length = draw(st.sampled_from(TINY_SHAPE.canvas_lengths))
    sizes = draw(st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=5))
    life = [
        (rng.choices(VOCABULARY, k=size), rng.choices(VOCABULARY, k=length if canvas else 0)) for size, canvas in sizes
    ]
    # A sequence begins with a prompt, and a row without a canvas appends something.
    life[0] = (life[0][0] or [7], life[0][1])
    return [(tuple(append), tuple(canvas)) for append, canvas in life if append or canvas]


def close(found: Tensor, expected: Tensor) -> bool:
    """Tell whether logits agree."""
    return torch.allclose(found.double(), expected, rtol=0, atol=TOLERANCE)


def step(network: Network, runner: Runner, lived: list[list[int]], rows: list[Row]) -> None:
    """Run one forward and compare it with full forwards; appends to ``lived`` what the rows append."""
    logits = runner.forward(rows)
    first = 0
    for row in rows:
        context = lived[row.sequence]
        assert row.start == len(context)
        context += row.append
        canvas = row.task.tokens if isinstance(row.task, CanvasTask) else ()
        count = len(canvas) or int(row.task is not None)
        expected = dense_logits(network, context, canvas)
        assert close(logits[first : first + count], expected[len(expected) - count :])
        first += count
    assert first == len(logits)


@settings(max_examples=30)
@given(
    st.lists(lives(), min_size=1, max_size=3),
    st.sampled_from((1, 3, 16, 32)),
    st.permutations(range(8)),
    st.sets(st.integers(0, 4)),
)
def test_rows_equal_a_full_forward(sequences: list[Life], page_size: int, order: list[int], bare: set[int]) -> None:
    """Prefill in chunks, canvases, both fused and decoding, alone or together, match within 1e-5 on any pages."""
    count = -(-TINY_SHAPE.context_length // page_size)
    runner = Runner(NETWORK, pages=3 * count, page_size=page_size)
    # Neighbouring pages of a sequence are no neighbours in memory.
    shuffled = [block + number for block in range(0, count, 8) for number in order if block + number < count]
    pages = [tuple(place * 3 + owner for place in shuffled) for owner in range(3)]
    lived: list[list[int]] = [[] for _ in sequences]
    for index in range(max(map(len, sequences))):
        rows = [
            Row(
                sequence=owner,
                start=len(lived[owner]),
                append=life[index][0],
                pages=pages[owner],
                task=make_canvas_task(life[index][1]) if life[index][1] else None if index in bare else DECODE,
            )
            for owner, life in enumerate(sequences)
            if index < len(life)
        ]
        step(NETWORK, runner, lived, rows)


@pytest.mark.parametrize("end", [63, 64, 65, 96, 97, 128, 256])
def test_rows_that_end_at_a_rung(end: int) -> None:
    """A row whose keys fill a rounded length exactly, or are one more or less, loses none of them."""
    runner = Runner(NETWORK, pages=16, page_size=16)
    canvas = make_canvas_task((0,) * 8)
    prompt = tuple(VOCABULARY[place % 60] for place in range(end - 8))
    step(NETWORK, runner, [[]], [Row(sequence=0, start=0, append=prompt, pages=tuple(range(16)), task=canvas)])


@pytest.mark.parametrize("asked", [(), (3,), (0, 5, 7), (1, 2, 3, 4, 5, 6)])
def test_only_asked_positions_have_logits(asked: tuple[int, ...]) -> None:
    """Of a canvas, those positions are returned that are asked for, in order, beside other rows."""
    runner = Runner(NETWORK, pages=4, page_size=16)
    tokens = (9, 0, 0, 8, 7, 0, 0, 6)
    rows = [
        Row(sequence=0, start=0, append=(5, 6), pages=(0, 1), task=make_canvas_task(tokens, asked=asked)),
        Row(sequence=1, start=0, append=(7,), pages=(2, 3), task=make_canvas_task(tokens)),
    ]
    logits = runner.forward(rows)

    assert logits.shape[0] == len(asked) + 8
    assert close(logits[: len(asked)], dense_logits(NETWORK, (5, 6), tokens)[[2 + place for place in asked]])
    assert close(logits[len(asked) :], dense_logits(NETWORK, (7,), tokens)[1:])


def test_a_canvas_leaves_nothing_behind() -> None:
    """A canvas's keys and values are gone once other tokens are appended in its place."""
    runner = Runner(NETWORK, pages=4, page_size=16)
    pages = (2, 0, 3, 1)
    lived: list[list[int]] = [[]]
    canvas = make_canvas_task((0,) * 32)
    step(NETWORK, runner, lived, [Row(sequence=0, start=0, append=tuple(range(2, 12)), pages=pages, task=canvas)])
    step(NETWORK, runner, lived, [Row(sequence=0, start=10, append=(50,), pages=pages, task=DECODE)])


def test_a_short_row_fits_any_page_size() -> None:
    """A row of two tokens runs on pages of a single token."""
    runner = Runner(NETWORK, pages=2, page_size=1)
    step(NETWORK, runner, [[]], [Row(sequence=0, start=0, append=(7, 9), pages=(1, 0), task=DECODE)])


def test_rows_without_a_task_give_no_logits() -> None:
    """A forward that only appends returns no rows of logits."""
    runner = Runner(NETWORK, pages=1, page_size=16)
    logits = runner.forward([Row(sequence=0, start=0, append=(3, 4), pages=(0,), task=None)])

    assert logits.shape == (0, TINY_SHAPE.vocabulary)


def test_lengths_round_up_to_rungs() -> None:
    """A length takes the first rung that holds it, and past the ladder a multiple of the last."""
    assert [round_up(length, (8, 16, 64)) for length in (1, 8, 9, 17, 64, 65, 129)] == [8, 8, 16, 64, 64, 128, 192]


def test_default_kernels_serve_where_there_are_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without oneDNN rows of any length have the logits of a full forward too."""
    monkeypatch.setattr(matrix, "can_pack", lambda _dtype: False)
    runner = Runner(NETWORK, pages=8, page_size=16)
    lived: list[list[int]] = [[]]
    pages = tuple(range(8))
    canvas = make_canvas_task((0,) * 8)
    step(NETWORK, runner, lived, [Row(sequence=0, start=0, append=tuple(range(2, 32)), pages=pages, task=canvas)])
    step(NETWORK, runner, lived, [Row(sequence=0, start=30, append=(50,), pages=pages, task=DECODE)])


def test_bfloat16_is_near() -> None:
    """Pages take half the memory, logits stay in single precision and differ by rounding alone."""
    rows = [
        Row(sequence=0, start=0, append=tuple(range(2, 60)), pages=(0, 1, 2, 3, 4, 5), task=make_canvas_task((0,) * 32))
    ]
    exact, rounded = (
        Runner(NETWORK, pages=6, page_size=16, precision=precision)
        for precision in (Precision.FLOAT32, Precision.BFLOAT16)
    )
    expected, found = exact.forward(rows), rounded.forward(rows)

    assert rounded._pool.nbytes * 2 == exact._pool.nbytes
    assert found.dtype is torch.float32
    assert 0 < (found - expected).abs().max() < 0.03 * expected.abs().max()


def test_rows_are_filled_up_where_kernels_are_made_for_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows whose padding comes to what fills the forward up have the logits of a full forward none the less."""
    monkeypatch.setattr(matrix, "on_intel", lambda: False)
    runner = Runner(NETWORK, pages=6, page_size=16)
    rows = [
        Row(sequence=owner, start=0, append=tuple(range(2, 2 + count)), pages=(2 * owner, 2 * owner + 1), task=DECODE)
        for owner, count in enumerate((6, 13, 5))
    ]
    step(NETWORK, runner, [[], [], []], rows)
