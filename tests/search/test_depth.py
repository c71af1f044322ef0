"""Steps back: what is taken back, what stands, and when it is enough."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.search.engines import ASKED, engine
from unmask.backend import Generation, Request
from unmask.search.depth import depth
from unmask.search.path import Path, Placed, extended, taken_back
from unmask.search.plan import DepthPlan, SearchPlan
from unmask.search.requests import after
from unmask.search.room import Room
from unmask.search.running import Limit
from unmask.service import SearchMethod
from unmask.testing.builders import make_generation
from unmask.types import ExitReason, FinishReason, Sampling, Verification

PLAN = SearchPlan(method=SearchMethod.DEPTH, width=4, depth=DepthPlan(back=1), threshold=-0.001)


def stands(request: Request) -> list[tuple[int, int]]:
    """Return the positions that a request's draft holds, over all canvases, with their tokens."""
    assert request.draft is not None
    held = [*request.draft.before, *request.draft.tokens]
    return [(place, token) for place, token in enumerate(held) if token is not None]


async def test_what_earlier_steps_have_fixed_stands() -> None:
    """Every further run keeps the tokens of its draft, and is begun from the best answer seen."""
    async with engine() as run:
        found = await depth(run.setting(PLAN))

        assert len(run.ran) == 4
        for request, generation in run.ran[1:]:
            kept = stands(request)
            assert len(kept) < len(generation.tokens) or len(generation.tokens) < 24
            assert all(generation.tokens[place] == token for place, token in kept if place < len(generation.tokens))
        assert found.steps == sum(generation.usage.steps_used for _, generation in run.ran)
        assert found.best.score.confidence == max(one.score.confidence or 0.0 for one in found.answers)


async def test_every_step_back_is_from_the_best_answer_seen() -> None:
    """Twice as far each time that nothing better comes of it."""
    async with engine() as run:
        # A warm first draw leaves something to be better than.
        warm = replace(ASKED, sampling=Sampling(temperature=1.0, seed=3))
        setting = run.setting(replace(PLAN, width=12), request=warm)
        await depth(setting)

        best, back, fates = Path(), 1, []
        for number, (request, generation) in enumerate(run.ran):
            start = Path() if number == 0 else taken_back(best, back)
            assert request.draft == start.request(ASKED).draft
            found = extended(start, generation, max_tokens=setting.max_tokens, window=5)
            is_better = number == 0 or found.confidence > best.confidence
            fates.append(is_better)
            best, back = (found, 1) if is_better else (best, 2 * back)
        # Something better has come of a step back that was not the last, and nothing better of another.
        assert set(fates[1:-1]) == {True, False}


async def test_an_answer_that_is_good_enough_is_the_last() -> None:
    """What passes the verifier ends the search where no threshold asks for more; width bounds it otherwise."""
    async with engine() as run:
        seen: list[str] = []

        def check(text: str) -> bool:
            if text not in seen:
                seen.append(text)
            return seen.index(text) >= 2

        plan = SearchPlan(method=SearchMethod.DEPTH, width=8, depth=DepthPlan(back=2))
        found = await depth(run.setting(plan, check=check))
        assert found.best.score.verdict is Verification.PASS
        assert len(seen) == 3


async def test_a_smaller_room_has_fewer_steps_back() -> None:
    """The best so far is the answer."""
    room = Room()
    async with engine() as run:

        async def generate(request: Request) -> Generation:
            found = await run(request)
            if len(run.ran) == 2:
                room.leave(2)
            return found

        found = await depth(replace(run.setting(PLAN, room=room), generate=generate))
        assert len(run.ran) == 2
        assert (len(found.answers), found.limit) == (2, Limit.NARROWED)


@pytest.mark.parametrize("total", [12, 13, 20])
async def test_steps_back_end_with_the_total(total: int) -> None:
    """The answer is the best until then."""
    async with engine() as run:
        plan = SearchPlan(method=SearchMethod.DEPTH, width=8, threshold=-0.001, max_total_steps=total)
        found = await depth(run.setting(plan))
        assert found.steps <= total


async def test_the_same_request_is_searched_the_same_way() -> None:
    """Seeds reproduce."""
    async with engine() as run:
        one, two = [await depth(run.setting(PLAN)) for _ in range(2)]
        assert [a.generation.text for a in one.answers] == [a.generation.text for a in two.answers]
        assert len({a.generation.text for a in one.answers}) > 1


def placed(token: int, logprob: float, step: int) -> Placed:
    """Return a token that stands."""
    return Placed(token=token, logprob=logprob, step=step)


def test_the_canvas_of_the_least_sure_token_loses_its_last_steps() -> None:
    """Those behind it go, those before it stay, and a step whose tokens are gone is none."""
    first = (placed(10, -0.1, 0), placed(11, -2.0, 3), placed(12, -0.1, 1))
    second = (placed(20, -0.2, 5), placed(21, -0.3, 4), placed(22, -5.0, 5))
    path = Path(canvases=(first, second), steps=6, ended=True, generation=make_generation(tokens=(1,) * 5))

    assert taken_back(path, 1).canvases == ((placed(10, -0.1, 0), None, placed(12, -0.1, 1)),)
    assert taken_back(path, 2).canvases == ((placed(10, -0.1, 0), None, None),)
    assert taken_back(path, 9).canvases == ((None, None, None),)


async def test_a_trace_says_who_fixed_what() -> None:
    """Each token is placed by one of its canvas's steps; all steps of all canvases are numbered in one row."""
    async with engine() as run:
        setting = run.setting(PLAN)
        generation = await run(Path().request(ASKED))
        path = extended(Path(), generation, max_tokens=setting.max_tokens, window=5)

        assert path.steps == generation.usage.steps_used
        flat = [one for canvas in path.canvases for one in canvas if one is not None]
        assert tuple(one.token for one in flat)[: len(generation.tokens)] == generation.tokens
        assert {one.step for one in flat} == set(range(path.steps))
        assert path.ended
        assert not path.is_open


async def test_a_run_that_cannot_pass_any_more_ends_there() -> None:
    """What stands is looked at every few steps; a refuted run is no answer, and its further steps are not taken."""
    async with engine() as run:
        seen: list[str] = []

        def refutes(beginning: str) -> bool:
            seen.append(beginning)
            return len(seen) == 1

        plan = SearchPlan(method=SearchMethod.DEPTH, width=3, depth=DepthPlan(every=2))
        found = await depth(run.setting(plan, check=lambda text: True, refutes=refutes))

        assert [answer.number for answer in found.answers] == [1]
        first, second = run.ran[0][1], run.ran[1][0]
        assert first.usage.exit_reason is ExitReason.EARLY_EXIT
        assert first.usage.steps_used == 2
        assert second.draft is None
        assert found.best.generation.text.startswith(seen[-1])
        assert found.steps == sum(generation.usage.steps_used for _, generation in run.ran)


@given(fates=st.lists(st.booleans(), min_size=1, max_size=40), width=st.integers(2, 5), total=st.integers(1, 60))
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_there_is_an_answer_whatever_is_refuted(fates: list[bool], width: int, total: int) -> None:
    """The last run that may be begun is an answer, even where all are refuted; the total holds."""
    async with engine() as run:
        told = iter(fates)
        plan = SearchPlan(method=SearchMethod.DEPTH, width=width, depth=DepthPlan(every=2), max_total_steps=total)
        setting = run.setting(plan, check=lambda text: False, refutes=lambda text: next(told, True))
        found = await depth(setting)
        assert found.answers
        assert found.steps <= total


async def test_a_first_run_with_an_exit_of_its_own_runs_as_asked() -> None:
    """Looks would take the place of the exit that the request has."""
    async with engine() as run:
        plan = SearchPlan(method=SearchMethod.DEPTH, width=2, depth=DepthPlan(every=2))
        asked = replace(ASKED, exit=after(3))
        await depth(run.setting(plan, request=asked, check=lambda text: True, refutes=lambda text: True))
        assert [request.exit for request, _ in run.ran] == [asked.exit]


ENDED = replace(ASKED, stop=("a",), sampling=Sampling(temperature=1.0, seed=0))
"""A request whose drafts are whole answers from the start: the small model knows no end, but its texts have an a."""


async def test_a_whole_draft_that_passes_is_the_answer() -> None:
    """The run ends at the look, its further steps are not taken, and what is given is the draft, stop sequence cut."""
    async with engine() as run:
        plan = SearchPlan(method=SearchMethod.DEPTH, width=3, depth=DepthPlan(every=2))
        found = await depth(run.setting(plan, request=ENDED, check=lambda text: True, accepts_drafts=True))

        ((_, looked),) = run.ran
        assert (found.steps, looked.usage.steps_used) == (2, 2)
        assert found.best.generation is looked
        assert (looked.finish_reason, looked.usage.exit_reason) == (FinishReason.STOP, ExitReason.EARLY_EXIT)
        assert looked.text
        assert "a" not in looked.text
        assert found.best.score.verdict is Verification.PASS


@pytest.mark.parametrize(
    ("changes", "threshold"),
    [
        ({"check": lambda text: False, "accepts_drafts": True}, None),
        ({"check": lambda text: True, "refutes": lambda text: False}, None),
        ({"check": lambda text: True, "accepts_drafts": True}, -0.001),
        ({"check": lambda text: True, "accepts_drafts": True, "request": replace(ENDED, stop=())}, None),
    ],
    ids=["it fails", "only its form is judged", "it is not sure enough", "it is no whole answer"],
)
async def test_a_draft_that_is_not_good_enough_goes_on(changes: dict[str, Any], threshold: float | None) -> None:
    """It is denoised to its end, as without looks."""
    async with engine() as run:
        plan = SearchPlan(method=SearchMethod.DEPTH, width=2, depth=DepthPlan(every=2), threshold=threshold)
        setting = run.setting(plan, **({"request": ENDED} | changes))
        found = await depth(setting)
        assert ASKED.budget is not None
        assert found.answers[0].generation.usage.exit_reason is not ExitReason.EARLY_EXIT
        assert found.steps == sum(generation.usage.steps_used for _, generation in run.ran) >= ASKED.budget.max_steps


@given(
    passing=st.sets(st.integers(0, 9)),
    refuted=st.sets(st.integers(0, 9)),
    width=st.integers(2, 5),
    total=st.integers(1, 40),
    seed=st.integers(0, 7),
)
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_is_accepted_passes_and_every_step_is_counted(
    passing: set[int], refuted: set[int], width: int, total: int, seed: int
) -> None:
    """Texts pass or are refuted at random; an accepted one is the last, and steps are those of all runs, within all."""
    async with engine() as run:

        def check(text: str) -> bool:
            return len(text.encode()) % 10 in passing

        plan = SearchPlan(method=SearchMethod.DEPTH, width=width, depth=DepthPlan(every=2), max_total_steps=total)
        request = replace(ENDED, sampling=Sampling(temperature=1.0, seed=seed))
        refutes = lambda text: len(text) % 10 in refuted  # noqa: E731
        found = await depth(run.setting(plan, request=request, check=check, refutes=refutes, accepts_drafts=True))

        assert found.steps == sum(generation.usage.steps_used for _, generation in run.ran) <= total
        *before, last = found.answers
        assert not any(check(answer.generation.text) for answer in before)
        if check(last.generation.text):
            assert found.best is last or found.best.generation.text == last.generation.text
            assert found.best.score.verdict is Verification.PASS
        if found.best.generation.usage.exit_reason is ExitReason.EARLY_EXIT:
            assert check(found.best.generation.text)
