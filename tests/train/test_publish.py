"""Publishing puts weights and their card into the package."""

from pathlib import Path

import pytest

from tests.train.small import fresh
from unmask.engine.weights import load_weights, save_weights
from unmask.errors import ConfigError
from unmask.train.publish import measured_quality, publish

RESULTS = {
    "model_digest": "another",
    "figures": [
        {"name": "sort_accuracy", "value": 0.9, "n": 1000},
        {"name": "sort_accuracy_ar", "value": 0.8, "n": 1000},
        {"name": "sort[length=3]_accuracy", "value": 1.0, "n": 100},
        {"name": "sort.saturation_steps", "value": 8.0, "n": None},
    ],
}


def trained(folder: Path) -> Path:
    """Leave behind what a run leaves."""
    save_weights(folder / "model.safetensors", fresh(), name="nano")
    (folder / "log.jsonl").write_text('{"step": 10, "seconds": 60, "tasks": []}\n', encoding="utf-8")
    return folder


def test_weights_are_copied_with_a_card_that_awaits_measuring(tmp_path: Path) -> None:
    """Before any bench the card says that quality is not measured yet."""
    card = publish("nano", 3, trained(tmp_path), tmp_path, None)

    assert load_weights(tmp_path / "nano.safetensors").name == "nano"
    assert "Not measured yet" in card.read_text(encoding="utf-8")
    assert "| seed | 3 |" in card.read_text(encoding="utf-8")


def test_quality_of_other_weights_is_refused(tmp_path: Path) -> None:
    """A card never shows figures that were measured on other weights."""
    publish("nano", 3, trained(tmp_path), tmp_path, None)

    with pytest.raises(ConfigError, match="not of"):
        publish("nano", 3, tmp_path, tmp_path, RESULTS)


def test_quality_of_these_weights_is_shown(tmp_path: Path) -> None:
    """With results of the packaged weights the card has their rates and intervals."""
    publish("nano", 3, trained(tmp_path), tmp_path, None)
    digest = load_weights(tmp_path / "nano.safetensors").digest
    card = publish("nano", 3, tmp_path, tmp_path, {**RESULTS, "model_digest": digest}).read_text(encoding="utf-8")

    assert "| sort | as targeted | 900/1000 | 90.0 % (88.0 to 91.7) | 80.0 % |" in card
    assert "Not measured yet" not in card
    assert card.count("## ") == 5
    assert "\n\n## Limits\n\n" in card


def test_rows_are_read_from_accuracies_only() -> None:
    """Each accuracy is a row, with the autoregressive one beside it where it was measured."""
    rows = measured_quality(RESULTS)

    assert [(row.task, row.difficulty, row.successes, row.causal_successes) for row in rows] == [
        ("sort", "as targeted", 900, 800),
        ("sort", "length=3", 100, None),
    ]
