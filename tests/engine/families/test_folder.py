"""Folders of checkpoints: whole ones are read, of others it is said what is wrong with which file."""

import json
from pathlib import Path

import pytest
import torch

from tests.engine.families.published import Published
from unmask.engine.families.decoder import Decoder
from unmask.engine.families.folder import CONFIG, INDEX, SINGLE, digest_of, open_folder, unheard
from unmask.engine.families.registry import family_of
from unmask.engine.families.shape import tensor_shapes
from unmask.engine.families.shards import Shards
from unmask.errors import CheckpointFolderError
from unmask.testing.checkpoints import random_weights, write_checkpoint, write_object

PUBLISHED = Published.read("llada")
SHAPES = tensor_shapes(PUBLISHED.description.shape, PUBLISHED.description.names)
SECOND = "model-00002-of-00003.safetensors"
HEAD = "model.transformer.ff_out.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole checkpoint in three shards."""
    write_checkpoint(tmp_path, PUBLISHED.config, random_weights(SHAPES, PUBLISHED.seed), shards=3)
    return tmp_path


def load(folder: Path) -> list[str]:
    """Load a checkpoint as it is when served; return what was said meanwhile."""
    said: list[str] = []
    opened = open_folder(folder)
    described = family_of(opened.config).describe(opened.config)
    shapes = tensor_shapes(described.shape, described.names)
    cpu = torch.device("cpu")
    with Shards(opened, shapes, dtype=torch.float32, device=cpu, say=said.append) as shards:
        Decoder(described.shape, described.names, shards.read)
    return said


def refusal(folder: Path) -> str:
    """Return why a checkpoint is not loaded."""
    with pytest.raises(CheckpointFolderError) as caught:
        load(folder)
    return caught.value.message


def digest(folder: Path) -> str:
    """Return the digest of a checkpoint."""
    return digest_of(open_folder(folder), unheard)


def change_config(folder: Path, **changes: object) -> None:
    """Write another configuration."""
    write_object(folder / CONFIG, PUBLISHED.config | changes)


def test_shards_are_read_by_their_index(folder: Path) -> None:
    """Every shard is told of once, when it is begun with."""
    assert sorted(said.partition(",")[0] for said in load(folder)) == [
        f"loading model-0000{number}-of-00003.safetensors" for number in (1, 2, 3)
    ]


def test_one_file_needs_no_index(tmp_path: Path) -> None:
    """A small checkpoint is one file."""
    write_checkpoint(tmp_path, PUBLISHED.config, random_weights(SHAPES, PUBLISHED.seed))

    assert load(tmp_path) == [f"loading {SINGLE}, 1 of 1"]


def test_another_weight_is_another_digest(folder: Path, tmp_path: Path) -> None:
    """Policies are approved for a digest, so whatever differs has another."""
    weights = random_weights(SHAPES, PUBLISHED.seed)
    first = digest(folder)
    again = digest(folder)
    weights[HEAD][0, 0] += 1
    write_checkpoint(tmp_path / "other", PUBLISHED.config, weights, shards=3)

    assert first == again != digest(tmp_path / "other")


def test_no_folder(tmp_path: Path) -> None:
    """A slip in the path is told as such."""
    assert "there is no folder" in refusal(tmp_path / "missing")


def test_no_configuration(folder: Path) -> None:
    """A folder of something else is told by what it lacks."""
    (folder / CONFIG).unlink()

    assert f"{folder / CONFIG}" in refusal(folder)


@pytest.mark.parametrize("content", [b"{", b"[]", b'"a"', b"\xff", b"[" * 100_000])
def test_damaged_configuration(folder: Path, content: bytes) -> None:
    """What is no JSON object is damaged, whatever else it is."""
    (folder / CONFIG).write_bytes(content)

    assert "is damaged" in refusal(folder)


def test_a_missing_shard_is_named(folder: Path) -> None:
    """Whoever fetched all but one learns which."""
    (folder / SECOND).unlink()

    assert f"lacks {SECOND}: {INDEX} names them" in refusal(folder)


def test_a_download_that_was_broken_off(folder: Path) -> None:
    """Where an unfinished file lies about, that is the reason."""
    (folder / SECOND).rename(folder / f"{SECOND}.incomplete")

    assert f"not downloaded to its end: {SECOND} missing, {SECOND}.incomplete there" in refusal(folder)


def test_weights_that_would_run_code(folder: Path) -> None:
    """Pickles are never read."""
    (folder / INDEX).unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")

    assert "pytorch_model.bin, which may run code" in refusal(folder)


def test_a_pointer_in_place_of_weights(folder: Path) -> None:
    """A clone without large files has pointers in their place."""
    (folder / SECOND).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", encoding="ascii")

    assert f"{folder / SECOND}" in (message := refusal(folder))
    assert "git lfs pull" in message


@pytest.mark.parametrize("kept", [0, 4, 100, 5_000])
def test_a_shard_that_was_cut_short(folder: Path, kept: int) -> None:
    """A damaged shard is named, wherever it ends."""
    (folder / SECOND).write_bytes((folder / SECOND).read_bytes()[:kept])

    assert f"cannot open '{folder / SECOND}'" in refusal(folder)


def test_an_index_that_leads_elsewhere(folder: Path) -> None:
    """A shard is a file of the same folder, so that an index reads nothing else."""
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    index["weight_map"][HEAD] = "../secret.safetensors"
    write_object(folder / INDEX, index)

    assert "'../secret.safetensors', allowed: the name of a .safetensors file of the same folder" in refusal(folder)


def test_an_index_that_names_the_wrong_shard(folder: Path) -> None:
    """A tensor that is not where the index says is missing there."""
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    right = index["weight_map"][HEAD]
    index["weight_map"][HEAD] = wrong = next(name for name in index["weight_map"].values() if name != right)
    write_object(folder / INDEX, index)

    assert f"{folder / wrong}' lacks {HEAD}" in refusal(folder)


def test_a_layer_too_many(folder: Path) -> None:
    """A configuration of a larger model misses weights, a few of which are named."""
    change_config(folder, n_layers=3)

    assert "lacks model.transformer.blocks.2." in (message := refusal(folder))
    assert "and 6 more" in message


def test_weights_of_another_size(folder: Path) -> None:
    """Both sizes are told."""
    change_config(folder, mlp_hidden_size=64)

    assert "is (96, 48), and config.json asks for (64, 48)" in refusal(folder)


def test_weights_that_are_not_finite(tmp_path: Path) -> None:
    """A damaged value would make every answer nonsense."""
    weights = random_weights(SHAPES, PUBLISHED.seed)
    weights[HEAD][3, 4] = float("nan")
    write_checkpoint(tmp_path, PUBLISHED.config, weights)

    assert f"{HEAD} of" in (message := refusal(tmp_path))
    assert "not finite" in message


def test_quantised_weights(tmp_path: Path) -> None:
    """Whole numbers mean nothing without their scales, which are not read."""
    weights = random_weights(SHAPES, PUBLISHED.seed)
    weights[HEAD] = weights[HEAD].to(torch.int8)
    write_checkpoint(tmp_path, PUBLISHED.config, weights)

    assert "is of type I8, allowed: BF16, F16, F32, F64" in refusal(tmp_path)


@pytest.mark.parametrize("named", [["LlamaForCausalLM"], [], None, "LLaDAModelLM"])
def test_unknown_architectures(folder: Path, named: object) -> None:
    """Those that are known are told, and that code of a checkpoint is never run."""
    change_config(folder, architectures=named, auto_map={"AutoModel": "evil.Model"})

    assert "allowed: one of LLaDAModelLM, DreamModel, SDARForCausalLM" in (message := refusal(folder))
    assert "never run" in message


@pytest.mark.parametrize(
    ("family", "field", "value"),
    [
        ("llada", "d_model", None),
        ("llada", "alibi", True),
        ("llada", "block_type", "sequential"),
        ("llada", "n_layers", 0),
        ("dream", "rope_scaling", {"type": "linear"}),
        ("dream", "hidden_size", "48"),
        ("sdar", "attention_bias", True),
        ("sdar", "quantization_config", {"bits": 4}),
    ],
)
def test_configurations_that_are_computed_otherwise(family: str, field: str, value: object) -> None:
    """A field that would change what is computed is refused by name, not passed over."""
    config = Published.read(family).config | {field: value}
    with pytest.raises(CheckpointFolderError, match=rf"config\.json: {field}"):
        family_of(config).describe(config)


@pytest.mark.parametrize("family", ["llada", "dream", "sdar"])
def test_fields_that_are_missing(family: str) -> None:
    """Sizes have no defaults."""
    config = {name: value for name, value in Published.read(family).config.items() if name == "architectures"}
    with pytest.raises(CheckpointFolderError, match="is missing"):
        family_of(config).describe(config)
