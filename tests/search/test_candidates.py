"""Candidates: which are run, which is taken, and what it costs when some do not end well."""

import asyncio
from dataclasses import replace

import pytest

from tests.search.fakes import REQUEST, Scripted, answer, make_setting
from unmask.errors import QueueFullError
from unmask.search.candidates import candidates
from unmask.search.room import Room
from unmask.search.running import Limit
from unmask.service import ClassTerms
from unmask.testing.builders import make_generation, make_model
from unmask.testing.exits import make_plan
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until
from unmask.types import Mode, Outcome, Sampling, StepBudget, Verification


async def test_the_surest_is_taken_and_every_step_is_counted() -> None:
    """Without verifier and votes confidence decides; the others' steps are paid for too."""
    generate = Scripted([answer("하나", -0.5), answer("둘", -0.2), answer("셋", -0.3), answer("넷", -0.9)])
    found = await candidates(make_setting(generate))

    assert (found.best.generation.text, found.best.number) == ("둘", 1)
    assert found.best.score.verdict is Verification.SKIPPED
    assert (found.steps, len(found.generations), found.limit) == (16, 4, None)


async def test_a_pass_outranks_votes_and_votes_outrank_confidence() -> None:
    """Two that agree beat a surer one; one that passes beats both."""
    lines = [answer("가", -0.9), answer("나", -0.1), answer(" 가 ", -0.8), answer("다", -2.0)]
    agreed = await candidates(make_setting(Scripted(lines)))
    alone = await candidates(make_setting(Scripted(lines), votes=False))
    passed = await candidates(make_setting(Scripted(lines), check=lambda text: text == "다"))

    assert (agreed.best.generation.text, agreed.best.score.votes) == (" 가 ", 2)
    assert alone.best.generation.text == "나"
    assert passed.best.generation.text == "다"


async def test_the_first_is_the_request_and_the_others_are_drawn_anew() -> None:
    """Same messages and tenant, other seeds, warmer; exits and snapshots are the first's alone."""
    request = replace(
        REQUEST, sampling=Sampling(temperature=0.2, seed=-5), exit=make_plan(), snapshots=True, tenant="a"
    )
    generate, spare = Scripted([answer("가")]), ClassTerms(name="spare", weight=0.1)
    await candidates(make_setting(generate, request=request, width=3, spare=spare))
    first, *others = generate.requests

    assert (first.sampling, first.exit, first.snapshots, first.terms) == (
        request.sampling,
        request.exit,
        True,
        request.terms,
    )
    assert len({one.sampling.seed for one in generate.requests}) == 3
    for one in others:
        assert (one.sampling.temperature, one.exit, one.snapshots, one.terms) == (0.7, None, False, spare)
        assert (one.messages, one.tenant) == (request.messages, "a")


@pytest.mark.parametrize("total", [1, 3, 4, 5, 9, 15, 16])
async def test_the_total_is_never_exceeded(total: int) -> None:
    """Candidates wait for one another's steps, and the last has what is left."""
    generate = Scripted([answer("가")])
    found = await candidates(make_setting(generate, max_total_steps=total))
    assert found.steps <= total
    assert found.steps == sum(one.usage.steps_used for one in found.generations)
    assert generate.most_open == max(1, total // 4)
    assert sum(request.budget.max_total_steps or 0 for request in generate.requests if request.budget) == total


async def test_each_may_take_what_the_request_may_take_without_a_search() -> None:
    """Where canvases end on a grid the first may be shorter, so that there is one more than tokens alone say."""
    generate = Scripted([answer("가")])
    await candidates(make_setting(generate, model=make_model(on_grid=True), width=2))

    assert [request.budget for request in generate.requests] == [StepBudget(max_steps=4, max_total_steps=8)] * 2


async def test_steps_that_one_saves_let_another_begin() -> None:
    """A candidate that converges early returns what was held for it."""
    generate = Scripted([answer("가")], steps=1)
    found = await candidates(make_setting(generate, max_total_steps=8))
    assert (found.steps, len(generate.requests), generate.most_open) == (4, 4, 2)


async def test_candidates_that_are_lost_halfway_are_said_and_paid() -> None:
    """One the queue refuses, one that fails, one that the server aborts: the fourth is the answer."""
    failed = make_generation("", outcome=Outcome.FAILED, error="not numbers")
    aborted = make_generation("", outcome=Outcome.ABORTED)
    generate = Scripted([QueueFullError("full"), failed, aborted, answer("넷")])
    found = await candidates(make_setting(generate))

    assert (found.best.generation.text, found.best.number) == ("넷", 3)
    assert found.steps == 12
    assert len(found.notes) == 3


async def test_without_any_candidate_the_first_error_is_raised() -> None:
    """There is nothing to answer with."""
    with pytest.raises(QueueFullError, match="full"):
        await candidates(make_setting(Scripted([QueueFullError("full")])))


async def test_those_behind_the_first_that_passes_are_dropped() -> None:
    """One before it goes on, so that which is taken does not depend on which is quicker; what was dropped is paid."""
    gate = asyncio.Event()
    generate = Scripted([gate, answer("그렇다"), None, None])
    setting = make_setting(generate, check=lambda text: text.startswith("그"), stops_at_pass=True)
    search = asyncio.ensure_future(candidates(setting))
    await until(lambda: generate.aborted == 2)
    assert not search.done()
    gate.set()
    found = await search

    assert (found.best.generation.text, found.best.number) == ("그러하다", 0)
    assert found.steps == 4 + 4 + 1 + 1


@pytest.mark.parametrize("pressing", ["deadline", "pressed"])
async def test_what_runs_is_dropped_once_there_is_an_answer(pressing: str, caplog: pytest.LogCaptureFixture) -> None:
    """At the deadline, or where the machine has no room; the answer is the best so far, and no log warns of it."""
    clock, room = ManualClock(), Room()

    async def generate(request: object) -> object:
        if len(script.requests) == 3:
            clock.advance(5.0) if pressing == "deadline" else room.leave(None, is_pressed=True)
        return await script(request)  # type: ignore[arg-type]

    script = Scripted([answer("하나"), None, None, None])
    setting = make_setting(script, clock=clock, deadline=4.0, room=room)
    found = await candidates(replace(setting, generate=generate))  # type: ignore[arg-type]

    assert found.best.generation.text == "하나"
    assert (script.aborted, script.open) == (3, 0)
    assert found.steps == 4 + 3
    assert found.limit is (Limit.DEADLINE if pressing == "deadline" else Limit.PRESSED)
    assert "dropped" in found.notes[0]
    assert not caplog.records


async def test_without_an_answer_the_first_runs_on() -> None:
    """A deadline that is over drops the others only."""
    gate, clock = asyncio.Event(), ManualClock()
    script = Scripted([gate, None, None, None])
    setting = make_setting(script, clock=clock, deadline=0.02)
    search = asyncio.ensure_future(candidates(setting))
    await until(lambda: script.open == 4)
    clock.advance(1.0)
    await until(lambda: script.aborted == 3)
    gate.set()
    found = await search

    assert (found.best.generation.text, found.best.number) == ("그러하다", 0)
    assert found.limit is Limit.DEADLINE


@pytest.mark.parametrize("most", [4, 2, 1])
async def test_a_room_that_shrinks_costs_the_spare_candidates_beyond_it(most: int) -> None:
    """The last of those that run, halfway; those within it go on, and one that has ended is one of them."""
    room, gate = Room(), asyncio.Event()
    script = Scripted([gate, answer("하나"), gate, gate, None, None, None, None])
    search = asyncio.ensure_future(candidates(make_setting(script, width=8, room=room)))
    await until(lambda: script.open == 7)
    room.leave(most)
    await until(lambda: script.aborted == 8 - most)
    assert script.open == most - 1
    room.leave(None)
    gate.set()
    found = await search

    assert len(found.answers) == most
    assert [one.number for one in found.answers] == {4: [0, 1, 2, 3], 2: [0, 1], 1: [1]}[most]
    assert (found.limit, found.dropped) == (Limit.NARROWED, 8 - most)
    assert found.steps == 4 * most + 8 - most


async def test_a_room_of_one_keeps_the_run_that_the_answer_waits_for() -> None:
    """Nothing has ended yet, so the first goes on."""
    room, gate = Room(), asyncio.Event()
    script = Scripted([gate, None, None, None])
    search = asyncio.ensure_future(candidates(make_setting(script, room=room)))
    await until(lambda: script.open == 4)
    room.leave(1)
    await until(lambda: script.aborted == 3)
    gate.set()

    assert [one.number for one in (await search).answers] == [0]


async def test_candidates_that_wait_for_steps_are_not_begun_in_a_smaller_room() -> None:
    """They are the first to go, since nothing has been spent on them."""
    room, gate = Room(), asyncio.Event()
    script = Scripted([gate, gate, None], steps=2)
    search = asyncio.ensure_future(candidates(make_setting(script, width=4, max_total_steps=8, room=room)))
    await until(lambda: script.open == 2)
    room.leave(2)
    gate.set()
    found = await search

    assert (len(script.requests), script.aborted) == (2, 0)
    assert (found.limit, found.dropped) == (Limit.NARROWED, 2)


async def test_a_room_that_is_large_enough_changes_nothing() -> None:
    """Nor does one that grows: what was admitted as so wide is never wider."""
    room = Room()
    room.leave(4)
    script = Scripted([answer("하나")])
    found = await candidates(make_setting(script, width=4, room=room))
    room.leave(None)

    assert (len(script.requests), found.limit, found.dropped) == (4, None, 0)


async def test_candidates_of_a_speculative_request_are_drawn_token_by_token() -> None:
    """Drafts are verified against the likeliest tokens, so an engine refuses to draw with them."""
    script = Scripted([answer("하나")])
    await candidates(make_setting(script, width=2, request=replace(REQUEST, mode=Mode.SPECULATIVE)))

    assert [(one.mode, one.canvas_length) for one in script.requests] == [
        (Mode.SPECULATIVE, 8),
        (Mode.AUTOREGRESSIVE, None),
    ]


async def test_cancelling_aborts_every_candidate() -> None:
    """Nothing goes on behind a caller who has left."""
    script = Scripted([None])
    search = asyncio.ensure_future(candidates(make_setting(script)))
    await until(lambda: script.open == 4)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert (script.open, script.aborted) == (0, 4)
