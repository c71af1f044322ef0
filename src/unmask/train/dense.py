"""The dense pass over documents and their canvases that training uses.

It computes what the engine computes row by row: appended tokens see what
precedes them; a canvas sees the appended tokens before its start and all of
itself.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unmask.engine.network import Block, Network, finish, project


class DensePass(nn.Module):
    """Hidden states of a batch of documents ``[batch, length]`` with ``copies`` canvases each.

    What works token by token runs on one flat matrix of all of them, compiled
    once where asked: its only varying size is the number of tokens.
    """

    def __init__(self, network: Network, *, compiled: bool) -> None:
        super().__init__()
        self.network = network
        self._project = torch.compile(project, dynamic=True) if compiled else project
        self._finish = torch.compile(finish, dynamic=True) if compiled else finish

    def forward(self, text: Tensor, canvases: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
        """Run one batch.

        Args:
            text: appended ids, ``[batch, length]``, padded at the end.
            canvases: canvas ids, ``[batch, copies, canvas]``.
            starts: absolute position at which each canvas starts, ``[batch, copies]``.

        Returns:
            Hidden states ``[batch, length, width]`` and ``[batch, copies, canvas, width]``.
        """
        network = self.network
        length, canvas = text.shape[1], canvases.shape[2]
        places = torch.arange(canvas, device=text.device)
        text_places = torch.arange(length, device=text.device)
        positions = torch.cat((text_places.expand_as(text).flatten(), (starts.unsqueeze(-1) + places).flatten()))
        canvas_places = torch.cat((torch.full_like(text, -1).flatten(), places.expand_as(canvases).flatten()))
        hidden = network.embed(torch.cat((text.flatten(), canvases.flatten())), canvas_places)
        cosine, sine = network.cosine[positions], network.sine[positions]
        unseen = text_places >= starts.unsqueeze(-1)
        for module in network.blocks:
            block = cast("Block", module)
            parts = self._project(hidden, cosine, sine, block.qkv.weight, block.query_scale)
            causal = [part[: text.numel()].unflatten(0, text.shape).transpose(1, 2) for part in parts]
            own = [part[text.numel() :].unflatten(0, canvases.shape).permute(0, 3, 1, 2, 4) for part in parts]
            attended = torch.cat((_attend_causally(*causal), _attend(own, causal[1], causal[2], unseen)))
            hidden = self._finish(hidden, attended, block.out.weight, block.up.weight, block.down.weight)
        width = (network.shape.width,)
        return hidden[: text.numel()].view(*text.shape, *width), hidden[text.numel() :].view(*canvases.shape, *width)


# Up to this length plain products beat the fused kernel's backward pass on a CPU in bfloat16 (by 2.5 times at 144).
_PLAIN_LENGTH = 224


def _attend_causally(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend within texts, ``[batch, heads, length, head_width]`` each; returns flat tokens."""
    length = query.shape[2]
    if length > _PLAIN_LENGTH or query.is_cuda:
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=1.0)
    else:
        places = torch.arange(length, device=query.device)
        scores = (query @ key.transpose(-1, -2)).masked_fill(places > places.unsqueeze(-1), float("-inf"))
        attended = _softmax(scores) @ value
    return attended.transpose(1, 2).flatten(0, 1)


def _attend(own: list[Tensor], key: Tensor, value: Tensor, unseen: Tensor) -> Tensor:
    """Attend from canvases to their document's text and to themselves; returns flat tokens.

    Args:
        own: queries, keys and values of the canvases, ``[batch, heads, copies, canvas, head_width]``.
        key: keys of the text, ``[batch, heads, length, head_width]``.
        value: values of the text, same shape.
        unseen: true where a canvas may not see a text token, ``[batch, copies, length]``.
    """
    query, own_key, own_value = own
    length, canvases = key.shape[2], query.shape[2:4]
    context = (query.flatten(2, 3) @ key.transpose(-1, -2)).unflatten(2, canvases)
    context = context.masked_fill(unseen[:, None, :, None, :], float("-inf"))
    weights = _softmax(torch.cat((context, query @ own_key.transpose(-1, -2)), dim=-1))
    seen = (weights[..., :length].flatten(2, 3) @ value).unflatten(2, canvases)
    attended: Tensor = seen + weights[..., length:] @ own_value
    return attended.permute(0, 2, 3, 1, 4).flatten(0, 2)


def _softmax(scores: Tensor) -> Tensor:
    """Softmax that stays in the scores' precision; its sums are in single precision all the same."""
    with torch.autocast(scores.device.type, enabled=False):
        return scores.softmax(-1)
