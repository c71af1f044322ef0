"""Commands whose ``--model`` is a folder."""

import json
from pathlib import Path

import pytest

from tests.cli.terminal import type_in
from tests.engine.families.published import Published
from unmask.app.local import chosen_backend
from unmask.engine.families.shape import tensor_shapes
from unmask.testing.checkpoints import random_weights, write_checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small random checkpoint."""
    published = Published.read("sdar")
    shapes = tensor_shapes(published.description.shape, published.description.names)
    write_checkpoint(tmp_path / "my-sdar", published.config, random_weights(shapes, published.seed), shards=2)
    return tmp_path / "my-sdar"


def test_a_checkpoint_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Loading is told on stderr, and nothing is said of prompts that only the demonstration model knows."""
    ended = type_in(
        "generate",
        "안녕",
        "--model",
        str(folder),
        "--max-tokens",
        "6",
        "--device",
        "cpu",
        "--json",
        make_backend=chosen_backend,
    )
    answer = json.loads(ended.out)

    assert ended.code == 0
    assert 0 < answer["usage"]["completion_tokens"] <= 6
    assert "loading model-00001-of-00002.safetensors" in capsys.readouterr().err
    assert "note:" not in ended.err


def test_a_damaged_checkpoint_is_told_in_a_line(folder: Path) -> None:
    """With the exit code of weights that are missing or damaged."""
    shard = folder / "model-00002-of-00002.safetensors"
    shard.unlink()
    ended = type_in("generate", "hello", "--model", str(folder), make_backend=chosen_backend)

    assert (ended.code, ended.out) == (4, "")
    assert f"lacks {shard.name}" in ended.err


def test_a_mode_that_it_has_not_is_wrong_usage(folder: Path) -> None:
    """Told by the model's name."""
    ended = type_in("generate", "hello", "--model", str(folder), "--ar", make_backend=chosen_backend)

    assert ended.code == 2
    assert "my-sdar writes canvases alone" in ended.err
