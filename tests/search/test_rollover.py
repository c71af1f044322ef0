"""Quotas of steps, what rolls over, and what is forced into the last choice."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.engines import engine
from unmask.backend import Generation, Request
from unmask.search.plan import SearchPlan
from unmask.search.rollover import quotas, rollover
from unmask.search.room import Room
from unmask.search.running import Limit
from unmask.search.search import search
from unmask.service import SearchMethod

PLAN = SearchPlan(method=SearchMethod.ROLLOVER, width=3, votes=False)


def draws(ran: list[tuple[object, object]]) -> list[int]:
    """Return how many draws each canvas had."""
    befores = [0 if request.draft is None else len(request.draft.before) for request, _ in ran]  # type: ignore[attr-defined]
    return [befores.count(place) for place in sorted(set(befores))]


async def test_a_canvas_that_is_accepted_rolls_its_steps_on() -> None:
    """With a threshold that everything clears, all that is spare is forced into the last canvas."""
    async with engine() as run:
        found = await rollover(run.setting(replace(PLAN, threshold=-100.0)))
        *earlier, last = draws(run.ran)  # type: ignore[arg-type]
        assert earlier == [1] * len(earlier)
        # Three draws are the last canvas's own, and more have rolled up.
        assert last > 3
        assert len(found.answers) == last
        assert found.steps == sum(generation.usage.steps_used for _, generation in run.ran) <= 36


async def test_a_canvas_that_is_not_spends_its_quota() -> None:
    """And the best of its draws stands: the next canvas is written behind it."""
    async with engine() as run:
        found = await rollover(run.setting(replace(PLAN, threshold=-1e-9)))
        assert draws(run.ran)[0] == 3  # type: ignore[arg-type]
        assert found.steps <= 36
        first = [generation for request, generation in run.ran if request.draft is None]
        sure = max(first, key=lambda one: sum(token.chosen.logprob for token in one.logprobs) / len(one.logprobs))
        behind = [request.draft for request, _ in run.ran if request.draft is not None]
        assert behind
        assert behind[0].before == sure.tokens


async def test_a_smaller_room_leaves_less_of_every_quota() -> None:
    """A third of the width pays for a draw of each canvas; what the first has had by then it has had."""
    room = Room()
    async with engine() as run:

        async def generate(request: Request) -> Generation:
            found = await run(request)
            room.leave(1)
            return found

        setting = run.setting(replace(PLAN, threshold=-1e-9), room=room)
        found = await rollover(replace(setting, generate=generate))
        assert set(draws(run.ran)) == {1}  # type: ignore[arg-type]
        assert found.limit is Limit.NARROWED
        assert found.best.generation.tokens


async def test_weights_say_where_steps_go() -> None:
    """A canvas of more weight has more draws."""
    async with engine() as run:
        await rollover(run.setting(replace(PLAN, threshold=-1e-9, weights=(6.0, 1.0, 1.0))))
        even = draws(run.ran)  # type: ignore[arg-type]
        assert even[0] > 3
        assert even[0] > even[1]


@pytest.mark.parametrize("total", [1, 4, 7, 12, 13, 30])
async def test_the_total_is_hard(total: int) -> None:
    """And there is an answer, cut where it is too small for one."""
    async with engine() as run:
        found = await rollover(run.setting(replace(PLAN, threshold=-0.001, max_total_steps=total)))
        assert found.steps <= total
        assert found.best.generation.tokens


@pytest.mark.parametrize("method", list(SearchMethod))
async def test_width_one_is_the_request_itself(method: SearchMethod) -> None:
    """One run, the same text."""
    async with engine() as run:
        setting = run.setting(SearchPlan(method=method, width=1, threshold=-0.1))
        plain = await run(setting.request)
        found = await search(setting)
        assert found.best.generation.text == plain.text
        assert len(run.ran) == 2


@given(st.integers(1, 500), st.integers(1, 12), st.lists(st.floats(0.1, 10), max_size=14))
def test_quotas_sum_to_the_total(total: int, canvases: int, weights: list[float]) -> None:
    """Whatever the weights."""
    found = quotas(total, canvases, tuple(weights))
    assert sum(found) == total
    assert len(found) == canvases
    assert min(found) >= 0
