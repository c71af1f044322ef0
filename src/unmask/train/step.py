"""One optimiser step: loss, gradients, update."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from unmask.engine.network import Network
from unmask.train.batch import MicroBatch, Targets
from unmask.train.lessons import task_order
from unmask.train.muon import Muon
from unmask.train.recipe import Recipe

Forward = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def make_optimisers(network: Network, recipe: Recipe) -> tuple[Muon, torch.optim.AdamW]:
    """Muon on the blocks' matrices, AdamW on embeddings, head and scales."""
    matrices = [
        (parameter, 3 if name.endswith("qkv.weight") else 1)
        for name, parameter in network.blocks.named_parameters()
        if parameter.ndim == 2 and not name.endswith("query_scale")
    ]
    chosen = {id(parameter) for parameter, _ in matrices}
    rest = [parameter for parameter in network.parameters() if id(parameter) not in chosen]
    return Muon(matrices, recipe.matrix_rate), torch.optim.AdamW(
        rest, recipe.vector_rate, betas=(0.9, 0.98), weight_decay=0.0
    )


def set_rates(optimisers: Sequence[torch.optim.Optimizer], recipe: Recipe, factor: float) -> None:
    """Scale every learning rate by ``factor``."""
    for optimiser, rate in zip(optimisers, (recipe.matrix_rate, recipe.vector_rate), strict=True):
        for group in optimiser.param_groups:
            group["lr"] = rate * factor


def make_sums(device: torch.device) -> Tensor:
    """Return zeros ``[tasks, 2 (canvas, causal), 3 (loss, correct, count)]`` for `train_step` to add to."""
    return torch.zeros((len(task_order()), 2, 3), dtype=torch.float64, device=device)


def train_step(
    dense: Forward,
    network: Network,
    optimisers: Sequence[torch.optim.Optimizer],
    batches: Sequence[MicroBatch],
    recipe: Recipe,
    sums: Tensor,
) -> None:
    """Take one step over the micro-batches, adding what was measured to ``sums`` of `make_sums`."""
    device = network.tokens.weight.device
    canvas = 1.0 / sum(len(batch.canvas_targets.rows) for batch in batches)
    causal = recipe.causal_weight / sum(len(batch.text_targets.rows) for batch in batches)
    for batch in batches:
        inputs = (torch.from_numpy(array).to(device) for array in (batch.text, batch.canvases, batch.starts))
        with torch.autocast(device.type, torch.bfloat16):
            hidden, drafts = dense(*inputs)
        loss = _part_loss(network, drafts, batch.canvas_targets, canvas, sums[:, 0])
        loss = loss + _part_loss(network, hidden, batch.text_targets, causal, sums[:, 1])
        loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), recipe.clip)
    for optimiser in optimisers:
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)


def _part_loss(network: Network, hidden: Tensor, targets: Targets, scale: float, sums: Tensor) -> Tensor:
    """Return the weighted loss of one part, adding loss, correct and count per task to ``sums``."""
    rows, wanted, weights, tasks = (
        torch.from_numpy(array).to(hidden.device)
        for array in (targets.rows, targets.tokens, targets.weights, targets.tasks)
    )
    with torch.autocast(hidden.device.type, torch.bfloat16):
        logits = network.logits(hidden.flatten(0, -2)[rows])
    losses = F.cross_entropy(logits.float(), wanted, reduction="none")
    # Sums stay on the device: reading them here would make an accelerator wait in every micro-batch.
    measured = torch.stack((losses.detach(), logits.detach().argmax(-1) == wanted, torch.ones_like(weights)), dim=1)
    counted = (weights == 1.0).unsqueeze(1)
    sums.index_add_(0, tasks, measured.double() * counted)
    return (losses * weights).sum() * scale
