"""What is known of the replicas of one model, and the choice among them."""

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from unmask.backend import Usage
from unmask.replicas.choice import Candidate, Choice, choose
from unmask.replicas.prefix_index import PrefixIndex
from unmask.replicas.prompt import Prompt
from unmask.routing import ReplicaLoad, RouteReason

SESSIONS = 65_536
"""Sessions whose last replica is remembered."""
DECAY = 0.98
"""What an answer's weight is multiplied by with every later one."""


@dataclass(slots=True)
class _Replica:
    """What was sent to one replica.

    Attributes:
        queued: row tokens that requests there may still come to take.
    """

    index: PrefixIndex
    open: int = 0
    queued: float = 0.0
    decisions: Counter[RouteReason] = field(default_factory=Counter)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    expected_tokens: int = 0


def output_work(usage: Usage, canvas_length: int) -> int:
    """Return the row tokens of an answer, its prompt aside: of its steps, or its tokens where no steps are told."""
    steps = usage.steps_used * canvas_length if usage.steps_known else usage.completion_tokens
    return steps + usage.commit_tokens


class Router:
    """Chooses among the replicas of one model by `unmask.replicas.choice`; knows no clock and waits for nothing.

    Args:
        names: of the replicas, one at least.
        pages: pages that each of them holds.
        first_work: row tokens that an answer is taken for before there was any.
    """

    def __init__(self, names: Sequence[str], *, pages: int, first_work: float) -> None:
        self._replicas = {name: _Replica(index=PrefixIndex(pages)) for name in names}
        self._sessions: OrderedDict[bytes, str] = OrderedDict()
        self._weight = 0.0
        self._work = 0.0
        self._first_work = first_work
        self._prompt_tokens = 0.0
        self._cached_tokens = 0.0

    @property
    def work(self) -> float:
        """Row tokens that an answer takes of late, its prompt aside."""
        return self._work / self._weight if self._weight else self._first_work

    @property
    def hit_rate(self) -> float:
        """Share of prompt tokens that were found cached of late."""
        return self._cached_tokens / self._prompt_tokens if self._prompt_tokens else 0.0

    def choose(
        self, prompt: Prompt, takers: Mapping[str, int], tried: Collection[str] = (), *, is_retry: bool = False
    ) -> Choice:
        """Return the replica that a request goes to.

        Args:
            prompt: of the request.
            takers: replicas that would take it, one at least, each with the requests that it says it has: those that
                came by other ways count as well.
            tried: replicas that did not answer it; they are asked again only where there is no other.
            is_retry: whether it is sent once more because of them.
        """
        fresh = [name for name in takers if name not in tried] or list(takers)
        before = self._sessions.get(prompt.session) if prompt.session else None
        candidates = [
            Candidate(
                name=name,
                queued=self._queued(name, takers[name]),
                cached=self._replicas[name].index.match(prompt.pages) * prompt.page_tokens,
                was_here=name == before,
                # What is pushed out is taken to be found again as often as anything is.
                missed=self.hit_rate if self._replicas[name].index.is_full else 0.0,
            )
            for name in fresh
        ]
        found = choose(candidates, prompt.tokens, prompt.home)
        return Choice(name=found.name, reason=RouteReason.RETRY, cached=found.cached) if is_retry else found

    @contextmanager
    def visit(self, prompt: Prompt, choice: Choice) -> Iterator[None]:
        """Count a request at its replica for as long as the block runs."""
        replica = self._replicas[choice.name]
        replica.decisions[choice.reason] += 1
        replica.index.use(prompt.pages)
        self._remember(prompt.session, choice.name)
        work = prompt.tokens - choice.cached + self.work
        replica.open += 1
        replica.queued += work
        try:
            yield
        finally:
            replica.open -= 1
            replica.queued = replica.queued - work if replica.open else 0.0

    def answered(self, choice: Choice, usage: Usage, canvas_length: int) -> None:
        """Take note of what a request took at its replica."""
        replica = self._replicas[choice.name]
        if usage.tokens_known:
            replica.prompt_tokens += usage.prompt_tokens
            replica.cached_tokens += usage.cached_tokens
            replica.expected_tokens += min(choice.cached, usage.prompt_tokens)
            self._prompt_tokens = DECAY * self._prompt_tokens + usage.prompt_tokens
            self._cached_tokens = DECAY * self._cached_tokens + usage.cached_tokens
        self._weight = DECAY * self._weight + 1
        self._work = DECAY * self._work + output_work(usage, canvas_length)

    def lost(self, name: str) -> None:
        """Take note that a replica has gone, and with it all that it held."""
        self._replicas[name].index.clear()

    def told(self, name: str, *, problem: str | None, running: int, waiting: int) -> ReplicaLoad:
        """Return what is told of a replica, with what is known of it elsewhere."""
        replica = self._replicas[name]
        return ReplicaLoad(
            name=name,
            problem=problem,
            running=running,
            waiting=waiting,
            decisions=tuple((reason, replica.decisions[reason]) for reason in RouteReason),
            prompt_tokens=replica.prompt_tokens,
            cached_tokens=replica.cached_tokens,
            expected_tokens=replica.expected_tokens,
        )

    def _queued(self, name: str, said: int) -> float:
        replica = self._replicas[name]
        return replica.queued + max(0, said - replica.open) * self.work

    def _remember(self, session: bytes, name: str) -> None:
        if not session:
            return
        self._sessions[session] = name
        self._sessions.move_to_end(session)
        if len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)
