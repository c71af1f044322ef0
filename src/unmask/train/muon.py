"""Muon for matrices (Jordan et al. 2024); AdamW does the rest."""

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
NEWTON_SCHULZ_STEPS = 5


def orthogonalise(update: Tensor) -> Tensor:
    """Return about the nearest orthogonal matrices to ``update [..., rows, columns]``.

    A quintic Newton-Schulz iteration with coefficients chosen for speed: singular
    values end near one, not at it.
    """
    a, b, c = NEWTON_SCHULZ
    tall = update.shape[-2] > update.shape[-1]
    matrix: Tensor = update.mT if tall else update
    # Half precision is enough for a direction, and twice as fast.
    matrix = (matrix / (matrix.norm(dim=(-2, -1), keepdim=True) + 1e-7)).bfloat16()
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = matrix @ matrix.mT
        matrix = a * matrix + (b * gram + c * gram @ gram) @ matrix
    return (matrix.mT if tall else matrix).to(update.dtype)


class Muon(torch.optim.Optimizer):
    """Orthogonalised momentum; each parameter is a stack of ``parts`` matrices along its rows."""

    def __init__(self, parameters: list[tuple[nn.Parameter, int]], lr: float) -> None:
        groups = [{"params": [parameter], "parts": parts} for parameter, parts in parameters]
        super().__init__(groups, {"lr": lr, "parts": 1})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Apply one update from the gradients at hand."""
        assert closure is None
        for group in self.param_groups:
            (parameter,) = group["params"]
            if parameter.grad is None:
                continue
            state = self.state[parameter]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(parameter)
            momentum: Tensor = state["momentum"]
            momentum.lerp_(parameter.grad, 1 - MOMENTUM)
            update = parameter.grad.lerp(momentum, MOMENTUM).unflatten(0, (group["parts"], -1))
            rows, columns = update.shape[-2:]
            scale = max(1.0, rows / columns) ** 0.5
            parameter.add_(orthogonalise(update).flatten(0, 1), alpha=-group["lr"] * scale)
