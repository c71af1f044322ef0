"""Small regression trees, walked in plain Python: for one row that is faster than any array library."""

from dataclasses import dataclass
from typing import TypeAlias

LEAF = -1
"""Feature of a node that is a leaf."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A binary tree in columns, one entry a node, the root first and every child behind its parent.

    A row goes to ``below`` where its ``feature`` is at most ``threshold``, else to ``above``; where ``feature`` is
    `LEAF` it ends with ``value``.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    below: tuple[int, ...]
    above: tuple[int, ...]
    value: tuple[float, ...]

    @property
    def leaves(self) -> tuple[float, ...]:
        """Values of the leaves."""
        return tuple(value for feature, value in zip(self.feature, self.value, strict=True) if feature == LEAF)


_Split: TypeAlias = "tuple[int, float, _Node, _Node]"
_Node: TypeAlias = "_Split | float"


class Forest:
    """The sum of a base and of one leaf of each tree, as gradient boosting makes it."""

    def __init__(self, base: float, trees: tuple[Tree, ...]) -> None:
        self.base = base
        self.trees = trees
        self._roots = tuple(_linked(tree, 0) for tree in trees)

    @property
    def least(self) -> float:
        """No row has less than this."""
        return self.base + sum(min(tree.leaves) for tree in self.trees)

    @property
    def greatest(self) -> float:
        """No row has more than this."""
        return self.base + sum(max(tree.leaves) for tree in self.trees)

    def predict(self, values: tuple[float, ...]) -> float:
        """Return the sum for one row of feature values."""
        total = self.base
        for root in self._roots:
            node = root
            while isinstance(node, tuple):
                node = node[2] if values[node[0]] <= node[1] else node[3]
            total += node
        return total


def _linked(tree: Tree, at: int) -> _Node:
    if tree.feature[at] == LEAF:
        return tree.value[at]
    return (
        tree.feature[at],
        tree.threshold[at],
        _linked(tree, tree.below[at]),
        _linked(tree, tree.above[at]),
    )
