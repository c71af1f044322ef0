"""The dense pass against a naive forward of one document and one canvas at a time."""

from random import Random

import pytest
import torch
from torch import Tensor

from tests.train.small import random_ids, scrambled, small_recipe
from unmask.engine.network import Network
from unmask.text.tokenizer import Special
from unmask.train.dense import DensePass

TOLERANCE = 1e-5


def rms(values: Tensor) -> Tensor:
    """Scale rows to unit root mean square."""
    return values / (values.pow(2).mean(-1, keepdim=True) + torch.finfo(torch.float32).eps).sqrt()


def turn(heads: Tensor, positions: Tensor) -> Tensor:
    """Rotate ``[tokens, heads, width]`` by position, as complex numbers."""
    half = heads.shape[-1] // 2
    rates = 10_000.0 ** -(torch.arange(half, dtype=torch.float64) / half)
    angles = positions.double().outer(rates)
    numbers = torch.complex(heads[..., :half].double(), heads[..., half:].double())
    turned = numbers * torch.polar(torch.ones_like(angles), angles).unsqueeze(1)
    return torch.cat((turned.real, turned.imag), dim=-1).float()


def naive(network: Network, ids: list[int], canvas_places: list[int], positions: list[int], seen: Tensor) -> Tensor:
    """Run tokens through the network with a full attention mask ``seen [query, key]``."""
    weights = network.state_dict()
    shape = network.shape
    embedded = weights["tokens.weight"][ids]
    for row, place in enumerate(canvas_places):
        if place >= 0:
            embedded[row] += weights["canvas.weight"][place]
    hidden = rms(embedded)
    at = torch.tensor(positions)
    for layer in range(shape.layers):
        block = {name: weights[f"blocks.{layer}.{name}.weight"] for name in ("qkv", "out", "up", "down")}
        query, key, value = (rms(hidden) @ block["qkv"].T).view(len(ids), 3, shape.heads, -1).unbind(1)
        query = turn(rms(query), at) * weights[f"blocks.{layer}.query_scale"]
        key = turn(rms(key), at)
        scores = torch.einsum("qhw,khw->hqk", query, key).masked_fill(~seen, float("-inf"))
        hidden = hidden + torch.einsum("hqk,khw->qhw", scores.softmax(-1), value).flatten(1) @ block["out"].T
        hidden = hidden + (rms(hidden) @ block["up"].T).relu().square() @ block["down"].T
    return hidden


def naive_text(network: Network, text: list[int]) -> Tensor:
    """Run appended tokens: each sees itself and what precedes it."""
    seen = torch.ones(len(text), len(text)).tril().bool()
    return naive(network, text, [-1] * len(text), list(range(len(text))), seen)


def naive_canvas(network: Network, context: list[int], canvas: list[int]) -> Tensor:
    """Run context and canvas: the context is causal, the canvas sees everything."""
    start, size = len(context), len(context) + len(canvas)
    seen = torch.ones(size, size).tril().bool()
    seen[start:] = True
    places = [-1] * start + list(range(len(canvas)))
    return naive(network, context + canvas, places, list(range(size)), seen)[start:]


# Both sides of the length from which texts take the fused kernel.
@pytest.mark.parametrize(("length", "canvas"), [(48, 8), (40, 32), (240, 16)])
def test_dense_pass_equals_a_row_at_a_time(length: int, canvas: int) -> None:
    """Every document and canvas gets the hidden states it would get alone, padding and other canvases unseen."""
    network = scrambled(small_recipe().shape)
    rng = Random(length)
    size = network.shape.vocabulary
    texts = [random_ids(rng, count, size) for count in (length, length // 2, 5)]
    starts = [[1, length // 3], [length // 4, length // 2], [3, 5]]
    canvases = [[random_ids(rng, canvas, size), [int(Special.MASK)] * canvas] for _ in texts]
    padded = [text + [int(Special.END)] * (length - len(text)) for text in texts]
    with torch.no_grad():
        hidden, drafts = DensePass(network, compiled=False)(
            torch.tensor(padded), torch.tensor(canvases), torch.tensor(starts)
        )
        for row, text in enumerate(texts):
            torch.testing.assert_close(hidden[row, : len(text)], naive_text(network, text), atol=TOLERANCE, rtol=0)
            for number, (start, draft) in enumerate(zip(starts[row], canvases[row], strict=True)):
                alone = naive_canvas(network, text[:start], draft)
                torch.testing.assert_close(drafts[row, number], alone, atol=TOLERANCE, rtol=0)


def test_a_canvas_never_sees_the_answer_behind_its_start() -> None:
    """Changing text at or behind a canvas's start changes nothing in the canvas; changing it before does."""
    network = scrambled(small_recipe().shape)
    rng = Random(3)
    text = torch.tensor([random_ids(rng, 32, network.shape.vocabulary)])
    canvases = torch.tensor([[random_ids(rng, 8, network.shape.vocabulary)]])
    starts = torch.tensor([[16]])
    dense = DensePass(network, compiled=False)
    with torch.no_grad():
        before = dense(text, canvases, starts)[1]
        behind, inside = text.clone(), text.clone()
        behind[0, 16:] = 9
        inside[0, 15] = 9 if text[0, 15] != 9 else 10
        torch.testing.assert_close(dense(behind, canvases, starts)[1], before, atol=0, rtol=0)
        assert not torch.allclose(dense(inside, canvases, starts)[1], before)
