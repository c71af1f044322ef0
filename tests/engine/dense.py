"""The network as its formulas read: one sequence, no cache, an explicit mask, double precision."""

from collections.abc import Sequence

import torch
from torch import Tensor

from unmask.engine.network import Network


def dense_logits(network: Network, context: Sequence[int], canvas: Sequence[int] = ()) -> Tensor:
    """Return logits ``[context + canvas, vocabulary]`` of a full forward.

    Context position i sees positions j ≤ i. Canvas positions see everything.
    """
    with torch.no_grad():
        weights = {name: value.double() for name, value in network.state_dict().items()}
        shape = network.shape
        ids = torch.tensor([*context, *canvas])
        appended, length = len(context), len(ids)
        embedded = weights["tokens.weight"][ids]
        embedded[appended:] += weights["canvas.weight"][: len(canvas)]
        hidden = _unit(embedded)
        seen = torch.ones(length, length).tril().bool()
        seen[appended:] = True
        for layer in range(shape.layers):
            part = {name: weights[f"blocks.{layer}.{name}"] for name in ("qkv.weight", "out.weight", "up.weight")}
            scale = weights[f"blocks.{layer}.query_scale"]
            query, key, value = (_unit(hidden) @ part["qkv.weight"].T).view(length, 3, shape.heads, -1).unbind(1)
            query, key = _turn(_unit(query)) * scale, _turn(_unit(key))
            scores = torch.einsum("qhd,khd->hqk", query, key).masked_fill(~seen, float("-inf"))
            attended = torch.einsum("hqk,khd->qhd", scores.softmax(-1), value).reshape(length, -1)
            hidden = hidden + attended @ part["out.weight"].T
            inner = (_unit(hidden) @ part["up.weight"].T).clamp_min(0) ** 2
            hidden = hidden + inner @ weights[f"blocks.{layer}.down.weight"].T
        logits: Tensor = _unit(hidden) @ weights["head.weight"].T
        return logits


def _unit(values: Tensor) -> Tensor:
    """Divide by the root mean square of the last dimension."""
    epsilon = torch.finfo(torch.float32).eps
    return values / (values.square().mean(-1, keepdim=True) + epsilon).sqrt()


def _turn(heads: Tensor) -> Tensor:
    """Rotate pairs (i, i + half) of ``[positions, heads, width]`` by position × 10000^(−2i / width)."""
    length, _, width = heads.shape
    rates = 10_000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(length, dtype=torch.float64).unsqueeze(-1) * rates
    turned = torch.complex(heads[..., : width // 2], heads[..., width // 2 :]) * torch.polar(
        torch.ones_like(angles), angles
    ).unsqueeze(1)
    return torch.cat((turned.real, turned.imag), dim=-1)
