"""Checkpoints: whole or not at all, refused when damaged."""

import errno
import pickle
from pathlib import Path
from random import Random

import pytest
import torch
from torch import Tensor

from tests.train.small import CPU, fresh, small_recipe
from unmask.engine.network import Network
from unmask.errors import CheckpointError
from unmask.text.tokenizer import packaged_tokenizer
from unmask.train.checkpoint import Progress, load_checkpoint, save_checkpoint
from unmask.train.dense import DensePass
from unmask.train.feed import make_step
from unmask.train.step import make_optimisers, make_sums, train_step

RECIPE = small_recipe()
PROGRESS = Progress(step=1, seconds=2.5)

State = tuple[Network, tuple[torch.optim.Optimizer, ...]]


def trained() -> State:
    """Return a network and optimisers that hold a step's state."""
    network = fresh()
    optimisers = make_optimisers(network, RECIPE)
    batches = make_step(packaged_tokenizer(), RECIPE.feed, 0)
    train_step(DensePass(network, compiled=False), network, optimisers, batches, RECIPE, make_sums(CPU))
    return network, optimisers


def untrained() -> State:
    """Return a network and optimisers as a run starts with."""
    network = fresh()
    return network, make_optimisers(network, RECIPE)


@pytest.fixture(name="path", scope="module")
def make_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a whole checkpoint is."""
    path = tmp_path_factory.mktemp("run") / "checkpoint.pt"
    save_checkpoint(path, RECIPE, *trained(), PROGRESS)
    return path


def flat(state: object) -> list[Tensor]:
    """Return every tensor of a nested state."""
    if isinstance(state, Tensor):
        return [state]
    children = state.values() if isinstance(state, dict) else state if isinstance(state, list | tuple) else ()
    return [tensor for child in children for tensor in flat(child)]


def test_state_comes_back(path: Path) -> None:
    """Weights, optimiser state and progress are restored to the bit."""
    network, optimisers = untrained()
    assert load_checkpoint(path, RECIPE, network, optimisers) == PROGRESS
    whole, their_optimisers = trained()
    first = flat([network.state_dict(), *(optimiser.state_dict() for optimiser in optimisers)])
    second = flat([whole.state_dict(), *(optimiser.state_dict() for optimiser in their_optimisers)])
    assert len(first) == len(second) > 20
    assert all(map(torch.equal, first, second))
    assert not path.with_suffix(".partial").exists()


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), RuntimeError("write failed")])
def test_a_full_disk_leaves_the_checkpoint_before(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When writing fails half way, the previous checkpoint stays whole and the message says what to do."""

    def fail(_state: object, file: object) -> None:
        assert hasattr(file, "write")
        file.write(b"half a checkpoint")
        raise error

    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, RECIPE, *trained(), PROGRESS)
    before = path.read_bytes()
    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt.*free some space and go on with --resume"):
        save_checkpoint(path, RECIPE, *trained(), Progress(step=2, seconds=5.0))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    assert load_checkpoint(path, RECIPE, *untrained()) == PROGRESS


def test_a_missing_folder_is_a_checkpoint_error(tmp_path: Path) -> None:
    """State that cannot be written anywhere is reported with its path."""
    with pytest.raises(CheckpointError, match="nowhere"):
        save_checkpoint(tmp_path / "nowhere" / "checkpoint.pt", RECIPE, *untrained(), PROGRESS)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_checkpoint_cut_short_is_refused(share: float, path: Path, tmp_path: Path) -> None:
    """A file that ends early is an error that says how to go on."""
    content = path.read_bytes()
    cut = tmp_path / "checkpoint.pt"
    cut.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CheckpointError, match=r"cannot resume from .* start again without --resume"):
        load_checkpoint(cut, RECIPE, *untrained())


@pytest.mark.parametrize("seed", range(20))
def test_a_flipped_bit_is_noticed(seed: int, path: Path, tmp_path: Path) -> None:
    """One wrong bit in the file is an error, or harmless; never a weight that is silently wrong."""
    rng = Random(seed)
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    damaged = tmp_path / "checkpoint.pt"
    damaged.write_bytes(bytes(content))
    network, optimisers = untrained()
    try:
        load_checkpoint(damaged, RECIPE, network, optimisers)
    except CheckpointError:
        return
    assert all(map(torch.equal, network.state_dict().values(), trained()[0].state_dict().values()))


@pytest.mark.parametrize("state", [[1], {}, {"network": {}}, {"network": 1, "step": 1}, "text", None])
def test_something_else_is_refused(state: object, tmp_path: Path) -> None:
    """A file that torch can read but that is no checkpoint is an error."""
    other = tmp_path / "checkpoint.pt"
    torch.save(state, other)
    with pytest.raises(CheckpointError, match="cannot resume from"):
        load_checkpoint(other, RECIPE, *untrained())


def test_code_in_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    """A pickle that would call something is refused."""
    hostile = tmp_path / "checkpoint.pt"
    hostile.write_bytes(pickle.dumps(print, protocol=2))
    with pytest.raises(CheckpointError, match="cannot resume from"):
        load_checkpoint(hostile, RECIPE, *untrained())


def test_a_missing_checkpoint_is_refused(tmp_path: Path) -> None:
    """Resuming where nothing was saved says so."""
    with pytest.raises(CheckpointError, match="No such file"):
        load_checkpoint(tmp_path / "checkpoint.pt", RECIPE, *untrained())


def test_another_recipe_is_refused(path: Path) -> None:
    """A checkpoint goes on with the recipe and the seed it was begun with."""
    with pytest.raises(CheckpointError, match="nano with seed 1, not nano with seed 2"):
        load_checkpoint(path, small_recipe(seed=2), *untrained())
