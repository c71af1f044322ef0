"""Weights on disk: what is loaded is what was saved, and damage has a name and a remedy."""

import errno
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from unmask.engine.network import Network, Shape
from unmask.engine.weights import load_weights, packaged_models, packaged_weights, save_weights
from unmask.errors import UnknownModelError, WeightsError
from unmask.testing.networks import TINY_SHAPE, make_network


@pytest.fixture(name="saved")
def _saved(tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    save_weights(path, make_network(), name="small")
    return path


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, torch.Tensor]], object]) -> None:
    """Write a file again with its description and tensors changed."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a dict
    shape = json.loads(metadata["shape"])
    change(shape, tensors)
    save_file(tensors, path, {"name": metadata["name"], "shape": json.dumps(shape)})


def test_round_trip(saved: Path) -> None:
    """A loaded network has the saved one's shape and its weights in half precision, held in single precision."""
    network = make_network()
    loaded = load_weights(saved)

    assert (loaded.name, loaded.network.shape) == ("small", TINY_SHAPE)
    for key, value in network.state_dict().items():
        found = loaded.network.state_dict()[key]
        assert found.dtype is torch.float32
        assert torch.equal(found, value.half().float())


def test_digest_names_the_content(tmp_path: Path, saved: Path) -> None:
    """Saving and loading say the same digest; other weights have another one."""
    path = tmp_path / "other.safetensors"
    digest = save_weights(path, make_network(seed=1), name="small")

    assert load_weights(path).digest == digest
    assert load_weights(saved).digest != digest


def test_saving_leaves_nothing_else_behind(saved: Path) -> None:
    """The folder holds the finished file alone."""
    assert list(saved.parent.iterdir()) == [saved]


def expect_damage(path: Path, match: str = "cannot load the weights") -> None:
    """Require the typed error, naming the file and what to do."""
    with pytest.raises(WeightsError, match=match) as caught:
        load_weights(path)
    assert str(path) in caught.value.message
    assert "install the package again or train the model anew" in caught.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A path without a file gives the typed error."""
    expect_damage(tmp_path / "none.safetensors", "No such file")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.999])
def test_a_file_cut_short_is_refused(saved: Path, share: float) -> None:
    """However much of it is there, part of a file is no weights."""
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * share)])

    expect_damage(saved)


def test_flipped_bytes_in_the_header_are_refused_or_harmless(saved: Path) -> None:
    """A damaged header gives the typed error and no other; where it still loads, every tensor is of its shape."""
    content = saved.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    rng = Random(0)
    refused = 0
    for place in [*range(8), *rng.sample(range(8, header), 250)]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.randrange(8)
        saved.write_bytes(damaged)
        try:
            loaded = load_weights(saved)
        except WeightsError:
            refused += 1
        else:
            assert isinstance(loaded.network, Network)

    assert refused > 150


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("width", 64),
        ("vocabulary", 10**9),
        ("layers", 10**6),
        ("layers", 1),
        ("layers", 3),
        ("heads", 0),
        ("heads", 3),
        ("heads", 16),
        ("hidden", "wide"),
        ("hidden", 64.0),
        ("context_length", -1),
        ("context_length", 10**12),
        ("canvas_lengths", []),
        ("canvas_lengths", [8, 64]),
        ("canvas_lengths", 8),
        ("unheard", 1),
    ],
)
def test_a_wrong_shape_is_refused(saved: Path, field: str, value: object) -> None:
    """A description that is not of the tensors' network is found out before any memory is taken for it."""
    rewrite(saved, lambda shape, _: shape.update({field: value}))

    expect_damage(saved)


def test_a_missing_field_of_the_shape_is_refused(saved: Path) -> None:
    """All of the shape must be there."""
    rewrite(saved, lambda shape, _: shape.pop("width"))

    expect_damage(saved)


def test_a_missing_tensor_is_named(saved: Path) -> None:
    """The message says which tensor does not fit."""
    rewrite(saved, lambda _, tensors: tensors.pop("head.weight"))

    expect_damage(saved, "head.weight")


def test_an_unknown_tensor_is_named(saved: Path) -> None:
    """A tensor too many is a sign of another network."""
    rewrite(saved, lambda _, tensors: tensors.update({"extra": torch.zeros(1)}))

    expect_damage(saved, "extra")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_refused(saved: Path, value: float) -> None:
    """One weight that is not finite spoils the file."""
    rewrite(saved, lambda _, tensors: tensors["blocks.1.up.weight"][0].fill_(value))

    expect_damage(saved, r"blocks\.1\.up\.weight.*not finite")


def test_safetensors_of_something_else_are_refused(tmp_path: Path) -> None:
    """A valid file without our description is no model."""
    path = tmp_path / "other.safetensors"
    save_file({"a": torch.zeros(2)}, path)

    expect_damage(path)


def test_a_full_disk_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room, saving says what to do, keeps the old file and leaves no half of a new one."""
    path = tmp_path / "small.safetensors"
    path.write_bytes(b"old")

    def write_some(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_some)
    with pytest.raises(WeightsError, match=r"No space left on device.*has room, and try again"):
        save_weights(path, make_network(), name="small")

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_said_so(tmp_path: Path) -> None:
    """Saving into a folder that does not exist gives the typed error."""
    with pytest.raises(WeightsError, match="see that the folder exists"):
        save_weights(tmp_path / "none" / "small.safetensors", make_network(), name="small")


def test_an_unknown_model_is_refused_by_name() -> None:
    """Asking for a model that is not in the package says which are."""
    with pytest.raises(UnknownModelError, match="'gigantic'") as caught:
        packaged_weights("gigantic")
    assert caught.value.param == "model"


def test_packaged_models_can_be_loaded() -> None:
    """Every model the package names loads under that name."""
    for name in packaged_models():
        loaded = load_weights(packaged_weights(name))
        assert loaded.name == name
        assert isinstance(loaded.network.shape, Shape)


def test_sizes_are_those_of_the_network() -> None:
    """They are told without making one."""
    network = load_weights(packaged_weights("nano")).network

    assert network.shape.weights() == {name: tuple(value.shape) for name, value in network.state_dict().items()}


def test_loading_does_not_load_torchs_compiler() -> None:
    """Which takes longer than all the rest of a start."""
    code = """
import os, sys
from unmask.local.build import build_local_backend

build_local_backend(("nano",))
sys.stdout.write(str("torch._dynamo" in sys.modules))
sys.stdout.flush()
os._exit(0)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False"
