"""Autoregressive decoding as anybody would write it in plain torch: one request, a KV cache, the likeliest token.

What the engine's autoregressive mode is held against: a diffusion model that beats a slow decoder has beaten nothing.
"""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional as F

from unmask.engine.network import Block, Network


class BareDecoder:
    """Decodes with keys and values kept in tensors of the longest length there is, written in place."""

    def __init__(self, network: Network, *, end: int, forbidden: Sequence[int]) -> None:
        shape = network.shape
        self._network = network.eval()
        self._end = end
        self._forbidden = torch.tensor(list(forbidden), dtype=torch.long)
        size = (shape.layers, shape.heads, shape.context_length, shape.head_width)
        self._keys, self._values = torch.zeros(size), torch.zeros(size)

    @torch.inference_mode()
    def decode(self, prompt: Sequence[int], max_tokens: int) -> list[int]:
        """Return up to ``max_tokens`` tokens, the end token the last of them where it comes."""
        logits = self._forward(torch.tensor(prompt), 0)
        output: list[int] = []
        while True:
            logits[self._forbidden] = -torch.inf
            output.append(int(logits.argmax()))
            if output[-1] == self._end or len(output) == max_tokens:
                return output
            logits = self._forward(torch.tensor(output[-1:]), len(prompt) + len(output) - 1)

    def _forward(self, tokens: Tensor, start: int) -> Tensor:
        """Return the logits after the last of some tokens that are appended at ``start``."""
        network, stop = self._network, start + len(tokens)
        cosine, sine = network.cosine[start:stop], network.sine[start:stop]
        # One token sees all before it; several are the prompt, each of which sees what comes before.
        is_causal = len(tokens) > 1
        hidden = network.embed(tokens, torch.full((len(tokens),), -1))
        for layer, module in enumerate(network.blocks):
            block = cast("Block", module)
            query, key, value = block.project(hidden, cosine, sine)
            keys, values = self._keys[layer], self._values[layer]
            keys[:, start:stop], values[:, start:stop] = key.transpose(0, 1), value.transpose(0, 1)
            attended = F.scaled_dot_product_attention(
                query.transpose(0, 1)[None],
                keys[None, :, :stop],
                values[None, :, :stop],
                is_causal=is_causal,
                scale=1.0,
            )
            hidden = block.finish(hidden, attended[0].transpose(0, 1))
        return network.logits(hidden[-1])
