"""Tells each request the quality level that load leaves it, and keeps the levels of all classes."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from unmask.clock import Clock
from unmask.control.quality import DEFAULT_FLOOR, LEVELS, LevelState, QualityLevel, blind, dwell_of, looked
from unmask.load import EngineState, ModelLoad
from unmask.metrics.quality import ClassQuality

_LOG = logging.getLogger(__name__)

SILENT_S = 10.0
"""Seconds without a word from an engine that has work, after which its load is not known."""


@dataclass(slots=True, kw_only=True)
class _Watched:
    """A class of a model's requests."""

    lowest: int
    state: LevelState = field(default_factory=LevelState)
    pressure: float = 0.0
    falls: int = 0
    rises: int = 0
    was_told: bool = False
    is_blind: bool = False
    requests: list[int] = field(default_factory=lambda: [0] * len(LEVELS))


class QualityDesk:
    """Looks at the load whenever a request comes or goes, or somebody asks; belongs to the server's event loop.

    Where a server tells nothing of its work, as one behind an upstream does, the level stays at 0.

    Args:
        read: `unmask.backend.Backend.load`.
        clock: of dwell times.
        lowest: floor of classes that name none.
    """

    def __init__(self, read: Callable[[], tuple[ModelLoad, ...]], clock: Clock, *, lowest: int = DEFAULT_FLOOR) -> None:
        self._read = read
        self._clock = clock
        self._lowest = lowest
        self._watched: dict[tuple[str, str], _Watched] = {}

    def level(self, model: str, service_class: str, lowest: int | None = None) -> QualityLevel:
        """Return the level of a request that arrives now.

        Args:
            model: which model answers it.
            service_class: its class; empty where there is none.
            lowest: the class's floor; ``None`` where its policy does not say.
        """
        found = self._watched.get((model, service_class))
        if found is None:
            found = self._watched[model, service_class] = _Watched(lowest=self._lowest)
        found.lowest = self._lowest if lowest is None else lowest
        self.look()
        # A policy that was promoted meanwhile may have raised the floor.
        return LEVELS[min(found.state.level, found.lowest)]

    def admitted(self, model: str, service_class: str, level: int) -> None:
        """Count a request that was given a level."""
        self._watched[model, service_class].requests[level] += 1

    def width(self, model: str, service_class: str) -> int | None:
        """Return how wide searches of a class may be at its level of now, which nothing is looked at for.

        That changes when requests come and go, and these look.
        """
        found = self._watched.get((model, service_class))
        return None if found is None else LEVELS[min(found.state.level, found.lowest)].width

    def ended(self) -> None:
        """Look when work has ended, so that calm is known though nobody asks: where all is calm, it stays so."""
        if any(one.state.level or one.state.calm is None for one in self._watched.values()):
            self.look()

    def look(self) -> None:
        """Look at the load, and move the levels accordingly."""
        loads, now = self._loads(), self._clock.now()
        for (model, service_class), one in self._watched.items():
            load = loads.get(model)
            before = one.state
            if load is None and not one.was_told:
                continue
            if load is None or load.state is not EngineState.RUNNING or load.silent_s > SILENT_S:
                self._say(model, one, is_blind=True)
                one.state = blind(before, now=now, lowest=one.lowest)
            else:
                self._say(model, one, is_blind=False)
                one.was_told = True
                works = (work.pressure for work in load.works if work.service_class == service_class)
                one.pressure = next(works, 0.0)
                dwell_s = dwell_of(load.service_p95_s)
                one.state = looked(before, one.pressure, now=now, dwell_s=dwell_s, lowest=one.lowest)
            steps = one.state.level - before.level
            one.falls += max(0, steps)
            one.rises += max(0, -steps)

    def standings(self) -> Iterator[ClassQuality]:
        """Look, and yield every class that has had a request."""
        self.look()
        for (model, service_class), one in self._watched.items():
            yield ClassQuality(
                model=model,
                service_class=service_class,
                level=min(one.state.level, one.lowest),
                lowest=one.lowest,
                pressure=one.pressure,
                falls=one.falls,
                rises=one.rises,
                requests=tuple(one.requests),
                is_blind=one.is_blind,
            )

    def degraded(self) -> Iterator[str]:
        """Say which classes have less than they ask for, and why."""
        for one in self.standings():
            of_class = f"{one.model}: requests of class {one.service_class}" if one.service_class else one.model
            if one.is_blind:
                yield f"{of_class}: the engine does not tell its load, so quality level {one.level} is a guess"
            elif one.level:
                yield (
                    f"{of_class}: quality level {one.level} under load; its work now takes {one.pressure:.2f} times as "
                    "long as requests may wait"
                )

    def _loads(self) -> dict[str, ModelLoad]:
        try:
            return {load.model: load for load in self._read()}
        except Exception:  # noqa: BLE001 - no request fails because nobody knows how busy the machine is
            _LOG.exception("the load of the backend cannot be read")
            return {}

    def _say(self, model: str, one: _Watched, *, is_blind: bool) -> None:
        if is_blind and not one.is_blind:
            _LOG.warning("the load of %s is not known: quality goes by a guess until it is", model)
        one.is_blind = is_blind
