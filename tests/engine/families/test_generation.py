"""Generations of published families against those of the published samplers, alone and among others."""

import pytest
from torch import Tensor

from tests.engine.families.published import FAMILIES, PAGE, Published
from unmask.core.core import Core
from unmask.engine.engine import Engine
from unmask.engine.families.decoder import Decoder
from unmask.sched.settings import SchedSettings
from unmask.sequence import Submission
from unmask.strategy import StrategyChoice
from unmask.testing.cores import make_core, run_all
from unmask.types import Outcome, StepBudget


@pytest.fixture(scope="module", params=FAMILIES)
def published(request: pytest.FixtureRequest) -> Published:
    """One family."""
    return Published.read(request.param)


def core_over(published: Published, **changes: object) -> Core:
    """Return a core that runs a family as its adapter allows."""
    adapter = published.adapter
    exact = adapter.exact_cache
    settings = SchedSettings(pages=128, page_size=PAGE, prefix_cache=exact, **changes)  # type: ignore[arg-type]
    engine = Engine(published.runner(pages=128), adapter)
    return make_core(engine, settings, adapter=adapter, token_bytes=lambda token: bytes([token % 256]))


def asked(published: Published, *, prompt: tuple[int, ...] | None = None, max_tokens: int | None = None) -> Submission:
    """Return what the published sampler was asked."""
    canvas, wanted = published.canvas, max_tokens or len(published.generated)
    start = len(published.prompt) if prompt is None else len(prompt)
    on_grid = published.description.pattern.block is not None
    canvases = -(-(start % canvas + wanted if on_grid else wanted) // canvas)
    steps = published.steps if on_grid else published.steps * canvas // len(published.generated)
    return Submission(
        prompt=published.prompt if prompt is None else prompt,
        max_tokens=wanted,
        canvas_length=canvas,
        context_length=256,
        budget=StepBudget(max_steps=steps, max_total_steps=steps * canvases),
        # The published samplers look at a whole block.
        strategy=StrategyChoice(window=canvas),
        on_grid=on_grid,
        reads_whole=not on_grid,
    )


def test_tokens_are_those_of_the_published_sampler(published: Published) -> None:
    """Low-confidence remasking ends with the very tokens that the published sampler ends with."""
    (sequence,) = run_all(core_over(published), [asked(published)])

    assert sequence.outcome is Outcome.COMPLETED
    assert tuple(sequence.output) == published.generated


def test_tokens_do_not_depend_on_peers_or_chunks(published: Published) -> None:
    """Among requests of other lengths, with prompts appended in small chunks, the tokens are the same."""
    others = [asked(published, prompt=text[:9] or text, max_tokens=7) for text in published.texts]
    core = core_over(published, prefill_tokens=4, max_rows=3)

    sequences = run_all(core, [*others, asked(published), *others])

    assert tuple(sequences[len(others)].output) == published.generated
    assert core.batcher.pool.used == 0


def test_finished_canvases_may_be_committed_on_their_own(published: Published) -> None:
    """Without fusing, prompt and canvases are appended by rows of their own, and the tokens are the same."""
    core = core_over(published, fused_prefill=False, fused_commit=False)

    (sequence,) = run_all(core, [asked(published)])

    assert tuple(sequence.output) == published.generated


def test_requests_are_charged_what_forwards_run(published: Published, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row tokens are the tokens that went through the layers: of families that see everything, all of the sequence."""
    ran: list[int] = []
    embed = Decoder.embed

    def counted(decoder: Decoder, tokens: Tensor) -> Tensor:
        ran.append(len(tokens))
        return embed(decoder, tokens)

    monkeypatch.setattr(Decoder, "embed", counted)
    core = core_over(published)
    (sequence,) = run_all(core, [asked(published)])
    charged = core.load.work.tokens

    assert charged <= sequence.submission.most_tokens
    if published.description.pattern.block is None:
        assert charged == sum(ran) == sequence.steps * sequence.submission.max_length
    else:
        # What of a block is committed already is run with it: less than a block a step.
        assert charged <= sum(ran) < charged + (sequence.steps + sequence.canvases) * published.canvas


def test_a_cached_prefix_changes_nothing() -> None:
    """Of a family that is causal over blocks, a prompt whose beginning is cached gives the same tokens."""
    published = Published.read("sdar")
    prompt = tuple(token for text in published.texts for token in text if token < 256)
    core = core_over(published)

    (first,) = run_all(core, [asked(published, prompt=prompt)])
    (second,) = run_all(core, [asked(published, prompt=prompt)])

    assert first.cached_tokens == 0
    assert second.cached_tokens == len(prompt) // PAGE * PAGE > 0
    assert second.output == first.output


def test_canvases_of_blocks_end_where_blocks_do() -> None:
    """A prompt that ends within a block leaves its first canvas what is left of the block, at a step a position."""
    published = Published.read("sdar")
    (sequence,) = run_all(core_over(published), [asked(published)])

    assert sequence.canvases == 5
    assert sequence.steps == len(published.generated) == 17
