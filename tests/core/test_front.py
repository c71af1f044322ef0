"""The asyncio front: notices in, aborts out, and no caller waits for ever."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from unmask.core.errors import EngineStoppedError
from unmask.core.front import Front, Kind, Notice
from unmask.errors import ContextLengthError, DrainingError, QueueFullError
from unmask.plan import CanvasTask, Row, RowResult, Task
from unmask.sched.settings import SchedSettings
from unmask.sequence import Submission
from unmask.testing.cores import make_core
from unmask.testing.fake_engine import FakeEngine, fill
from unmask.testing.submissions import make_submission
from unmask.testing.waiting import until
from unmask.types import Mode, Outcome, StepBudget

ENDLESS = 10**9
PATIENCE_S = 30.0


class Server:
    """A front and what is behind it."""

    def __init__(self, *, queue_limit: int = 100, max_rows: int = 16) -> None:
        # Once set, every canvas finishes at its next step.
        self.finish = threading.Event()
        self.engine = FakeEngine(self._fill)
        settings = SchedSettings(pages=64, page_size=8, max_rows=max_rows)
        self.core = make_core(self.engine, settings, queue_limit=queue_limit)
        self.front = Front(self.core)

    def _fill(self, _row: Row, task: Task) -> RowResult:
        if isinstance(task, CanvasTask) and self.finish.is_set():
            task = replace(task, steps_left=1)
        return fill(task, 9)

    async def outcome(self, submission: Submission) -> Outcome | None:
        """Run a request to its end."""
        notices = [notice async for notice in self.front.run(submission)]
        assert [notice.kind for notice in notices].count(Kind.ENDED) == 1
        assert notices[-1].sequence is not None
        return notices[-1].sequence.outcome

    def is_running(self) -> bool:
        """Tell whether something has been let in."""
        return self.core.batcher.pool.used > 0

    def holds_nothing(self) -> bool:
        """Tell whether every sequence and page is gone."""
        return self.core.is_idle and self.core.batcher.pool.used == 0


@pytest.fixture(name="server")
async def _server(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Server]:
    caplog.set_level(logging.CRITICAL)
    server = Server()
    yield server
    async with asyncio.timeout(PATIENCE_S):
        await server.front.drain()


async def first_notice(server: Server, submission: Submission) -> Notice:
    """Return a request's first notice and close it."""
    async with aclosing(server.front.run(submission)) as notices:
        return await anext(notices)


async def test_notices_tell_growth_and_end(server: Server) -> None:
    """Each canvas is a notice with the text so far; the end comes once, with the sequence."""
    notices = [notice async for notice in server.front.run(make_submission(max_tokens=16, max_steps=2))]

    assert [(notice.kind, notice.text) for notice in notices] == [
        (Kind.GROWN, ")" * 8),
        (Kind.GROWN, ")" * 16),
        (Kind.ENDED, ")" * 16),
    ]


GROWTH = {Mode.DIFFUSION: (8, 8), Mode.AUTOREGRESSIVE: (1,) * 16, Mode.SPECULATIVE: (1, 8, 7)}
"""Tokens that join the output of 16 at a time; a canvas of 8 drafts seven, and a step draws one more."""


@pytest.mark.parametrize("mode", Mode)
async def test_each_log_probability_is_told_once(server: Server, mode: Mode) -> None:
    """A notice brings those of the tokens that joined the output since the notice before; the last brings none."""
    request = make_submission(max_tokens=16, max_steps=2, max_total_steps=16, mode=mode, top_logprobs=1)
    notices = [notice async for notice in server.front.run(request)]
    told = [token for notice in notices for token in notice.logprobs]

    assert notices[-1].sequence is not None
    assert told == notices[-1].sequence.logprobs
    assert len(told) == 16
    assert [len(notice.logprobs) for notice in notices] == [*GROWTH[mode], 0]


async def test_many_callers_share_the_thread(server: Server) -> None:
    """Requests of several tasks all end."""
    outcomes = await asyncio.gather(*(server.outcome(make_submission(max_steps=1 + number)) for number in range(20)))

    assert set(outcomes) == {Outcome.COMPLETED}


async def test_closing_the_iterator_aborts(server: Server) -> None:
    """Whoever stops listening lets go of the pages, though the request had far to go."""
    notice = await first_notice(server, make_submission(max_steps=ENDLESS, snapshots=True))

    assert notice.kind is Kind.STEPPED
    await until(server.holds_nothing)


async def test_cancelling_while_waiting_aborts(server: Server) -> None:
    """A caller cancelled between two notices is one that stops listening."""
    task = asyncio.ensure_future(server.outcome(make_submission(max_steps=ENDLESS)))
    await until(server.is_running)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await until(server.holds_nothing)


async def test_cancelling_before_the_submission_is_taken(server: Server) -> None:
    """An abort posted behind a submission the thread has not seen yet still finds it."""
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()
    blocked = asyncio.Event()

    def block(_core: object) -> None:
        loop.call_soon_threadsafe(blocked.set)
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(PATIENCE_S)

    server.front._thread.post(block)
    await blocked.wait()
    task = asyncio.ensure_future(server.outcome(make_submission(max_steps=ENDLESS)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()

    await until(server.holds_nothing)
    assert await server.outcome(make_submission()) is Outcome.COMPLETED


async def test_cancelling_twice_keeps_nobody_from_draining(server: Server) -> None:
    """A dropped run whose client hangs up as well, before the engine has said what it took."""
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def block(_core: object) -> None:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(PATIENCE_S)

    async def consume() -> None:
        async with aclosing(server.front.run(make_submission(max_steps=ENDLESS), lambda _: None)) as notices:
            async for _ in notices:
                pass

    task = asyncio.ensure_future(consume())
    await until(server.is_running)
    server.front._thread.post(block)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()

    async with asyncio.timeout(PATIENCE_S / 10):
        await server.front.drain()
    assert server.holds_nothing()


async def test_closing_after_the_end_aborts_nothing(server: Server) -> None:
    """Closing an iterator that has ended, or was never started, does no harm."""
    ended = server.front.run(make_submission())
    assert [notice.kind async for notice in ended][-1] is Kind.ENDED
    await ended.aclose()
    await server.front.run(make_submission()).aclose()

    assert server.front.is_alive


async def test_refusals_reach_the_caller(server: Server) -> None:
    """What the core refuses is raised where the request was made."""
    with pytest.raises(ContextLengthError):
        await server.outcome(make_submission(tuple(range(600)), context_length=10_000))
    assert server.front.is_alive


async def test_a_full_queue_reaches_the_caller() -> None:
    """With one row and a queue of one, the third request is refused and the others are served."""
    server = Server(queue_limit=1, max_rows=1)
    running = asyncio.ensure_future(server.outcome(make_submission(max_steps=ENDLESS)))
    await until(server.is_running)
    waiting = asyncio.ensure_future(server.outcome(make_submission()))
    await until(lambda: len(server.core.batcher.waiting) > 0)
    with pytest.raises(QueueFullError):
        await server.outcome(make_submission())
    running.cancel()

    assert await waiting is Outcome.COMPLETED
    await server.front.drain()


async def test_draining_finishes_what_runs_and_refuses_the_rest(server: Server) -> None:
    """A request in flight ends by itself, a new one is turned away, and the thread stops."""
    running = asyncio.ensure_future(server.outcome(make_submission(max_steps=ENDLESS)))
    await until(server.is_running)
    draining = asyncio.ensure_future(server.front.drain())
    await asyncio.sleep(0)
    with pytest.raises(DrainingError):
        await server.outcome(make_submission())
    server.finish.set()

    assert await running is Outcome.COMPLETED
    await draining
    assert not server.front.is_alive


async def test_a_failed_forward_fails_its_callers(server: Server) -> None:
    """Callers of the failed plan get a failed sequence; the next caller is served."""
    server.engine.error = RuntimeError("no memory")

    assert await server.outcome(make_submission()) is Outcome.FAILED
    assert await server.outcome(make_submission()) is Outcome.COMPLETED


async def test_a_dead_thread_is_visible_and_nobody_waits(server: Server) -> None:
    """When the thread dies, callers in flight hear of a failure, later ones are refused at once."""
    flying = asyncio.ensure_future(server.outcome(make_submission(max_steps=ENDLESS)))
    await until(server.is_running)
    server.engine.error = SystemExit("broken")

    async with asyncio.timeout(PATIENCE_S):
        assert await flying is Outcome.FAILED
        await until(lambda: not server.front.is_alive)
        with pytest.raises(EngineStoppedError):
            await server.outcome(make_submission())


def test_a_loop_closed_meanwhile_does_not_hurt_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    """Notices for a loop that is gone are dropped, and the front serves the next loop."""
    caplog.set_level(logging.CRITICAL)
    server = Server()

    async def abandon() -> None:
        # Left running on purpose: nothing is closed, the loop just ends.
        iterator = server.front.run(make_submission(max_tokens=80, max_steps=100, snapshots=True))
        await anext(iterator)
        abandoned.append(iterator)

    abandoned: list[object] = []
    loop = asyncio.new_event_loop()
    loop.run_until_complete(abandon())
    loop.close()

    async def serve_another() -> None:
        assert await server.outcome(make_submission()) is Outcome.COMPLETED
        await until(server.holds_nothing)
        assert server.front.is_alive

    asyncio.run(serve_another())
    server.front._thread.stop()
    abandoned.clear()


async def test_what_must_not_meet_a_tick_runs_on_the_engine_s_thread(server: Server) -> None:
    """Its result and its error come back; the thread goes on, and a caller that has left is not run for."""
    named = await server.front.between_ticks(lambda: threading.current_thread().name)
    with pytest.raises(ZeroDivisionError):
        await server.front.between_ticks(lambda: 1 // 0)

    assert named == "unmask-engine"
    assert await server.outcome(make_submission(max_steps=1)) is Outcome.COMPLETED


async def test_a_prompt_alone_takes_no_step(server: Server) -> None:
    """It ends once all of it is in pages, which stay findable."""
    submission = replace(
        make_submission(tuple(range(24))),
        max_tokens=0,
        mode=Mode.AUTOREGRESSIVE,
        budget=StepBudget(max_steps=1, max_total_steps=0),
    )
    notices = [notice async for notice in server.front.run(submission)]
    ended = notices[-1].sequence

    assert len(notices) == 1
    assert ended is not None
    assert (ended.outcome, ended.steps, ended.prefill_tokens) == (Outcome.COMPLETED, 0, 24)
    assert {row.task for plan in server.engine.plans for row in plan.rows} == {None}
    assert server.core.batcher.pool.used == 0
    assert all(map(server.core.batcher.pool.is_kept, range(3)))
