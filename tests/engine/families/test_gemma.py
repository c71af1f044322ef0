"""DiffusionGemma against `generate()` of transformers: tokens and steps, alone and in batches, and what it lacks."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.engine.families.gemma_published import LIBRARY, PAGE, Answered, Asked, read_gemma
from unmask.engine.families.gemma.config import describe
from unmask.engine.families.gemma.network import GemmaNetwork
from unmask.engine.families.gemma.runner import GemmaRunner
from unmask.engine.renoising.canvas import NoisyCanvas, noise
from unmask.engine.renoising.engine import RenoisingEngine
from unmask.errors import CheckpointFolderError
from unmask.plan import Row
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence as Generated
from unmask.sequence import Submission
from unmask.testing.cores import make_core, run_all
from unmask.types import ExitCondition, ExitPlan, ExitReason, ExitRule, Outcome, ProgressSignal, Sampling, StepBudget

PUBLISHED = read_gemma()
ROWS = PUBLISHED.rows
EQUAL = [(asked, answered) for asked, answered in ROWS if asked.max_steps == ROWS[0][0].max_steps]


def submission(asked: Asked, **changes: object) -> Submission:
    """Return a row of the file as a request."""
    described = PUBLISHED.description
    tokens = described.default_max_tokens
    canvases = -(-tokens // described.canvas_length)
    whole = Submission(
        prompt=asked.prompt,
        max_tokens=tokens,
        canvas_length=described.canvas_length,
        context_length=described.context_length,
        budget=StepBudget(max_steps=asked.max_steps, max_total_steps=asked.max_steps * canvases),
        sampling=Sampling(seed=asked.seed),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def run(submissions: Sequence[Submission], engine: RenoisingEngine | None = None, **changes: object) -> list[Generated]:
    """Run requests in one core."""
    adapter = PUBLISHED.adapter
    settings = SchedSettings(pages=64, page_size=PAGE, **changes)  # type: ignore[arg-type]
    engine = engine or RenoisingEngine(PUBLISHED.runner(), adapter, PUBLISHED.description.terms)
    core = make_core(engine, settings, adapter=adapter, token_bytes=lambda token: bytes([token % 256]))
    return run_all(core, submissions)


def answered(sequence: Generated) -> Answered:
    """Return what a request came to."""
    assert sequence.outcome is Outcome.COMPLETED
    return Answered(tokens=tuple(sequence.output), steps=sequence.steps)


def test_transformers_still_answers_so() -> None:
    """The installed transformers gives tokens and steps of the file, in a batch of unequal rows."""
    assert PUBLISHED.generate([asked for asked, _ in EQUAL]) == tuple(expected for _, expected in EQUAL)


@pytest.mark.parametrize(("asked", "expected"), ROWS)
def test_tokens_and_steps_are_those_of_transformers(asked: Asked, expected: Answered) -> None:
    """A request by itself, of each prompt and cap."""
    assert answered(*run([submission(asked)])) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"prefill_tokens": 5, "max_rows": 3},
        {"fused_prefill": False, "fused_commit": False},
    ],
)
def test_rows_of_a_batch_keep_to_their_own_caps(changes: dict[str, Any]) -> None:
    """Unequal prompts and caps, appended whole, in pieces or in rows of their own: each is as it is alone."""
    sequences = run([submission(asked) for asked, _ in ROWS], **changes)

    assert [answered(sequence) for sequence in sequences] == [expected for _, expected in ROWS]
    for sequence, (asked, _) in zip(sequences, ROWS, strict=True):
        assert sequence.steps <= asked.max_steps * sequence.canvases


def test_the_cap_of_a_request_holds() -> None:
    """With the total spent in the second canvas, that is its last step, and no third one starts."""
    asked, _ = ROWS[3]
    budget = StepBudget(max_steps=8, max_total_steps=11)
    (sequence,) = run([submission(asked, max_tokens=24, budget=budget)])

    assert (sequence.steps, sequence.canvases, sequence.exit_reason) == (11, 2, ExitReason.MAX_TOTAL_STEPS)
    assert len(sequence.output) == 16


def test_a_canvas_that_is_stable_and_confident_has_converged() -> None:
    """It ends before its cap, and says why."""
    asked, expected = ROWS[3]
    (sequence,) = run([submission(asked, trace=True)])
    lasts = {record.canvas: record for record in sequence.trace}
    early = [record for record in lasts.values() if record.step + 1 < record.max_steps]

    assert sequence.steps == expected.steps
    assert early
    for record in early:
        before = sequence.trace[sequence.trace.index(record) - 1]
        assert before.draft == record.draft
        assert sum(record.entropy) / len(record.entropy) < PUBLISHED.description.terms.confidence


def test_a_cached_prefix_changes_nothing() -> None:
    """Keys and values of the causal encoder are exact, so a prompt whose beginning is cached gives the same tokens."""
    asked, expected = ROWS[3]
    adapter = PUBLISHED.adapter
    core = make_core(
        RenoisingEngine(PUBLISHED.runner(), adapter, PUBLISHED.description.terms),
        SchedSettings(pages=64, page_size=PAGE),
        adapter=adapter,
        token_bytes=lambda token: bytes([token % 256]),
    )
    first, second = (run_all(core, [submission(asked)])[0] for _ in range(2))

    assert (first.cached_tokens, second.cached_tokens) == (0, len(asked.prompt) // PAGE * PAGE)
    assert answered(first) == answered(second) == expected
    assert core.batcher.pool.used == 0


def test_seeds_decide() -> None:
    """Another seed is another noise, and a temperature changes what is drawn of it."""
    asked, expected = ROWS[0]
    other, hot, same = run(
        [
            submission(asked, sampling=Sampling(seed=asked.seed + 1)),
            submission(asked, sampling=Sampling(seed=asked.seed, temperature=1.5)),
            submission(asked, sampling=Sampling(seed=asked.seed, temperature=1.0)),
        ]
    )

    assert len({answered(other).tokens, answered(hot).tokens, expected.tokens}) == 3
    assert answered(same) == expected


def test_an_exit_takes_the_likeliest_tokens() -> None:
    """A rule on entropy stops a canvas before the model's own would, with the draft of that step."""
    asked, expected = ROWS[3]
    conditions = (
        ExitCondition(signal=ProgressSignal.ENTROPY, bound=3.0),
        ExitCondition(signal=ProgressSignal.FLIPS, bound=1.0),
    )
    rule = ExitRule(conditions=conditions, min_steps=2)
    (sequence,) = run([submission(asked, exit=ExitPlan(rule=rule), top_logprobs=2, trace=True)])

    assert sequence.exited
    assert sequence.steps < expected.steps
    assert sequence.outcome is Outcome.COMPLETED
    assert [entry.fixed.chosen.token for entry in sequence.logprobs] == [
        token for token in sequence.output if token != PUBLISHED.adapter.end
    ]
    assert all(entry.fixed.chosen == entry.fixed.top[0] for entry in sequence.logprobs)


def test_ids_without_a_token_are_never_drawn() -> None:
    """What has no text is not answered, whatever the weights say of it."""
    asked, expected = ROWS[0]
    dropped = tuple(set(expected.tokens[:8]))
    adapter = replace(PUBLISHED.adapter, forbidden=dropped)
    engine = RenoisingEngine(PUBLISHED.runner(), adapter, PUBLISHED.description.terms)
    (sequence,) = run([submission(asked)], engine)

    assert not set(dropped) & set(sequence.output)


def test_logits_that_are_no_numbers_end_their_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other rows of the batch are none the worse."""
    (asked, expected), (broken, _) = ROWS[0], ROWS[1]
    runner = PUBLISHED.runner()
    logits, made = runner.logits, iter((float("nan"), *[0.0] * 99))
    monkeypatch.setattr(runner, "logits", lambda hidden: logits(hidden) + next(made))
    engine = RenoisingEngine(runner, PUBLISHED.adapter, PUBLISHED.description.terms)

    failed, whole = run([submission(broken), submission(asked)], engine)

    assert (failed.outcome, failed.error) == (Outcome.FAILED, "the network's logits for this request are not numbers")
    assert answered(whole) == expected


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> Callable[[], GemmaRunner]:
    """Make runners whose rows share their passes, as they do where there is no processor."""
    monkeypatch.setattr(GemmaRunner, "_batches", lambda _, places: [places] if places else [])
    return PUBLISHED.runner


def test_rows_that_share_a_pass_see_none_of_each_other(together: Callable[[], GemmaRunner]) -> None:
    """Flat rows of unequal lengths come to what they come to alone, within 1e-4."""
    shared, alone = together(), GemmaRunner(PUBLISHED.network, pages=64, page_size=PAGE)
    prompts = [asked.prompt for asked, _ in EQUAL]
    rows = [
        Row(sequence=place, start=0, append=prompt, pages=tuple(range(4 * place, 4 * place + 4)), task=None)
        for place, prompt in enumerate(prompts)
    ]
    canvases = [NoisyCanvas(tokens=noise(place, 0, 0, 8, 260)) for place in range(len(rows))]

    found = shared.forward(rows, canvases)
    expected = []
    for row, canvas in zip(rows, canvases, strict=True):
        expected += alone.forward([row], [canvas])

    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_a_row_without_a_canvas_only_appends() -> None:
    """Nothing is asked of it, and nothing comes back."""
    row = Row(sequence=1, start=0, append=(65, 66), pages=(0,), task=None)

    assert PUBLISHED.runner().forward([row], [None]) == [None]


def test_pages_hold_each_layers_own_heads() -> None:
    """A layer of two heads of 16 and one of one head of 32, twice, in single precision."""
    assert PUBLISHED.runner().page_bytes == PAGE * 2 * (2 * 16 + 32) * 4


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"canvas_length": None}, "canvas_length is"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is"),
        ({"quantization_config": {"bits": 4}}, "quantization_config is"),
        ({"text_config": None}, "text_config is"),
        (
            {"text_config": PUBLISHED.config["text_config"] | {"use_bidirectional_attention": "all"}},
            "use_bidirectional",
        ),
    ],
)
def test_configurations_that_are_computed_otherwise(changes: dict[str, object], said: str) -> None:
    """A field that would change what is computed is refused by name."""
    with pytest.raises(CheckpointFolderError, match=rf"config\.json: .*{said}"):
        describe(PUBLISHED.config | changes, {})


@pytest.mark.parametrize(
    ("generation", "said"),
    [
        ({"max_denoising_steps": 0}, "max_denoising_steps is 0"),
        ({"sampler_config": {"entropy_bound": -1.0}}, r"sampler_config\.entropy_bound is -1"),
        ({"t_min": 0.8}, "t_max is 0.8, allowed: above t_min, which is 0.8"),
        ({"stability_threshold": -1}, "stability_threshold is -1"),
    ],
)
def test_settings_that_transformers_refuses_too(generation: dict[str, object], said: str) -> None:
    """The file and the field are told."""
    with pytest.raises(CheckpointFolderError, match=rf"generation_config\.json: {said}"):
        describe(PUBLISHED.config, generation)


def test_what_is_left_out_is_what_transformers_takes() -> None:
    """Steps, bound, temperatures and stop rule have defaults, and null is left out."""
    described = describe(PUBLISHED.config, {"t_min": None})
    terms = described.terms

    assert (described.default_steps, described.default_max_tokens) == (48, 256)
    assert (terms.entropy_bound, terms.coolest, terms.hottest, terms.stability, terms.confidence) == (
        0.1,
        0.4,
        0.8,
        1,
        0.005,
    )


def test_a_configuration_that_transformers_cannot_build() -> None:
    """Its own words are told, beside the file."""
    config = PUBLISHED.config | {"text_config": PUBLISHED.config["text_config"] | {"hidden_size": "wide"}}
    with pytest.raises(CheckpointFolderError, match=r"config\.json: transformers makes no DiffusionGemma of it"):
        GemmaNetwork(LIBRARY, config)


def test_only_published_names_are_read() -> None:
    """Weights that encoder and decoder share are read once; the vision tower is not read."""
    shapes = PUBLISHED.network.shapes

    assert [name for name in shapes if "encoder" in name] == [
        f"model.encoder.language_model.layers.{index}.layer_scalar" for index in range(2)
    ]
    assert "lm_head.weight" not in shapes
    assert PUBLISHED.network.parameters == sum(tensor.numel() for tensor in PUBLISHED.weights.values())


def test_the_file_is_of_this_checkpoint() -> None:
    """Its rows are unequal in all that they may be: prompts, caps, steps, and where they end."""
    assert len({len(asked.prompt) for asked, _ in EQUAL}) == len(EQUAL) == 4
    assert len({asked.max_steps for asked, _ in ROWS}) == 4
    assert len({answer.steps for _, answer in EQUAL}) > 2
    assert {len(answer.tokens) > 8 for _, answer in EQUAL} == {True, False}
