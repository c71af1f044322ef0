"""A recipe so small that a run takes no time."""

from dataclasses import replace
from random import Random

import torch

from unmask.engine.network import Network, Shape
from unmask.train.feed import FeedPlan
from unmask.train.loop import make_network
from unmask.train.recipe import Recipe, recipe

CPU = torch.device("cpu")


def small_recipe(seed: int = 1) -> Recipe:
    """Return a recipe of two thin layers and a few documents a step."""
    chosen = recipe("nano", seed)
    return replace(
        chosen,
        shape=replace(chosen.shape, width=16, layers=2, heads=2, hidden=32),
        feed=replace(chosen.feed, documents=8, warm_up_documents=8, micro_batch_tokens=2048),
        rate_warm_up=2,
    )


def small_plan(seed: int = 1, documents: int = 8) -> FeedPlan:
    """Return the small recipe's plan."""
    return replace(small_recipe(seed).feed, documents=documents, warm_up_documents=documents)


def scrambled(shape: Shape, seed: int = 0) -> Network:
    """Return a network in which every weight matters: training starts from zero output projections."""
    network = Network(shape)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if not name.endswith("query_scale"):
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * shape.width**-0.5)
    return network


def fresh(seed: int = 1) -> Network:
    """Return the network a small run starts from."""
    return make_network(small_recipe(seed), CPU)


def random_ids(rng: Random, count: int, size: int) -> list[int]:
    """Return ids of ordinary tokens."""
    return [rng.randrange(8, size) for _ in range(count)]
