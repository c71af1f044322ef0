"""A published checkpoint behind a core: what it is served as, what it answers, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.engine.families.published import FAMILIES, Published
from unmask.backend import Generation, Lever, Request
from unmask.engine.families.folder import unheard
from unmask.engine.families.shape import tensor_shapes
from unmask.errors import CheckpointFolderError, ConfigError, InvalidRequestError, UnmaskError
from unmask.local import checkpoint as checkpoint_module
from unmask.local.backend import LocalBackend
from unmask.local.build import LocalPlan, build_local_backends
from unmask.local.checkpoint import serve_checkpoint
from unmask.local.checkpoint_files import Wanted, chosen_device, is_deterministic
from unmask.local.model import ServedModel
from unmask.sched.settings import SchedSettings
from unmask.testing.checkpoints import (
    END,
    MASK,
    SPECIAL_TEXTS,
    TURN_END,
    random_weights,
    write_checkpoint,
    write_object,
)
from unmask.testing.manual_clock import ManualClock
from unmask.text.tokenizer import byte_alphabet
from unmask.types import ApproximateCache, ApproximateKv, Device, Message, Mode, Outcome, Precision, Role, StepBudget

SETTINGS = SchedSettings(pages=32, page_size=32, max_rows=4)
SAID = (Message(role=Role.USER, content="안녕 <|mask|>"),)


def write(folder: Path, family: str, **changes: object) -> Path:
    """Write the random checkpoint of a family."""
    published = Published.read(family)
    described = published.description
    weights = random_weights(tensor_shapes(described.shape, described.names), published.seed)
    write_checkpoint(folder, published.config | changes, weights, shards=2)
    return folder


def serve(folder: Path, **wanted: object) -> ServedModel:
    """Load a checkpoint."""
    how = Wanted(**wanted)  # type: ignore[arg-type]
    return serve_checkpoint(folder, "served", SETTINGS, ManualClock(), say=unheard, wanted=how)


async def answer(model: ServedModel, **fields: object) -> Generation:
    """Ask a model."""
    backend = LocalBackend((model,))
    try:
        return await backend.generate(Request(model="served", messages=SAID, **fields))  # type: ignore[arg-type]
    finally:
        await backend.drain()


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_checkpoint_answers(tmp_path: Path, family: str) -> None:
    """With its own tokenizer and template; as many tokens as asked for, within the budget, none of them a mask."""
    model = serve(write(tmp_path, family))
    generation = await answer(model, max_tokens=18, budget=StepBudget(max_steps=4))

    assert generation.outcome is Outcome.COMPLETED
    assert generation.usage.prompt_tokens == len(model.tokenizer.encode_chat(SAID))
    assert 0 < len(generation.tokens) <= 18
    assert MASK not in generation.tokens
    assert generation.usage.steps_used <= generation.usage.steps_allocated


def test_what_a_model_is_follows_from_its_files(tmp_path: Path) -> None:
    """LLaDA: any canvas length, no cache that counts on context staying as it is, and no autoregressive mode."""
    model = serve(write(tmp_path, "llada"))
    info = model.info

    assert (info.name, info.precision, info.context_length) == ("served", Precision.FLOAT32, 256)
    assert (info.default_canvas_length, info.default_steps, info.max_steps) == (32, 32, 256)
    assert Lever.MODE not in info.levers
    assert Lever.DRAFT in info.levers
    assert info.reads_whole
    assert info.is_deterministic
    assert not model.core.batcher.settings.prefix_cache
    assert info.template_tokens == len(model.tokenizer.encode_chat((Message(role=Role.USER, content=""),)))
    assert info.parameters == 69_360


def test_an_approximate_cache_is_part_of_what_a_model_is(tmp_path: Path) -> None:
    """It says so, and goes by a digest of its own, so that no policy measured without, or with another, is its own."""
    folder = write(tmp_path, "llada")
    caches = [
        ApproximateKv(cache=cache, refresh=refresh)
        for cache in (ApproximateCache.PREFIX, ApproximateCache.DUAL)
        for refresh in (None, 4)
    ]
    models = [serve(folder, approximate=each) for each in (ApproximateKv(), *caches)]

    assert [model.info.approximate for model in models] == [ApproximateKv(), *caches]
    assert len({model.info.digest for model in models}) == len(models)
    assert len({len(model.info.digest) for model in models}) == 1
    assert models[0].info.digest == serve(folder).info.digest
    # Ids alone, and beside them keys and values of every layer.
    assert [model.page_bytes for model in models] == [32 * 8, *[32 * (8 + 96 * 4)] * 4]
    assert not any(model.core.batcher.settings.prefix_cache for model in models)


async def test_an_approximate_cache_answers(tmp_path: Path) -> None:
    """Over several canvases and within the budget."""
    model = serve(write(tmp_path, "dream"), approximate=ApproximateKv(cache=ApproximateCache.DUAL, refresh=2))
    generation = await answer(model, max_tokens=18, canvas_length=8, budget=StepBudget(max_steps=4))

    assert generation.outcome is Outcome.COMPLETED
    assert generation.usage.steps_used <= 4 * generation.usage.canvases


def test_an_exact_cache_has_no_approximate_one(tmp_path: Path) -> None:
    """SDAR keeps keys and values at no loss."""
    with pytest.raises(ConfigError, match="approximate_cache is dual, allowed with served: off") as caught:
        serve(write(tmp_path, "sdar"), approximate=ApproximateKv(cache=ApproximateCache.DUAL))

    assert caught.value.param == "approximate_cache"


def test_blocks_make_a_grid(tmp_path: Path) -> None:
    """SDAR: canvases of its block, prefix cache, and no drafts, as the first canvas may be shorter than one."""
    model = serve(write(tmp_path, "sdar"))

    assert (model.info.canvas_lengths, model.info.on_grid, model.info.reads_whole) == ((4,), True, False)
    assert Lever.DRAFT not in model.info.levers
    assert model.core.batcher.settings.prefix_cache


async def test_modes_that_it_has_not_are_refused(tmp_path: Path) -> None:
    """Before anything runs."""
    with pytest.raises(InvalidRequestError, match="mode is 'autoregressive'"):
        await answer(serve(write(tmp_path, "llada")), mode=Mode.AUTOREGRESSIVE)


@pytest.mark.parametrize(
    ("named", "wanted", "precision"),
    [
        ("float32", None, Precision.FLOAT32),
        ("bfloat16", None, Precision.BFLOAT16),
        ("float16", None, Precision.BFLOAT16),
        ("bfloat16", Precision.FLOAT32, Precision.FLOAT32),
    ],
)
async def test_precision_is_the_checkpoints_or_as_asked(
    tmp_path: Path, named: str, wanted: Precision | None, precision: Precision
) -> None:
    """Half precisions run in bfloat16; and what they answer is no nonsense of another type."""
    model = serve(write(tmp_path, "sdar", torch_dtype=named), precision=wanted)

    assert model.info.precision is precision
    assert (await answer(model, max_tokens=4)).outcome is Outcome.COMPLETED


async def test_whole_numbers_where_they_can_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a processor, with widths that int4 can group; else refused with what is allowed."""
    folder = write(tmp_path, "llada")
    model = serve(folder, precision=Precision.INT8)
    assert model.info.precision is Precision.INT8
    assert (await answer(model, max_tokens=4)).outcome is Outcome.COMPLETED
    with pytest.raises(ConfigError, match="precision is int4, allowed for this checkpoint: float32, bfloat16, int8: "):
        serve(folder, precision=Precision.INT4)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(ConfigError, match="allowed for this checkpoint: float32, bfloat16: it runs on the processor"):
        serve(folder, precision=Precision.INT8)


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device that there is, unless another is named."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [chosen_device(device).type for device in Device] == ["cuda", "cpu", "cuda"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert chosen_device(Device.AUTO).type == "cpu"
    with pytest.raises(ConfigError, match="device is cuda, allowed here: auto or cpu"):
        chosen_device(Device.CUDA)


def test_answers_are_alike_on_processors_alone() -> None:
    """On a GPU an answer may depend on what runs beside it."""
    assert [is_deterministic(torch.device(name)) for name in ("cpu", "cuda")] == [True, False]


def test_nothing_is_loaded_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate comes before the weights."""
    monkeypatch.setattr(checkpoint_module, "free_bytes", lambda _: 1 << 16)
    monkeypatch.setattr(checkpoint_module, "Shards", None)
    with pytest.raises(ConfigError, match=r"models names served, which takes about 0\.\d\d GiB"):
        serve(write(tmp_path, "llada"))


def change(folder: Path, file: str, edit: Callable[[dict[str, object]], object]) -> None:
    """Edit a JSON file."""
    value = json.loads((folder / file).read_text(encoding="utf-8"))
    edit(value)
    write_object(folder / file, value)


def test_ends_are_gathered_from_all_files(tmp_path: Path) -> None:
    """The configuration's first, then those of generation, of the tokenizer and of the family."""
    folder = write(tmp_path, "sdar")
    write_object(folder / "generation_config.json", {"eos_token_id": [65, END]})
    tokenizer = serve(folder).tokenizer

    assert [token for token in range(300) if tokenizer.is_end(token)] == [65, END, TURN_END]


def test_the_mask_may_be_the_tokenizers(tmp_path: Path) -> None:
    """Where the configuration names none."""
    folder = write(tmp_path, "dream")
    change(folder, "config.json", lambda config: config.pop("mask_token_id"))

    assert serve(folder).info.name == "served"


def test_a_tokenizer_without_the_mask_token(tmp_path: Path) -> None:
    """An id that the tokenizer has no token for is not that of its mask."""
    folder = write(tmp_path, "llada", mask_token_id=270)
    with pytest.raises(CheckpointFolderError, match=r"has no mask token: config\.json names the id 270"):
        serve(folder)
    change(folder, "config.json", lambda config: config.pop("mask_token_id"))
    change(folder, "tokenizer_config.json", lambda settings: settings.pop("mask_token"))
    with pytest.raises(CheckpointFolderError, match=r"names the id None, and there is no <\|mdm_mask\|>"):
        serve(folder)


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    """Ids that the weights do not know would fail the forward of everyone."""
    folder = write(tmp_path, "dream")
    more = {str(260 + place): {"content": f"<{place}>"} for place in range(5)}
    change(folder, "tokenizer_config.json", lambda settings: settings.update(added_tokens_decoder=more))
    with pytest.raises(CheckpointFolderError, match="has ids up to 264, and the weights know 260 tokens"):
        serve(folder)


def test_no_token_that_ends_answers(tmp_path: Path) -> None:
    """Without one no answer would end."""
    folder = write(tmp_path, "llada", eos_token_id=None)
    change(folder, "tokenizer_config.json", lambda settings: settings.pop("eos_token"))
    with pytest.raises(CheckpointFolderError, match=r"eos_token_id is .*, allowed: ids below 288"):
        serve(folder)


@pytest.mark.parametrize("file", ["tokenizer.json", "config.json"])
def test_half_a_folder(tmp_path: Path, file: str) -> None:
    """What is missing is named."""
    folder = write(tmp_path, "llada")
    (folder / file).unlink()
    with pytest.raises(CheckpointFolderError, match=f"cannot read .*{file}"):
        serve(folder)


@pytest.mark.parametrize("template", [None, [{"name": "default", "template": "{{ messages[0].content }}"}]])
def test_templates_may_stand_in_either_place(tmp_path: Path, template: object) -> None:
    """A file of its own goes before the settings, which may hold several."""
    folder = write(tmp_path, "llada")
    change(folder, "tokenizer_config.json", lambda settings: settings.update(chat_template=template))
    if template is None:
        (folder / "chat_template.jinja").write_text("{{ messages[0].content }}", encoding="utf-8")

    assert serve(folder).tokenizer.encode_chat(SAID) == [*SAID[0].content.encode()]


async def test_a_vocabulary_and_merges_are_a_tokenizer(tmp_path: Path) -> None:
    """Dream is published so: words and merges in files of their own, special tokens in the settings."""
    folder = write(tmp_path, "dream")
    before = serve(folder).tokenizer.encode_chat(SAID)
    (folder / "tokenizer.json").unlink()
    write_object(folder / "vocab.json", {letter: byte for byte, letter in enumerate(byte_alphabet())})
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    added = {str(number): {"content": text, "special": True} for number, text in SPECIAL_TEXTS.items()}
    more = {"tokenizer_class": "DreamTokenizer", "added_tokens_decoder": added}
    change(folder, "tokenizer_config.json", lambda settings: settings.update(more))
    model = serve(folder)

    assert model.tokenizer.encode_chat(SAID) == before
    assert (await answer(model, max_tokens=8)).outcome is Outcome.COMPLETED


async def test_a_backend_serves_checkpoints_beside_packaged_models(tmp_path: Path) -> None:
    """Each under its name: the folder's last part."""
    said: list[str] = []
    folder = write(tmp_path / "my-llada", "llada")
    (backend,) = build_local_backends(LocalPlan(names=("nano", str(folder)), sizes=SETTINGS), said.append)
    try:
        assert [model.name for model in backend.models()] == ["nano", "my-llada"]
        assert sorted({line.partition(" ")[0] for line in said}) == ["checking", "loading"]
        request = Request(model="my-llada", messages=SAID, max_tokens=8)
        assert (await backend.generate(request)).outcome is Outcome.COMPLETED
    finally:
        await backend.drain()


@pytest.mark.parametrize(
    ("models", "precisions", "said"),
    [
        (("./a/x", "./b/x"), (), "of which several are called x"),
        (("./a/x",), (Precision.INT8,), "extra_precisions is int8, allowed with the checkpoint ./a/x: none"),
        (("./a/x",), (), "there is no folder 'a/x'"),
    ],
)
def test_settings_that_do_not_fit(models: tuple[str, ...], precisions: tuple[Precision, ...], said: str) -> None:
    """Told before anything is loaded."""
    with pytest.raises(UnmaskError, match=said):
        build_local_backends(LocalPlan(names=models, sizes=SETTINGS, precisions=precisions))


def test_special_texts_are_those_of_the_fixtures() -> None:
    """The tokenizer of the tests has the mask where their configurations have it."""
    assert SPECIAL_TEXTS[Published.read("sdar").config["mask_token_id"]] == "<|mask|>"
