"""The Muon optimiser."""

import torch
from torch import nn

from unmask.train.muon import Muon, orthogonalise


def random_matrix(*shape: int) -> torch.Tensor:
    """Return a seeded matrix."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def test_updates_are_nearly_orthogonal() -> None:
    """Whatever the scale and the shape, singular values end near one."""
    for matrix in (random_matrix(24, 24), 1e-3 * random_matrix(48, 16), 1e3 * random_matrix(3, 16, 48)):
        values = torch.linalg.svdvals(orthogonalise(matrix))
        assert values.min() > 0.3
        assert values.max() < 1.3


def test_directions_are_kept() -> None:
    """The orthogonal matrix is the gradient's own: it has the same singular vectors."""
    matrix = random_matrix(16, 16)
    left, _, right = torch.linalg.svd(matrix)
    diagonal = left.T @ orthogonalise(matrix) @ right.T
    assert diagonal.diagonal().min() > 0.3
    assert (diagonal - torch.diag(diagonal.diagonal())).abs().max() < 0.1


def test_parts_are_updated_on_their_own() -> None:
    """A stack of matrices is updated as each of them would be alone."""
    stacked = nn.Parameter(random_matrix(24, 8))
    parts = [nn.Parameter(part.clone()) for part in stacked.detach().chunk(3)]
    gradient = random_matrix(24, 8).roll(1, 0)
    stacked.grad = gradient.clone()
    for part, piece in zip(parts, gradient.chunk(3), strict=True):
        part.grad = piece.clone()
    Muon([(stacked, 3)], 0.1).step()
    Muon([(part, 1) for part in parts], 0.1).step()
    torch.testing.assert_close(stacked.detach(), torch.cat([part.detach() for part in parts]), atol=1e-3, rtol=0)


def test_a_parameter_without_a_gradient_stays() -> None:
    """What was not used in a step is not moved."""
    parameter = nn.Parameter(random_matrix(8, 8))
    before = parameter.detach().clone()
    Muon([(parameter, 1)], 0.1).step()
    assert torch.equal(parameter.detach(), before)


def test_it_descends() -> None:
    """A matrix is pulled towards its target."""
    target = random_matrix(8, 8)
    parameter = nn.Parameter(torch.zeros(8, 8))
    optimiser = Muon([(parameter, 1)], 0.05)
    first = target.square().sum()
    for _ in range(60):
        optimiser.zero_grad()
        loss = (parameter - target).square().sum()
        loss.backward()
        optimiser.step()
    assert loss < 0.1 * first
