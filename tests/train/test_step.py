"""One optimiser step."""

import pytest
import torch

from tests.train.small import CPU, fresh, small_plan, small_recipe
from unmask.text.tokenizer import packaged_tokenizer
from unmask.train.batch import MicroBatch
from unmask.train.dense import DensePass
from unmask.train.feed import make_step
from unmask.train.lessons import ADMITTING, TELLING, task_order
from unmask.train.step import make_optimisers, make_sums, set_rates, train_step

RECIPE = small_recipe()


@pytest.fixture(name="batches", scope="module")
def make_batches() -> list[MicroBatch]:
    """Return the micro-batches of one step."""
    return make_step(packaged_tokenizer(), small_plan(), 0)


def test_every_parameter_has_one_optimiser() -> None:
    """Muon has the blocks' matrices, the query, key and value parts apart; AdamW has everything else."""
    network = fresh()
    muon, adam = make_optimisers(network, RECIPE)
    owned = [
        parameter for optimiser in (muon, adam) for group in optimiser.param_groups for parameter in group["params"]
    ]
    assert sorted(map(id, owned)) == sorted(map(id, network.parameters()))
    parts = {id(group["params"][0]): group["parts"] for group in muon.param_groups}
    names = {name: parts.get(id(parameter)) for name, parameter in network.named_parameters()}
    assert names["blocks.0.qkv.weight"] == 3
    assert names["blocks.1.down.weight"] == 1
    assert names["blocks.0.query_scale"] is names["tokens.weight"] is names["head.weight"] is None


def test_rates_are_scaled_together() -> None:
    """A factor applies to the rate of every group of both optimisers."""
    optimisers = make_optimisers(fresh(), RECIPE)
    set_rates(optimisers, RECIPE, 0.5)
    rates = [{group["lr"] for group in optimiser.param_groups} for optimiser in optimisers]
    assert rates == [{RECIPE.matrix_rate * 0.5}, {RECIPE.vector_rate * 0.5}]


def test_steps_on_the_same_documents_lower_the_loss(batches: list[MicroBatch]) -> None:
    """Both losses fall when the same step is taken again and again."""
    network = fresh()
    optimisers = make_optimisers(network, RECIPE)
    dense = DensePass(network, compiled=False)
    losses = []
    for _ in range(20):
        sums = make_sums(CPU)
        train_step(dense, network, optimisers, batches, RECIPE, sums)
        losses.append(sums[..., 0].sum(0) / sums[..., 2].sum(0))
    assert (losses[-1] < 0.9 * losses[0]).all()
    assert all(parameter.grad is None for parameter in network.parameters())


def test_sums_count_every_target_of_weight_one(batches: list[MicroBatch]) -> None:
    """Loss, correct and count are kept per task and part; what lies behind the end token is not counted."""
    network = fresh()
    sums = make_sums(CPU)
    train_step(DensePass(network, compiled=False), network, make_optimisers(network, RECIPE), batches, RECIPE, sums)
    for part, name in enumerate(("canvas_targets", "text_targets")):
        for index in range(len(task_order())):
            targets = [getattr(batch, name) for batch in batches]
            count = sum(int(((target.tasks == index) & (target.weights == 1.0)).sum()) for target in targets)
            assert sums[index, part, 2] == count
            # The first step belongs to the warm-up, which has no lessons in telling or admitting.
            assert (count > 0) == (task_order()[index] not in (TELLING, ADMITTING))
            assert 0 <= sums[index, part, 1] <= count
    # A network that starts from a zero head finds all tokens equally likely.
    torch.testing.assert_close(
        (sums[..., 0] / sums[..., 2]).nanmean().item(),
        float(torch.tensor(RECIPE.shape.vocabulary).log()),
        atol=0.01,
        rtol=0,
    )
