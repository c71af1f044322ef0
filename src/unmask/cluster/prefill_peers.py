"""Prefill replicas as a denoise replica sees them: which there are, and which of them a prompt goes to."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from unmask.clock import Clock
from unmask.cluster.errors import ReplicaLostError
from unmask.cluster.link import Link, Member
from unmask.cluster.slot import CLEARED_BY
from unmask.load import EngineState, ModelLoad
from unmask.prefix import PrefixError, PromptPrefix
from unmask.remote.breaker import Breaker
from unmask.remote.settings import Breaking
from unmask.replicas.prompt import Prompt
from unmask.replicas.router import Router
from unmask.routing import PrefillEnd

LATE = Breaking(failures=1, open=30.0)
"""One that is late is late for whatever follows: each prompt that goes there waits as long in vain."""


class PrefillPeers:
    """Chooses by the rule of `unmask.replicas`: where most of a prompt is cached, unless that one is too busy.

    One that was late for a prompt gets none for a while, and then one that shows whether it still is.

    Args:
        pages: that an engine has, by model.
        most: replicas that there may be; their names are ``1`` to ``most``.
        least_tokens: what each prompt there is taken for.
        clock: by which late ones are left alone.
    """

    def __init__(self, pages: Mapping[str, int], *, most: int, least_tokens: int, clock: Clock) -> None:
        names = [str(number) for number in range(1, most + 1)]
        self._breakers = {name: Breaker(f"prefill replica {name}", LATE, clock) for name in names}
        self._routers = {
            model: Router(names, pages=count, first_work=float(least_tokens)) for model, count in pages.items()
        }
        self._members: dict[str, Member] = {}
        self._lost: dict[str, tuple[str, int]] = {}

    def meet(self, members: tuple[Member, ...]) -> None:
        """Take note of which replicas there are, and of what they say."""
        self._members = {one.name: one for one in members}

    @contextmanager
    def visited(self, model: str, prefix: PromptPrefix) -> Iterator[Link]:
        """Choose a replica, and count a prompt there for as long as the block runs; its `TimeoutError` makes it late.

        Raises:
            PrefixError: there is none to ask.
        """
        takers = {name: member for name, member in self._members.items() if self._load(member, model) is not None}
        if not takers:
            raise PrefixError(PrefillEnd.NO_REPLICA, "no prefill replica takes prompts at present")
        router, prompt = self._routers[model], _prompt(prefix)
        choice = router.choose(prompt, {name: self._busy(member, model) for name, member in takers.items()})
        member, breaker = takers[choice.name], self._breakers[choice.name]
        breaker.enter()
        try:
            with router.visit(prompt, choice):
                yield member.link
            breaker.succeed()
        except TimeoutError:
            breaker.fail("it is late for prompts")
            raise
        except ReplicaLostError:
            router.lost(choice.name)
            if member.status is not None:
                self._lost[choice.name] = member.status.incarnation, member.status.count
            raise
        finally:
            breaker.leave()

    def _load(self, member: Member, model: str) -> ModelLoad | None:
        """Return what a replica has to do, where it takes prompts."""
        status = member.status
        if status is None or not member.is_ready or not self._breakers[member.name].takes:
            return None
        incarnation, count = self._lost.get(member.name, ("", 0))
        if status.incarnation == incarnation and status.count < count + CLEARED_BY:
            return None
        return next((one for one in status.loads if one.model == model and one.state is EngineState.RUNNING), None)

    def _busy(self, member: Member, model: str) -> int:
        load = self._load(member, model)
        return 0 if load is None else load.running + load.waiting


def _prompt(prefix: PromptPrefix) -> Prompt:
    return Prompt(
        pages=prefix.names,
        page_tokens=len(prefix.tokens) // len(prefix.names),
        tokens=len(prefix.tokens),
        session=b"",
        home=prefix.names[0],
    )
