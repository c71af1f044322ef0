"""What a run asks, of whom, and how."""

from collections.abc import Iterator
from dataclasses import dataclass

from unmask.backend import Backend
from unmask.gate.response import ResponseKey, System
from unmask.gate.retriever import Retriever
from unmask.gate.scenario import Suite
from unmask.types import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How every request of a run is made, whoever answers.

    Attributes:
        steps: most denoise steps of a canvas; not for an autoregressive system, which has none.
        concurrency: requests under way at the same time, of all systems together.
    """

    temperature: float = 0.0
    steps: int | None = None
    max_tokens: int | None = None
    concurrency: int = 8

    def settings(self, mode: Mode) -> tuple[str, ...]:
        """Return what a `System` says that its requests are made with."""
        given = {
            "concurrency": self.concurrency,
            "max_tokens": self.max_tokens,
            "temperature": f"{self.temperature:g}",
        }
        if mode is Mode.DIFFUSION:
            given["steps"] = self.steps
        return tuple(sorted(f"{name}={'default' if value is None else value}" for name, value in given.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A system and the backend that answers for it; several systems may share one."""

    system: System
    backend: Backend


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is to be asked of whom.

    Attributes:
        limit: how many scenarios, the first ones; ``None`` asks all.
    """

    suite: Suite
    seeds: tuple[int, ...]
    endpoints: tuple[Endpoint, ...]
    retriever: Retriever
    way: Way
    limit: int | None = None

    def keys(self) -> Iterator[ResponseKey]:
        """Yield all there is to ask: systems in turns, so that none has the machine at a better time."""
        for seed in self.seeds:
            for scenario in self.suite.scenarios[: self.limit]:
                for endpoint in self.endpoints:
                    yield ResponseKey(scenario=scenario.id, seed=seed, system=endpoint.system.label)
