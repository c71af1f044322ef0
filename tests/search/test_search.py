"""A search by its plan."""

import pytest

from tests.search.engines import ASKED, engine
from tests.search.fakes import Scripted, answer, make_setting
from unmask.errors import InvalidRequestError
from unmask.search.plan import SearchPlan
from unmask.search.search import search
from unmask.service import SearchMethod
from unmask.testing.builders import make_generation, make_model
from unmask.types import Verification


@pytest.mark.parametrize("width", [0, 1_000])
async def test_a_width_that_is_not_allowed_runs_nothing(width: int) -> None:
    """It is refused before a step is taken."""
    generate = Scripted([answer("가")])
    with pytest.raises(InvalidRequestError, match="1 to 16"):
        await search(make_setting(generate, width=width))
    assert generate.requests == []


async def test_none_runs_the_request_once() -> None:
    """Whatever the width."""
    generate = Scripted([answer("가")])
    await search(make_setting(generate, method=SearchMethod.NONE))
    assert len(generate.requests) == 1


async def test_a_backend_that_tells_nothing_has_candidates_vote() -> None:
    """Neither verifier, log-probabilities nor budgets: what two say beats what one says; no lever is pulled."""
    texts = ["하나", "둘", "둘", "셋"]
    generate = Scripted([make_generation(text) for text in texts])
    model = make_model(levers=())
    found = await search(make_setting(generate, model=model))
    assert found.best.generation.text == "둘"
    assert found.best.score.verdict is Verification.SKIPPED
    assert all((one.budget, one.top_logprobs, one.trace) == (None, None, False) for one in generate.requests)


@pytest.mark.parametrize(
    "method", [SearchMethod.CANDIDATES, SearchMethod.BREADTH, SearchMethod.DEPTH, SearchMethod.ROLLOVER]
)
async def test_every_method_keeps_to_its_steps_on_the_engine(method: SearchMethod) -> None:
    """Width times the request's own; no mask is left in what it answers; and twice the same."""
    plan = SearchPlan(method=method, width=3, threshold=-0.01, drafts=method is SearchMethod.CANDIDATES)
    async with engine() as run:
        one, two = [await search(run.setting(plan, check=lambda text: "한" in text)) for _ in range(2)]
        assert one.best.generation.text == two.best.generation.text
        assert one.steps == sum(entry.usage.steps_used for entry in one.generations) <= 36
        assert 0 not in one.best.generation.tokens
        assert ASKED.budget is not None
        assert all(entry.usage.steps_used <= ASKED.budget.max_steps * 3 for entry in one.generations)
