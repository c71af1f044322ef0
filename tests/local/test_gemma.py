"""A DiffusionGemma behind a core: what it is served as, what it answers, and what is refused."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from tests.engine.families.gemma_published import read_gemma
from unmask.backend import Generation, Lever, Request
from unmask.engine.families.folder import unheard
from unmask.errors import CheckpointFolderError, ConfigError, InvalidRequestError
from unmask.local import gemma as gemma_module
from unmask.local.backend import LocalBackend
from unmask.local.checkpoint import serve_checkpoint
from unmask.local.checkpoint_files import Wanted
from unmask.local.model import ServedModel
from unmask.local.need import gemma_memory_need
from unmask.sched.settings import SchedSettings
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.checkpoints import SPECIAL_TEXTS, write_checkpoint, write_object
from unmask.testing.manual_clock import ManualClock
from unmask.types import Draft, Message, Mode, Outcome, Precision, Role, Sampling, StepBudget

PUBLISHED = read_gemma()
SETTINGS = SchedSettings(pages=32, page_size=32, max_rows=4)
SAID = (Message(role=Role.USER, content="안녕 <|mask|>"),)


def write(folder: Path, **changes: object) -> Path:
    """Write the random checkpoint."""
    write_checkpoint(folder, PUBLISHED.config | changes, PUBLISHED.weights, shards=2)
    write_object(folder / "generation_config.json", PUBLISHED.generation)
    return folder


def serve(folder: Path, **wanted: object) -> ServedModel:
    """Load a checkpoint."""
    how = Wanted(**wanted)  # type: ignore[arg-type]
    return serve_checkpoint(folder, "served", SETTINGS, ManualClock(), say=unheard, wanted=how)


async def answers(model: ServedModel, *asked: dict[str, object]) -> list[Generation]:
    """Ask a model, one after the other."""
    backend = LocalBackend((model,))
    try:
        return [
            await backend.generate(Request(model="served", messages=SAID, **fields))  # type: ignore[arg-type]
            for fields in asked
        ]
    finally:
        await backend.drain()


async def test_a_checkpoint_answers(tmp_path: Path) -> None:
    """With its own steps unless asked otherwise; by seed alone, and within the budget."""
    own, again, capped, hot = await answers(
        serve(write(tmp_path)),
        {},
        {},
        {"budget": StepBudget(max_steps=2), "max_tokens": 12},
        {"sampling": Sampling(seed=3, temperature=0.7), "top_logprobs": 1, "trace": True},
    )

    assert all(one.outcome is Outcome.COMPLETED for one in (own, again, capped, hot))
    assert own.tokens == again.tokens
    assert own.usage.steps_allocated == 2 * PUBLISHED.generation["max_denoising_steps"]
    assert capped.usage.steps_used <= capped.usage.steps_allocated == 4
    assert 0 < len(capped.tokens) <= 12
    assert len(hot.trace) == hot.usage.steps_used


async def test_what_a_model_is_follows_from_its_files(tmp_path: Path) -> None:
    """One canvas length, its own steps and tokens, an exact cache; no modes, drafts or strategies."""
    model = serve(write(tmp_path))
    info = model.info

    assert (info.canvas_lengths, info.default_canvas_length, info.context_length) == ((8,), 8, 256)
    assert (info.default_steps, info.max_steps, info.default_max_tokens) == (8, 8, 16)
    assert not {Lever.MODE, Lever.DRAFT, Lever.STRATEGY} & set(info.levers)
    assert info.parameters == sum(tensor.numel() for tensor in PUBLISHED.weights.values())
    assert model.core.batcher.settings.prefix_cache
    assert model.tokenizer.is_end(PUBLISHED.generation["eos_token_id"])
    assert model.page_bytes == 32 * 2 * (2 * 16 + 32) * 4


async def test_prompts_are_not_run_elsewhere(tmp_path: Path) -> None:
    """Its context is causal, but its pages cannot be given to another engine: the refusal says so."""
    engine = LocalBackend((serve(write(tmp_path)),))
    with pytest.raises(ConfigError, match="allowed with served: 0, as pages of its engine") as caught:
        engine.check_prefixes()
    await engine.drain()

    assert caught.value.param == "cluster_prefill_replicas"


def test_steps_may_be_more_than_positions_where_they_are_asked_for(tmp_path: Path) -> None:
    """Up to those that the checkpoint names; by default no canvas takes more than one a position."""
    folder = write(tmp_path)
    write_object(folder / "generation_config.json", PUBLISHED.generation | {"max_denoising_steps": 48})
    info = serve(folder).info

    assert (info.default_steps, info.max_steps) == (8, 48)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"mode": Mode.AUTOREGRESSIVE}, "mode is 'autoregressive'"),
        ({"draft": Draft(tokens=(65, None))}, "draft is"),
        ({"strategy": StrategyChoice(name=StrategyName.KLASS)}, r"diffusion\.strategy is 'klass', allowed: null"),
        ({"canvas_length": 16}, r"diffusion\.canvas_length is 16, allowed: 8"),
    ],
)
async def test_what_it_has_not_is_refused(tmp_path: Path, fields: dict[str, object], said: str) -> None:
    """Before anything runs."""
    with pytest.raises(InvalidRequestError, match=said):
        await answers(serve(write(tmp_path)), fields)


async def test_half_precisions_run_in_bfloat16(tmp_path: Path) -> None:
    """As the configuration names them; and what comes of it is an answer."""
    model = serve(write(tmp_path, dtype="bfloat16"))

    assert model.info.precision is Precision.BFLOAT16
    assert [one.outcome for one in await answers(model, {"max_tokens": 8})] == [Outcome.COMPLETED]


@pytest.mark.parametrize("found", [None, ModuleType("transformers")])
def test_the_extra_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: ModuleType | None) -> None:
    """Where transformers is missing, or older than the model, the error says what to install."""
    folder = write(tmp_path)
    monkeypatch.setitem(sys.modules, "transformers", found)
    with pytest.raises(ConfigError, match=r"models names served, a DiffusionGemma.*unmask\[gemma\]") as caught:
        serve(folder)
    assert caught.value.param == "models"


def test_nothing_is_loaded_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate comes before the weights."""
    monkeypatch.setattr(gemma_module, "free_bytes", lambda _: 1 << 16)
    monkeypatch.setattr(gemma_module, "Shards", None)
    with pytest.raises(ConfigError, match=r"models names served, which takes about 0\.\d\d GiB"):
        serve(write(tmp_path))


def test_memory_is_of_weights_pages_and_one_canvas_of_logits() -> None:
    """Pages hold each layer's keys and values; logits are of one canvas at a time, however many rows there are."""
    few, many = (
        gemma_memory_need(PUBLISHED.network, 8, SchedSettings(pages=10, page_size=32, max_rows=rows), torch.float32)
        for rows in (1, 9)
    )

    assert few.weights == 4 * PUBLISHED.network.parameters
    assert few.pages == 320 * 2 * (2 * 16 + 32) * 4
    assert 0 < many.forward - few.forward < 64 * 260 * 4 * 8


def test_shards_are_compared_with_the_configuration(tmp_path: Path) -> None:
    """A layer too many misses weights, which are named."""
    text = PUBLISHED.config["text_config"] | {"layer_types": ["sliding_attention"] * 2 + ["full_attention"]}
    text |= {"num_hidden_layers": 3, "per_layer_config": {"2": {"head_dim": 32, "num_key_value_heads": 1}}}
    with pytest.raises(CheckpointFolderError, match=r"lacks model\.decoder\.layers\.|config\.json asks for"):
        serve(write(tmp_path, text_config=text))


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    """Ids that the weights do not know would fail the forward of everyone."""
    folder = write(tmp_path)
    more = {str(len(SPECIAL_TEXTS) + 256 + place): {"content": f"<{place}>"} for place in range(2)}
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    write_object(folder / "tokenizer_config.json", settings | {"added_tokens_decoder": more})
    with pytest.raises(CheckpointFolderError, match="has ids up to 261, and the weights know 260 tokens"):
        serve(folder)
