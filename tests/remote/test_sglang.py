"""Behaviour in front of SGLang, whose steps are a setting of its servers: budgets choose among pools of them."""

from typing import Any

import pytest

from tests.remote.engines import CAREFUL, POOLS, QUICK, sglang_behind
from tests.remote.remotes import make_request
from unmask.backend import Generation, Lever, ModelInfo, Request
from unmask.errors import InvalidRequestError
from unmask.remote.allowance import pool_of
from unmask.remote.engines import PoolSettings
from unmask.remote.errors import CircuitOpenError, UnsupportedByUpstreamError, UpstreamFailedError
from unmask.remote.settings import Breaking
from unmask.testing.builders import make_model
from unmask.testing.fake_engines import sglang
from unmask.testing.fake_upstream import answering
from unmask.types import Bucket, ExitReason, Sampling, StepBudget

MODEL: ModelInfo = make_model("far", max_steps=32, default_steps=32, default_canvas_length=32)


async def served(request: Request) -> tuple[Generation, list[int]]:
    """Return an answer, and how many requests each pool has had."""
    async with sglang_behind(sglang, second=(sglang,)) as far:
        generation = await far.backend.generate(request)
        return generation, [len(one.exchanges) for one in far.upstreams]


@pytest.mark.parametrize(
    ("changes", "pool"),
    [
        ({}, CAREFUL),
        ({"budget": StepBudget(max_steps=32)}, CAREFUL),
        ({"budget": StepBudget(max_steps=8)}, QUICK),
        ({"budget": StepBudget(max_steps=31)}, QUICK),
        ({"budget": StepBudget(max_steps=32), "bucket": Bucket.S}, QUICK),
        ({"budget": StepBudget(max_steps=9), "bucket": Bucket.L}, QUICK),
        ({"budget": StepBudget(max_steps=32), "bucket": Bucket.M}, CAREFUL),
        ({"budget": StepBudget(max_steps=32, max_total_steps=63)}, QUICK),
        ({"budget": StepBudget(max_steps=32, max_total_steps=64)}, CAREFUL),
    ],
)
def test_budgets_choose_the_pool(changes: dict[str, Any], pool: PoolSettings) -> None:
    """The bucket's pool, or else the largest, of those that keep the cap of a canvas and the total's share."""
    assert pool_of(make_request(**changes), MODEL, POOLS, 64) is pool


@pytest.mark.parametrize(
    ("budget", "param"),
    [
        (StepBudget(max_steps=7), "diffusion.max_steps"),
        (StepBudget(max_steps=32, max_total_steps=15), "diffusion.max_total_steps"),
    ],
)
def test_budget_that_no_pool_keeps_is_refused(budget: StepBudget, param: str) -> None:
    """The refusal names what is too small, and lists the steps that there are."""
    with pytest.raises(InvalidRequestError, match="8, 32") as caught:
        pool_of(make_request(budget=budget), MODEL, POOLS, 64)

    assert caught.value.param == param


@pytest.mark.parametrize(
    ("changes", "asked", "bucket", "allowed"),
    [
        ({"budget": StepBudget(max_steps=32), "bucket": Bucket.L}, [0, 1], Bucket.L, 32),
        ({"budget": StepBudget(max_steps=16), "bucket": Bucket.L}, [1, 0], Bucket.S, 8),
        ({"budget": StepBudget(max_steps=8)}, [1, 0], Bucket.S, 8),
    ],
)
async def test_the_pool_that_fits_is_asked(
    changes: dict[str, Any], asked: list[int], bucket: Bucket, allowed: int
) -> None:
    """No other pool hears of it; what the budget was rounded to is told, and steps stay unknown."""
    generation, counts = await served(make_request(**changes))
    usage = generation.usage

    assert (counts, generation.bucket, generation.text) == (asked, bucket, "답은 42")
    assert (usage.steps_known, usage.steps_estimated, usage.steps_used) == (False, False, 0)
    assert (usage.steps_allocated, usage.most_steps, usage.exit_reason) == (allowed, allowed, ExitReason.CONVERGED)


async def test_what_it_would_refuse_is_not_sent() -> None:
    """Neither seed nor sampling go out, nor anything about steps."""
    async with sglang_behind(sglang) as far:
        await far.backend.generate(make_request(sampling=Sampling(seed=5)))
        body = far.upstreams[0].exchanges[0].json

    assert set(body) == {"model", "messages", "max_tokens", "stream", "stream_options"}


@pytest.mark.parametrize(
    ("param", "changes"),
    [
        ("temperature", {"sampling": Sampling(temperature=0.7)}),
        ("top_p", {"sampling": Sampling(top_p=0.9)}),
        ("diffusion.canvas_length", {"canvas_length": 16}),
        ("diffusion.max_steps", {"budget": StepBudget(max_steps=33)}),
        ("logprobs", {"top_logprobs": 1}),
    ],
)
async def test_what_it_cannot_do_is_refused(param: str, changes: dict[str, Any]) -> None:
    """Some of it SGLang takes and does not heed."""
    async with sglang_behind(sglang) as far:
        with pytest.raises(InvalidRequestError) as caught:
            await far.backend.generate(make_request(**changes))

        assert (caught.value.param, far.asked) == (param, 0)
    assert isinstance(caught.value, UnsupportedByUpstreamError) is (param in {"temperature", "top_p", "logprobs"})


async def test_a_pool_that_fails_is_not_replaced_by_another() -> None:
    """Other pools have other steps: the request fails, and those for other pools are served."""
    async with sglang_behind(answering(500), second=(sglang,), breaking=Breaking(failures=1)) as far:
        for error in (UpstreamFailedError, CircuitOpenError):
            with pytest.raises(error):
                await far.backend.generate(make_request(budget=StepBudget(max_steps=8)))
        generation = await far.backend.generate(make_request())

        assert (generation.text, len(far.upstreams[1].exchanges)) == ("답은 42", 1)
        (problem,) = far.backend.problems()
        assert problem.startswith("no upstream of far in pool up1 is well: upstream up1 has failed 1 times")


async def test_servers_of_all_pools_are_told_of() -> None:
    """Each with the requests that went there."""
    async with sglang_behind(sglang, second=(sglang,)) as far:
        for steps in (8, 32, 32):
            await far.backend.generate(make_request(budget=StepBudget(max_steps=steps)))
        ((quick, careful),) = (load.replicas for load in far.backend.load())

    assert [sum(count for _, count in one.decisions) for one in (quick, careful)] == [1, 2]


async def test_model_says_its_budgets() -> None:
    """Steps are those of the largest pool; canvases cannot be chosen."""
    async with sglang_behind(sglang, second=(sglang,)) as far:
        (info,) = far.backend.models()

    assert (info.max_steps, info.default_steps, info.default_canvas_length, info.canvas_lengths) == (32, 32, 32, ())
    assert info.levers == (Lever.BUDGET,)
