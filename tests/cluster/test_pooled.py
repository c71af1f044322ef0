"""Behaviour of `unmask.cluster.pooled`."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.cluster.fakes import FakeLink
from tests.replicas.prompts import make_request
from unmask.backend import Generation, Request
from unmask.cluster.link import Member
from unmask.cluster.pooled import PooledBackend
from unmask.errors import DrainingError, QueueFullError
from unmask.local.build import build_local_backend
from unmask.prefix import KvPrefix, PrefixError, PrefixKind, PromptPrefix, sealed
from unmask.routing import PrefillEnd
from unmask.sched.settings import SchedSettings
from unmask.testing.builders import make_generation, make_usage
from unmask.testing.fake_backend import FakeBackend, tell_left
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until
from unmask.types import Precision, StepBudget

KIND = PrefixKind(model="0123456789abcdef", precision=Precision.FLOAT32, layout="fake")
PAGE, LEAST = 16, 64
LONG = make_request("김치찌개 하나, 된장찌개 둘 주세요. " * 4)


class Engine(FakeBackend):
    """An engine whose prompts have ten whole pages and five tokens more.

    Args:
        cached: pages that it has of them.
        found: tokens that a request finds cached when it gets its place.
        refusal: raised in place of a prompt that it is asked to run.
        is_full: whether it has no room for pages.
        hold: what prompts wait for.
    """

    def __init__(
        self,
        *,
        cached: int = 0,
        found: int = 0,
        refusal: Exception | None = None,
        is_full: bool = False,
        hold: asyncio.Event | None = None,
    ) -> None:
        usage = make_usage(prompt_tokens=165, cached_tokens=found, prefill_tokens=165 - found)
        super().__init__(generation=make_generation(usage=usage))
        self.run: list[Request] = []
        self.kept: list[KvPrefix] = []
        self.ended = 0
        self._cached, self._refusal, self._is_full, self._hold = cached * PAGE, refusal, is_full, hold

    async def prefix(self, request: Request) -> PromptPrefix:
        """Return ten pages."""
        names = tuple(f"{request.tenant}{number}".encode() for number in range(10))
        return PromptPrefix(tokens=tuple(range(10 * PAGE)), names=names, cached=self._cached)

    async def prefill(self, request: Request) -> KvPrefix:
        """Run them once it may."""
        self.run.append(request)
        try:
            if self._hold is not None:
                await self._hold.wait()
        finally:
            self.ended += 1
        if self._refusal is not None:
            raise self._refusal
        return sealed(KIND, tuple(range(10 * PAGE)), self._cached, (b"pages",))

    async def keep(self, request: Request, prefix: PromptPrefix, brought: KvPrefix) -> None:
        """Keep them, if there is room."""
        del request, prefix
        if self._is_full:
            raise PrefixError(PrefillEnd.NO_ROOM, "10 pages are needed, and 3 are free")
        self.kept.append(brought)


def pooled(engine: Engine, *links: FakeLink, clock: ManualClock | None = None) -> PooledBackend:
    """Return a denoise replica that knows of these prefill replicas."""
    ids = iter(range(1_000))
    clock = clock or ManualClock(70.0)
    backend = PooledBackend(engine, least_tokens=LEAST, most_peers=4, clock=clock, new_id=lambda: str(next(ids)))
    backend.meet(members(*links))
    return backend


def members(*links: FakeLink) -> tuple[Member, ...]:
    """Return what a fleet tells of prefill replicas."""
    return tuple(
        Member(name=str(number), link=link, status=link.host.status()) for number, link in enumerate(links, start=1)
    )


def counted(backend: PooledBackend) -> dict[PrefillEnd, int]:
    """Return what became of prompts, without what none became."""
    (ends,) = (load.prefills.ends for load in backend.load() if load.model == "tiny")
    return {end: count for end, count in zip(PrefillEnd, ends, strict=True) if count}


def billed(generation: Generation) -> tuple[int, int]:
    """Return cached and prefilled tokens."""
    return generation.usage.cached_tokens, generation.usage.prefill_tokens


async def test_a_long_prompt_is_run_elsewhere_and_billed_here() -> None:
    """What was run there for it counts as prefilled, once, and what was cached there as cached."""
    source, target = Engine(cached=2), Engine(found=160)
    backend = pooled(target, FakeLink(source))
    generation = await backend.generate(LONG)

    assert billed(generation) == (32, 133)
    assert [one.tokens for one in target.kept] == [tuple(range(160))]
    assert counted(backend) == {PrefillEnd.TAKEN: 1}
    assert backend.load()[0].prefills.tokens == 160
    assert backend.load()[0].prefills.size == len(b"pages")


@pytest.mark.parametrize(
    ("here", "found", "expected"),
    [(0, 160, (0, 165)), (3, 160, (48, 117)), (0, 96, (0, 165)), (0, 0, (0, 165)), (3, 48, (48, 117))],
)
async def test_no_token_is_billed_twice(here: int, found: int, expected: tuple[int, int]) -> None:
    """Whatever was cached before, and of what was brought is still there when the request gets its place."""
    backend = pooled(Engine(cached=here, found=found), FakeLink(Engine()))

    assert billed(await backend.generate(LONG)) == expected


async def test_a_request_that_is_left_is_billed_alike() -> None:
    """What its caller is told it took has the prompt that was run elsewhere."""
    told: list[Generation] = []

    class Leaving(Engine):
        async def stream(self, request: Request):  # type: ignore[no-untyped-def]  # noqa: ANN202 - as in the protocol
            tell_left(replace(request, left=lambda took: request.left(replace(took, usage=self.took))), 1)  # type: ignore[misc]
            async for event in super().stream(request):
                yield event

        took = make_usage(prompt_tokens=165, cached_tokens=160, prefill_tokens=5)

    await pooled(Leaving(), FakeLink(Engine())).generate(replace(LONG, left=told.append))

    assert [billed(one) for one in told] == [(0, 165)]


@pytest.mark.parametrize("cached", [7, 10])
async def test_a_prompt_that_is_cached_stays(cached: int) -> None:
    """Where less than the least is missing nobody is asked."""
    source = Engine()
    backend = pooled(Engine(cached=cached, found=cached * PAGE), FakeLink(source))
    generation = await backend.generate(LONG)

    assert source.run == []
    assert billed(generation) == (cached * PAGE, 165 - cached * PAGE)
    assert counted(backend) == {}


async def test_a_short_prompt_is_not_even_read() -> None:
    """Its bytes tell that it cannot have so many tokens."""

    class Unread(Engine):
        async def prefix(self, request: Request) -> PromptPrefix:
            raise AssertionError(request)

    assert (await pooled(Unread(), FakeLink(Engine())).generate(make_request("안녕"))).text == "42"


def killed() -> FakeLink:
    """Return a link to a replica that is gone since it was last heard of."""
    link = FakeLink(Engine())
    link.kill()
    return link


@pytest.mark.parametrize(
    ("link", "target", "end"),
    [
        (lambda: FakeLink(Engine(refusal=QueueFullError("16 wait"))), Engine, PrefillEnd.BUSY),
        (lambda: FakeLink(Engine(refusal=PrefixError(PrefillEnd.FAILED, "no"))), Engine, PrefillEnd.FAILED),
        (lambda: FakeLink(Engine(refusal=ZeroDivisionError())), Engine, PrefillEnd.FAILED),
        (killed, Engine, PrefillEnd.LOST),
        (lambda: FakeLink(Engine()), lambda: Engine(is_full=True), PrefillEnd.NO_ROOM),
    ],
)
async def test_whatever_goes_wrong_elsewhere_the_prompt_is_run_here(
    link: Callable[[], FakeLink], target: Callable[[], Engine], end: PrefillEnd
) -> None:
    """The request is answered, booked as its own engine says, and the reason counted."""
    backend = pooled(target(), link())
    generation = await backend.generate(LONG)

    assert generation.text == "42"
    assert billed(generation) == (0, 165)
    assert counted(backend) == {end: 1}


async def test_without_prefill_replicas_prompts_are_run_here() -> None:
    """There are none, or something is wrong with all."""
    backend = pooled(Engine())
    await backend.generate(LONG)
    backend.meet((replace(members(FakeLink(Engine()))[0], problem="it serves other weights"),))
    await backend.generate(LONG)

    assert counted(backend) == {PrefillEnd.NO_REPLICA: 2}


async def test_a_replica_that_dies_over_a_prompt_loses_no_request() -> None:
    """It gets nothing more until it is heard of again."""
    source = Engine(hold=asyncio.Event())
    link = FakeLink(source)
    backend = pooled(Engine(), link)
    calls = [asyncio.create_task(backend.generate(LONG)) for _ in range(5)]
    await until(lambda: len(source.run) == 5)
    link.kill()
    answers = await asyncio.gather(*calls)
    await backend.generate(LONG)
    link.restart()
    link.backend = source
    backend.meet(members(link))
    source._hold = None
    await backend.generate(LONG)

    assert {one.text for one in answers} == {"42"}
    assert counted(backend) == {PrefillEnd.LOST: 5, PrefillEnd.NO_REPLICA: 1, PrefillEnd.TAKEN: 1}


async def test_a_replica_that_takes_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its run ends there too, as nobody wants it any more."""
    monkeypatch.setattr("unmask.cluster.pooled.PATIENCE_S", 0.01)
    source = Engine(hold=asyncio.Event())
    backend = pooled(Engine(), FakeLink(source))
    generation = await backend.generate(LONG)
    await until(lambda: source.ended == 1)

    assert generation.text == "42"
    assert counted(backend) == {PrefillEnd.LATE: 1}


async def test_a_replica_that_was_late_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then one prompt at a time shows whether it still is; who leaves in the meantime shows nothing."""
    monkeypatch.setattr("unmask.cluster.pooled.PATIENCE_S", 0.01)
    source, clock = Engine(hold=asyncio.Event()), ManualClock()
    backend = pooled(Engine(), FakeLink(source), clock=clock)
    for pause_s in (0.0, 29.9, 0.2, 0.0):
        clock.advance(pause_s)
        await backend.generate(LONG)
    assert counted(backend) == {PrefillEnd.LATE: 2, PrefillEnd.NO_REPLICA: 2}

    clock.advance(30.1)
    monkeypatch.setattr("unmask.cluster.pooled.PATIENCE_S", 60.0)
    leaving = asyncio.create_task(backend.generate(LONG))
    await until(lambda: len(source.run) == 3)
    await backend.generate(LONG)
    leaving.cancel()
    await asyncio.wait((leaving,))
    assert counted(backend) == {PrefillEnd.LATE: 2, PrefillEnd.NO_REPLICA: 3}

    source._hold = None
    for _ in range(2):
        await backend.generate(LONG)
    assert counted(backend) == {PrefillEnd.LATE: 2, PrefillEnd.NO_REPLICA: 3, PrefillEnd.TAKEN: 2}


async def test_prompts_of_a_late_replica_go_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even those whose beginning it has."""
    monkeypatch.setattr("unmask.cluster.pooled.PATIENCE_S", 0.01)
    held, sources = asyncio.Event(), [Engine(), Engine()]
    backend = pooled(Engine(), *map(FakeLink, sources))
    await backend.generate(LONG)
    (first,) = (source for source in sources if source.run)
    first._hold = held
    for _ in range(2):
        await backend.generate(LONG)

    assert [len(source.run) for source in sources if source is not first] == [1]
    assert counted(backend) == {PrefillEnd.LATE: 1, PrefillEnd.TAKEN: 2}


async def test_a_caller_that_leaves_ends_its_prompt() -> None:
    """Wherever it is run; the engine here never hears of the request."""
    source, target = Engine(hold=asyncio.Event()), Engine()
    call = asyncio.create_task(pooled(target, FakeLink(source)).generate(LONG))
    await until(lambda: len(source.run) == 1)
    call.cancel()
    await asyncio.wait((call,))
    await until(lambda: source.ended == 1)

    assert target.requests == []


async def test_the_wait_for_a_prompt_is_a_part_of_the_request_s() -> None:
    """It keeps the place in line of when it came, on either engine's clock."""
    source, target = Engine(), Engine()
    await pooled(target, FakeLink(source)).generate(LONG)

    assert target.requests[0].arrived == 70.0
    assert source.run[0].arrived == 5_000.0


async def test_what_waits_for_its_prompt_is_finished_before_the_end() -> None:
    """A drain takes nothing new, and lets go of the engine last."""
    source, target = Engine(hold=asyncio.Event()), Engine()
    backend = pooled(target, FakeLink(source))
    call = asyncio.create_task(backend.generate(LONG))
    await until(lambda: len(source.run) == 1)
    draining = asyncio.create_task(backend.drain())
    await asyncio.sleep(0)
    with pytest.raises(DrainingError):
        await backend.generate(LONG)
    assert source._hold is not None
    source._hold.set()
    await draining

    assert (await call).text == "42"
    assert target.drained


async def test_prompts_that_begin_alike_go_where_their_beginning_is() -> None:
    """By the rule of replicas; another tenant's go wherever there is less to do."""
    sources = [Engine(), Engine()]
    backend = pooled(Engine(), *map(FakeLink, sources))
    for _ in range(4):
        await backend.generate(LONG)

    assert sorted(len(one.run) for one in sources) == [0, 4]


async def test_answers_of_real_weights_are_the_same_with_pools_and_without() -> None:
    """Long prompts, half of which begin alike, all at once, over two prefill replicas, one of which dies."""
    sizes = SchedSettings(pages=64, page_size=16)
    alone, target, *sources = (build_local_backend(("nano",), sizes) for _ in range(4))
    links = [FakeLink(source) for source in sources]
    backend = PooledBackend(
        target, least_tokens=32, most_peers=2, clock=ManualClock(), new_id=iter("abcdefgh").__next__
    )
    backend.meet(members(*links))
    text = "add 12 + 30. 김치찌개와 된장찌개 가운데 하나를 고르세요."
    requests = [
        make_request(text + f" add {number} + 7" if number % 2 else f"{number} " + text, model="nano", max_tokens=16)
        for number in range(6)
    ]
    requests = [replace(one, budget=StepBudget(max_steps=3), canvas_length=8, arrived=0.0) for one in requests]
    calls = [asyncio.create_task(backend.generate(one)) for one in requests]
    await until(lambda: bool(backend.load()[0].prefills.ends[0]))
    links[0].kill()
    answers = await asyncio.gather(*calls)
    expected = [await alone.generate(one) for one in requests]
    for engine in (alone, target, *sources):
        await engine.drain()

    assert [one.tokens for one in answers] == [one.tokens for one in expected]
    assert [one.usage.steps_used for one in answers] == [one.usage.steps_used for one in expected]
    assert all(sum(billed(one)) == one.usage.prompt_tokens for one in answers)
    assert {engine.load()[0].kv_pages_used for engine in (target, *sources)} == {0}
