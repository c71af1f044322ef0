"""Reads the frozen mixture and axis distributions of ``spec.yaml``."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from types import MappingProxyType

import yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A distribution over the values of one axis."""

    values: tuple[str, ...]
    weights: tuple[float, ...]

    def draw(self, rng: Random) -> str:
        """Draw one value as text."""
        return rng.choices(self.values, self.weights)[0]

    def draw_int(self, rng: Random) -> int:
        """Draw one value as a number."""
        return int(self.draw(rng))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Every axis of every task type, and the mixture of task types."""

    mixture: Axis
    axes: Mapping[tuple[str, str], Axis]

    def axis(self, task: str, name: str) -> Axis:
        """Return one axis; an unknown one is a ``KeyError``."""
        return self.axes[task, name]


def _axis(raw: dict[object, float]) -> Axis:
    return Axis(values=tuple(str(key).lower() for key in raw), weights=tuple(raw.values()))


@cache
def load_spec() -> Spec:
    """Load the packaged spec."""
    raw = yaml.safe_load(files("unmask.tasks").joinpath("spec.yaml").read_text(encoding="utf-8"))
    mixture = _axis(raw.pop("mixture"))
    axes = {(task, name): _axis(values) for task, group in raw.items() for name, values in group.items()}
    return Spec(mixture=mixture, axes=MappingProxyType(axes))
