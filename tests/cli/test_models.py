"""Behaviour of ``unmask models``."""

import json

from tests.cli.terminal import type_in
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend


def test_table_names_every_model() -> None:
    """People read name, size, digest, context and canvases."""
    ended = type_in("models", backend=FakeBackend(models=(make_model("tiny"),)))

    assert ended.code == 0
    for text in ("tiny", "2,000,000", "0123456789abcdef", "256", "8, 16, 32", "up to 32"):
        assert text in ended.out


def test_json_is_one_object() -> None:
    """Scripts read the same, field by field, and the backend is let go."""
    backend = FakeBackend(models=(make_model("tiny"), make_model("nano")))
    ended = type_in("models", "--json", backend=backend)

    assert [model["name"] for model in json.loads(ended.out)["models"]] == ["tiny", "nano"]
    assert json.loads(ended.out)["models"][0]["canvas_lengths"] == [8, 16, 32]
    assert json.loads(ended.out)["models"][0]["precision"] == "float32"
    assert backend.drained
