"""Puts a trained model into the package: ``python -m unmask.train.publish NAME``.

Without results it copies the weights of a run and writes a card that says
*not measured yet*; with the kept result of ``unmask bench model`` it writes
the card's part on quality anew, as measured on those very weights.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmask.engine.weights import load_weights
from unmask.errors import ConfigError
from unmask.stats import Interval, wilson
from unmask.train.card import Quality, render_card, with_quality
from unmask.train.log import read_log
from unmask.train.recipe import recipe

PACKAGE = Path("src/unmask/engine/weights")
MEASURED = "_accuracy"


def publish(name: str, seed: int, folder: Path, package: Path, results: Mapping[str, Any] | None) -> Path:
    """Copy weights and write their card, or with results write the card's part on quality anew; returns the card.

    Raises:
        ConfigError: the results are of other weights than the packaged ones.
        WeightsError: the weights are damaged.
    """
    weights = package / f"{name}.safetensors"
    if results is None:
        load_weights(folder / "model.safetensors")
        shutil.copyfile(folder / "model.safetensors", weights)
    elif results["model_digest"] != load_weights(weights).digest:
        raise ConfigError(
            f"the results are of model {results['model_digest']!r}, not of {str(weights)!r}; measure again"
        )
    card = package / f"{name}.md"
    if results is None:
        log = read_log(folder / "log.jsonl")
        seconds = log[-1].seconds if log else 0.0
        text = render_card(recipe(name, seed), log, seconds=seconds, quality=())
    else:
        text = with_quality(card.read_text(encoding="utf-8"), measured_quality(results))
    card.write_text(text, encoding="utf-8")
    return card


def measured_quality(results: Mapping[str, Any]) -> tuple[Quality, ...]:
    """Return the accuracies of a kept ``bench model`` result, with the autoregressive ones beside them."""
    figures = {figure["name"]: figure for figure in results["figures"]}
    rows: list[Quality] = []
    for name, figure in figures.items():
        if not name.endswith(MEASURED):
            continue
        task, _, difficulty = name.removesuffix(MEASURED).partition("[")
        successes, n = round(figure["value"] * figure["n"]), figure["n"]
        causal = figures.get(f"{name}_ar")
        match wilson(successes, n):
            case Interval(low=low, high=high):
                rows.append(
                    Quality(
                        task=task,
                        difficulty=difficulty.rstrip("]") or "as targeted",
                        successes=successes,
                        n=n,
                        low=low,
                        high=high,
                        causal_successes=None if causal is None else round(causal["value"] * causal["n"]),
                    )
                )
            case _:
                continue
    return tuple(rows)


def main(argv: list[str] | None = None) -> int:
    """Publish one model; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m unmask.train.publish", description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--seed", type=int, default=0, help="the run's seed")
    parser.add_argument("--folder", type=Path, help="the run's folder (default runs/NAME)")
    parser.add_argument("--package", type=Path, default=PACKAGE)
    parser.add_argument("--results", type=Path, help="kept result of `unmask bench model` on the packaged weights")
    args = parser.parse_args(argv)
    results = None if args.results is None else json.loads(args.results.read_text(encoding="utf-8"))
    print(publish(args.name, args.seed, args.folder or Path("runs") / args.name, args.package, results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
