"""The upstreams of one model: which one a request goes to, and what is told of them."""

from collections.abc import Collection, Sequence

from unmask.backend import ModelInfo
from unmask.remote.upstream import Upstream
from unmask.replicas.choice import Choice
from unmask.replicas.prompt import Prompt
from unmask.replicas.router import Router
from unmask.routing import ReplicaLoad

PAGES = 65_536
"""Pages that an upstream is taken to hold, as none of them says how many it has."""


class Pool:
    """The upstreams of one model, one at least."""

    def __init__(self, upstreams: Sequence[Upstream], model: ModelInfo) -> None:
        self.upstreams = {one.name: one for one in upstreams}
        self.router = Router(tuple(self.upstreams), pages=PAGES, first_work=float(model.default_max_tokens))

    @property
    def takers(self) -> dict[str, int]:
        """Upstreams whose circuit lets requests through, with those that they have."""
        return {name: one.outstanding for name, one in self.upstreams.items() if one.breaker.takes}

    def choose(self, prompt: Prompt, tried: Collection[str]) -> Choice:
        """Return the upstream that a request goes to, by the rule of `unmask.replicas.choice`.

        Raises:
            CircuitOpenError: no circuit lets it through.
        """
        takers = self.takers
        if not takers:
            raise min((one.breaker for one in self.upstreams.values()), key=lambda breaker: breaker.left_s).error()
        return self.router.choose(prompt, takers, tried, is_retry=bool(tried))

    def loads(self) -> tuple[ReplicaLoad, ...]:
        """Return what is told of each upstream."""
        return tuple(
            self.router.told(name, problem=one.breaker.problem, running=one.running, waiting=one.waiting)
            for name, one in self.upstreams.items()
        )
