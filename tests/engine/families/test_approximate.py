"""Approximate caches of families whose positions all see all: what they keep and run, and when they are exact."""

from dataclasses import replace

import pytest
import torch

from tests.engine.families.published import PAGE, Published, canvas_row
from unmask.core.core import Core
from unmask.engine.engine import Engine
from unmask.engine.families.runner import FamilyRunner
from unmask.plan import CanvasTask, Row
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.strategy import StrategyChoice
from unmask.testing.checkpoints import MASK
from unmask.testing.cores import make_core, run_all
from unmask.types import ApproximateCache, ApproximateKv, Outcome, StepBudget

PROMPT = tuple("날씨가 좋다".encode())
CANVAS, AHEAD = (MASK,) * 8, 5
TOLERANCE = 1e-5
KINDS = (ApproximateCache.PREFIX, ApproximateCache.DUAL)


@pytest.fixture(scope="module", params=("llada", "dream"))
def published(request: pytest.FixtureRequest) -> Published:
    """One family."""
    return Published.read(request.param)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> ApproximateCache:
    """One cache."""
    kind: ApproximateCache = request.param
    return kind


def step_row(canvas: tuple[int, ...], step: int) -> Row:
    """Return the row of a canvas's step: the first appends the prompt."""
    pages = tuple(range(-(-(len(PROMPT) + len(canvas) + AHEAD) // PAGE)))
    append, start = (PROMPT, 0) if step == 0 else ((), len(PROMPT))
    row = canvas_row(append, canvas, start=start, ahead=AHEAD)
    assert isinstance(row.task, CanvasTask)
    return replace(row, pages=pages, task=replace(row.task, step=step))


def core_over(
    published: Published, approximate: ApproximateKv, runner: FamilyRunner | None = None, **changes: object
) -> Core:
    """Return a core that runs a family with a cache."""
    adapter = published.adapter
    settings = SchedSettings(pages=128, page_size=PAGE, prefix_cache=False, **changes)  # type: ignore[arg-type]
    engine = Engine(runner or published.runner(pages=128, approximate=approximate), adapter)
    return make_core(engine, settings, adapter=adapter, token_bytes=lambda token: bytes([token % 256]))


def asked(published: Published, prompt: tuple[int, ...] = PROMPT, *, max_tokens: int = 20) -> Submission:
    """Return a request of several canvases."""
    return Submission(
        prompt=prompt,
        max_tokens=max_tokens,
        canvas_length=8,
        context_length=published.description.shape.context_length,
        budget=StepBudget(max_steps=6, max_total_steps=60),
        strategy=StrategyChoice(window=8),
    )


def generated(published: Published, approximate: ApproximateKv) -> Sequence:
    """Return what a cache's core answers."""
    (sequence,) = run_all(core_over(published, approximate), [asked(published)])
    assert sequence.outcome is Outcome.COMPLETED
    return sequence


def test_computed_anew_at_every_step_answers_are_exact(published: Published, kind: ApproximateCache) -> None:
    """With a refresh of 1 tokens and steps are those of a core without a cache."""
    exact = generated(published, ApproximateKv())
    approximate = generated(published, ApproximateKv(cache=kind, refresh=1))

    assert approximate.output == exact.output
    assert approximate.steps == exact.steps


def test_a_canvas_that_has_not_changed_has_its_logits_again(published: Published, kind: ApproximateCache) -> None:
    """What is kept is what a full forward computes: until something changes, steps on it are exact."""
    runner = published.runner(approximate=ApproximateKv(cache=kind))
    first = runner.forward([step_row(CANVAS, 0)])

    torch.testing.assert_close(runner.forward([step_row(CANVAS, 1)]), first, atol=TOLERANCE, rtol=0)


def test_what_is_kept_does_not_follow_the_canvas(published: Published, kind: ApproximateCache) -> None:
    """A changed canvas is read against old keys and values, until a step computes all anew."""
    changed = (65, *CANVAS[1:])
    runner = published.runner(approximate=ApproximateKv(cache=kind, refresh=3))
    first, stale = runner.forward([step_row(CANVAS, 0)]), runner.forward([step_row(changed, 1)])
    back, fresh = runner.forward([step_row(CANVAS, 2)]), runner.forward([step_row(changed, 3)])
    exact = published.runner().forward([step_row(changed, 0)])

    assert (stale - exact).abs().max() > 100 * TOLERANCE
    torch.testing.assert_close(back, first, atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(fresh, exact, atol=TOLERANCE, rtol=0)


def test_dual_keeps_the_masks_behind_a_canvas_and_prefix_runs_them(published: Published) -> None:
    """Both read the changed canvas, yet not with the same masks behind it."""
    changed = (65, *CANVAS[1:])
    found = []
    for kind in KINDS:
        runner = published.runner(approximate=ApproximateKv(cache=kind))
        runner.forward([step_row(CANVAS, 0)])
        found.append(runner.forward([step_row(changed, 1)]))

    assert (found[0] - found[1]).abs().max() > 100 * TOLERANCE


@pytest.mark.parametrize(("kind", "behind"), [(ApproximateCache.PREFIX, AHEAD), (ApproximateCache.DUAL, 0)])
def test_steps_run_no_more_than_the_canvas_and_what_is_not_kept(
    published: Published, kind: ApproximateCache, behind: int
) -> None:
    """All at the first step and at every third; else the canvas, of Dream with the one token that tells its first."""
    runner = published.runner(approximate=ApproximateKv(cache=kind, refresh=3))
    counts = [_forwarded(runner, step) for step in range(5)]

    everything = len(PROMPT) + len(CANVAS) + AHEAD
    few = len(CANVAS) + behind + published.description.pattern.is_shifted
    assert counts == [everything, few, few, everything, few]


def test_without_a_cache_every_step_runs_all(published: Published) -> None:
    """And pages hold ids alone."""
    runner = published.runner()

    assert [_forwarded(runner, step) for step in range(2)] == [len(PROMPT) + len(CANVAS) + AHEAD] * 2
    assert runner.page_bytes == 8 * PAGE


def test_requests_are_charged_what_forwards_run(published: Published, kind: ApproximateCache) -> None:
    """But for the one token that tells the first of a canvas of Dream's; never more than was expected."""
    approximate = ApproximateKv(cache=kind, refresh=3)
    runner = published.runner(pages=128, approximate=approximate)
    core = core_over(published, approximate, runner=runner)
    (sequence,) = run_all(core, [replace(asked(published), reads_whole=True, approximate=approximate)])
    charged = core.load.work.tokens

    assert charged <= sequence.submission.most_tokens
    assert charged <= runner.forwarded <= charged + sequence.steps * published.description.pattern.is_shifted


def test_tokens_do_not_depend_on_peers(published: Published, kind: ApproximateCache) -> None:
    """Among requests of other lengths, which join and leave, the tokens are those of a request alone."""
    approximate = ApproximateKv(cache=kind, refresh=3)
    alone = generated(published, approximate)
    others = [asked(published, PROMPT[:count], max_tokens=count) for count in (1, 6, 13)]
    core = core_over(published, approximate, prefill_tokens=4, max_rows=3)

    sequences = run_all(core, [*others, asked(published), *others])

    assert sequences[len(others)].output == alone.output
    assert core.batcher.pool.used == 0


def test_nothing_is_kept_for_another_request(published: Published, kind: ApproximateCache) -> None:
    """Asked again on pages that hold the end of the answer before, a request has the same tokens."""
    core = core_over(published, ApproximateKv(cache=kind))
    (first,) = run_all(core, [asked(published)])
    (second,) = run_all(core, [asked(published)])

    assert second.output == first.output
    assert second.cached_tokens == 0


def _forwarded(runner: FamilyRunner, step: int) -> int:
    before = runner.forwarded
    runner.forward([step_row(CANVAS, step)])
    return runner.forwarded - before
