"""Breadth-first search: stopping and going on, who has children, and an answer whatever happens."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.engines import ASKED, engine
from tests.search.fakes import Scripted, make_setting
from unmask.backend import Generation, Request
from unmask.errors import QueueFullError
from unmask.search.breadth import _Breadth, breadth, shared_out, softmax
from unmask.search.path import Path, extended
from unmask.search.plan import BreadthPlan, Children, SearchPlan
from unmask.search.requests import after, capped
from unmask.search.room import Room
from unmask.search.running import Limit
from unmask.service import SearchMethod
from unmask.types import ExitReason, FinishReason, StepBudget

LENGTH = 32


@pytest.mark.parametrize("every", [2, 3, 5])
async def test_a_run_that_is_stopped_goes_on_as_if_it_had_not_been(every: int) -> None:
    """Quotas are those of the whole schedule, and no step is lost: same tokens, same number of steps."""
    whole = replace(ASKED, max_tokens=LENGTH, canvas_length=LENGTH, budget=StepBudget(max_steps=12), trace=True)
    async with engine() as run:
        expected = await run(whole)
        path = Path()
        while not path.ended:
            left = 12 - path.taken
            part = capped(path.request(whole), left)
            generation = await run(replace(part, exit=after(every) if every < left else None))
            path = extended(path, generation, max_tokens=LENGTH, window=whole.strategy.effective_window)
            if path.is_open:
                assert generation.usage.exit_reason is ExitReason.EARLY_EXIT
                fixed = expected.trace[path.taken - 1].fixed
                assert tuple(placed is not None for placed in path.canvases[-1]) == fixed

        assert path.generation is not None
        assert path.generation.tokens == expected.tokens
        assert path.steps == expected.usage.steps_used


async def test_a_run_of_k_steps_alone_is_in_a_hurry() -> None:
    """What the docstring says of `max_steps` = k: it reveals in each step what the whole run takes several for."""
    whole = replace(ASKED, max_tokens=LENGTH, canvas_length=LENGTH, budget=StepBudget(max_steps=16), trace=True)
    async with engine() as run:
        calm, hasty = await run(whole), await run(capped(whole, 4))
        assert sum(hasty.trace[0].fixed) >= 2 * sum(calm.trace[0].fixed)


@pytest.mark.parametrize("every", [None, 2])
@pytest.mark.parametrize("children", list(Children))
async def test_every_step_is_counted_within_the_total(every: int | None, children: Children) -> None:
    """Whatever is looked at when, and the best answer is the one of the highest score."""
    plan = SearchPlan(
        method=SearchMethod.BREADTH, width=3, breadth=BreadthPlan(every=every, children=children), votes=False
    )
    async with engine() as run:
        found = await breadth(run.setting(plan))
        assert found.steps == sum(generation.usage.steps_used for _, generation in run.ran) <= 3 * 12
        assert found.best.score.confidence == max(one.score.confidence or -9.0 for one in found.answers)
        assert 1 <= len(found.answers) <= 3
        again = await breadth(run.setting(plan))
        assert [one.generation.text for one in again.answers] == [one.generation.text for one in found.answers]


@pytest.mark.parametrize("total", [1, 5, 12, 13, 17, 25])
async def test_with_few_steps_there_are_few_paths_and_still_an_answer(total: int) -> None:
    """One path has at least what the request alone would have."""
    async with engine() as run:
        found = await breadth(run.setting(SearchPlan(method=SearchMethod.BREADTH, width=4, max_total_steps=total)))
        assert found.steps <= total
        best = found.best.generation
        assert best.tokens
        assert found.limit is Limit.MAX_TOTAL_STEPS
        assert found.dropped > 0
        if total >= 12:
            assert best.finish_reason is FinishReason.STOP or len(best.tokens) == 24


async def test_a_search_that_is_over_runs_the_likeliest_path_to_its_end() -> None:
    """The other paths are dropped, and what they took is counted."""
    room = Room()
    async with engine() as run:

        async def generate(request: Request) -> Generation:
            found = await run(request)
            if len(run.ran) == 3:
                room.leave(None, is_pressed=True)
            return found

        setting = run.setting(SearchPlan(method=SearchMethod.BREADTH, width=3), room=room)
        found = await breadth(replace(setting, generate=generate))
        assert found.limit is Limit.PRESSED
        assert len(run.ran) == 4
        assert len(found.answers) == 1
        assert len(found.best.generation.tokens) == 24 or found.best.generation.finish_reason == "stop"


async def test_paths_are_fewer_in_a_smaller_room() -> None:
    """From the next look on, whatever has become of the answers."""
    room = Room()
    async with engine() as run:

        async def generate(request: Request) -> Generation:
            found = await run(request)
            if len(run.ran) == 4:
                room.leave(2)
            return found

        setting = run.setting(SearchPlan(method=SearchMethod.BREADTH, width=4), room=room)
        found = await breadth(replace(setting, generate=generate))
        befores = [0 if request.draft is None else len(request.draft.before) for request, _ in run.ran]
        assert max(befores.count(place) for place in set(befores) if place) == 2
        assert found.limit is Limit.NARROWED
        assert found.dropped > 0


async def test_a_path_that_is_lost_is_missed_by_nobody() -> None:
    """The others have its children; without any the error is raised."""
    async with engine() as run:
        count = 0

        async def generate(request: Request) -> Generation:
            nonlocal count
            count += 1
            if count in {2, 3}:
                raise QueueFullError("가득 참")
            return await run(request)

        setting = run.setting(SearchPlan(method=SearchMethod.BREADTH, width=3))
        found = await breadth(replace(setting, generate=generate))
        assert len(found.notes) == 2
        assert found.answers

        async def refuse(_: Request) -> Generation:
            raise QueueFullError("가득 참")

        with pytest.raises(QueueFullError):
            await breadth(replace(setting, generate=refuse))


def test_the_likeliest_path_comes_first_and_has_most_children() -> None:
    """What is given up where steps are few is the end of the row, and a prune leaves out who would have no child."""
    paths = [Path(confidence=value) for value in (-0.5, -0.1, -0.2)]
    resampled = SearchPlan(method=SearchMethod.BREADTH, width=4)
    pruned = replace(resampled, breadth=BreadthPlan(children=Children.PRUNE))
    children = [
        [child.confidence for child in _Breadth(make_setting(Scripted([]), plan=plan))._children(list(paths))]
        for plan in (resampled, pruned)
    ]
    assert children == [[-0.1, -0.1, -0.1, -0.2], [-0.1, -0.2]]


@given(st.integers(1, 16), st.lists(st.floats(-30, 0), min_size=1, max_size=16))
def test_shares_are_whole_and_fair(count: int, values: list[float]) -> None:
    """They sum to the count, each within one of its due, a likelier path never having fewer."""
    weights = softmax(values)
    shares = shared_out(count, weights)
    assert math.isclose(sum(weights), 1.0)
    assert sum(shares) == count
    assert all(abs(share - count * weight) < 1 + 1e-9 for share, weight in zip(shares, weights, strict=True))
    ranked = sorted(zip(weights, shares, strict=True))
    assert all(lower[1] <= upper[1] for lower, upper in pairwise(ranked) if lower[0] < upper[0])
