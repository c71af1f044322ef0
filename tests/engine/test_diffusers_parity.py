"""Low confidence draws what `diffusers.BlockRefinementScheduler` draws, as far as their schedules agree.

Both reveal, each step, the larger of a quota of the surest positions and all
whose probability is strictly above a threshold. The quotas are the same until
a threshold has revealed more than its step's quota: the scheduler fixes them
beforehand (length // steps, one more in the first length % steps steps), and
we spread what is still open over the steps still left. So they agree on every
step without a threshold, and with one wherever each step's quota is a single
token or nothing was revealed beyond the quota; after that ours is the smaller,
and the canvas uses the steps it was given.

Our horizon plays no part here: the end token is forbidden, so no draft has one.
"""

from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.engine.dense import dense_logits
from tests.engine.strategies.handmade import revealed, sure, view
from unmask.engine.strategies.low_confidence import LowConfidence
from unmask.sched.settings import SchedSettings
from unmask.strategy import StrategyChoice
from unmask.testing.cores import make_core, make_engine, run_all
from unmask.testing.networks import TINY_ADAPTER, make_network
from unmask.testing.submissions import make_submission

NETWORK = make_network(seed=3)
ADAPTER = replace(TINY_ADAPTER, forbidden=(TINY_ADAPTER.mask, TINY_ADAPTER.end))
PROMPT = (11, 48, 7, 30, 22)
NEVER = 2.0


@pytest.fixture(name="scheduler", scope="module")
def _scheduler() -> Any:  # noqa: ANN401 - published without type information
    from diffusers.schedulers.scheduling_block_refinement import BlockRefinementScheduler

    return BlockRefinementScheduler()


def theirs(scheduler: Any, length: int, steps: int, threshold: float) -> tuple[list[int], int]:  # noqa: ANN401 - same
    """Return the canvas the scheduler makes of full forwards, and how many it took."""
    scheduler.set_timesteps(steps, block_length=length)
    canvas = torch.full((1, length), ADAPTER.mask)
    for step in range(steps):
        logits = dense_logits(NETWORK, PROMPT, canvas[0].tolist())[len(PROMPT) :].float()
        logits[:, list(ADAPTER.forbidden)] = float("-inf")
        canvas = scheduler.step(
            logits[None], step, canvas, mask_token_id=ADAPTER.mask, temperature=0.0, threshold=threshold
        ).prev_sample
        if not bool((canvas == ADAPTER.mask).any()):
            return canvas[0].tolist(), step + 1
    raise AssertionError("the schedule reveals every position")


def ours(length: int, steps: int, threshold: float | None) -> tuple[list[int], int]:
    """Return the canvas the engine makes of the same weights, and how many steps it took.

    The scheduler has no window, so there is none here.
    """
    settings = SchedSettings(pages=16, page_size=16)
    submission = make_submission(
        PROMPT,
        max_tokens=length,
        canvas_length=length,
        max_steps=steps,
        strategy=StrategyChoice(threshold=threshold, window=length),
    )
    core = make_core(make_engine(NETWORK, settings, ADAPTER), settings, adapter=ADAPTER)
    (sequence,) = run_all(core, [submission])
    return sequence.output, sequence.steps


@pytest.mark.parametrize("length", [8, 16, 32])
@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 13])
def test_quotas_alone_agree(scheduler: Any, length: int, steps: int) -> None:  # noqa: ANN401 - same
    """Without a threshold tokens and steps are the same, also where the steps do not divide the length."""
    assert ours(length, steps, None) == theirs(scheduler, length, steps, NEVER)


@pytest.mark.parametrize("length", [8, 16, 32])
@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.5, 0.9])
def test_thresholds_agree_where_a_quota_is_one_token(scheduler: Any, length: int, threshold: float) -> None:  # noqa: ANN401 - same
    """With as many steps as positions every quota is one, and the threshold alone tells how early it is over."""
    tokens, steps = ours(length, length, threshold)

    assert (tokens, steps) == theirs(scheduler, length, length, threshold)
    if threshold < 0.5:
        assert steps < length


def test_more_steps_than_positions_agree(scheduler: Any) -> None:  # noqa: ANN401 - same
    """With steps to spare both reveal one token a step and are over early."""
    assert ours(8, 20, None) == theirs(scheduler, 8, 20, NEVER)
    assert ours(8, 20, None)[1] == 8


def test_after_a_lucky_step_our_quota_is_the_smaller(scheduler: Any) -> None:  # noqa: ANN401 - same
    """Where a threshold has revealed more than a quota, what is left is spread over the steps that are left."""
    likely = [0.9, 0.9, 0.9, 0.9, 0.3, 0.3, 0.3, 0.3]
    scheduler.set_timesteps(4, block_length=8)
    logits = torch.zeros(1, 8, 2)
    logits[0, :, 1] = torch.tensor(likely).logit()
    logits[0, 4:, 0] = -logits[0, 4:, 1].clone()
    logits[0, 4:, 1] = 0.0
    their_canvas, their_steps = torch.full((1, 8), 7), 0
    while bool((their_canvas == 7).any()):
        their_canvas = scheduler.step(logits, their_steps, their_canvas, mask_token_id=7, threshold=0.8).prev_sample
        their_steps += 1

    our_canvas, our_steps = [0] * 8, 0
    while 0 in our_canvas:
        left = 4 - our_steps
        chosen = (
            [place for place in range(8) if our_canvas[place] == 0]
            if left == 1
            else revealed(
                LowConfidence(threshold=0.8).step(view(our_canvas, step=our_steps, steps_left=left), sure(likely), None)
            )
        )
        our_canvas = [9 if place in chosen else token for place, token in enumerate(our_canvas)]
        our_steps += 1

    assert (their_steps, our_steps) == (3, 4)
