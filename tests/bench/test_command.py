"""Behaviour of `unmask bench` as a command, without measuring."""

import re
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.bench.policies import store_policy
from tests.bench.small import TOKENIZER, small_model
from tests.policy.places import promote
from unmask.bench import command
from unmask.bench.bench import Bench
from unmask.bench.policy_under_test import NoPolicyError
from unmask.cli.bench_parser import MEASURES, OPTIONS_OF
from unmask.cli.exits import UsageError
from unmask.cli.parser import build_parser
from unmask.cli.tools import system_tools
from unmask.cli.workshop import run_bench
from unmask.clock import SystemClock
from unmask.engine.weights import LoadedModel
from unmask.errors import UnmaskError
from unmask.policy.store import PolicyStore

MODEL = LoadedModel(name="tiny", digest="0123456789abcdef", network=small_model().network)
BENCH = Bench(model=MODEL, tokenizer=TOKENIZER, clock=SystemClock())


def make_args(folder: Path, **changes: Any) -> Namespace:  # noqa: ANN401 - any argument
    """Return the arguments of a bench whose policies are in a folder."""
    fields = {
        "name": "policy",
        "policy": None,
        "policy_dir": str(folder),
        "curves": None,
        "look_seed": None,
        "folder": None,
        "report": None,
        "row": None,
        "checkpoint": None,
        "approximate_cache": None,
        "approximate_cache_refresh": None,
        "items": None,
        "steps": None,
    }
    return Namespace(**(fields | changes))


def test_bench_without_policy_says_so_before_anything_is_measured(tmp_path: Path) -> None:
    """It was asked for by name, so that the command ends with the error."""
    with pytest.raises(NoPolicyError, match="no approved policy"):
        command._runners(BENCH, make_args(tmp_path), Console(stderr=True))


def test_among_all_a_bench_without_policy_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others are measured, and it is said that this one cannot be."""
    found = command._runners(BENCH, make_args(tmp_path, name="all"), Console(stderr=True, soft_wrap=True))

    assert list(found) == [name for name in MEASURES if name != "policy"]
    assert "bench policy cannot measure" in capsys.readouterr().err


def test_with_a_policy_all_are_run(tmp_path: Path) -> None:
    """In the order of the tables."""
    store = PolicyStore(tmp_path)
    promote(store, store_policy(store, tmp_path, MODEL.digest))

    assert tuple(command._runners(BENCH, make_args(tmp_path, name="all"), Console(stderr=True))) == MEASURES


def test_agreement_is_of_a_checkpoint_and_a_cache(tmp_path: Path) -> None:
    """Without both nothing is measured; among all it is not asked for."""
    for given in ({"checkpoint": tmp_path}, {"approximate_cache": "dual"}):
        with pytest.raises(UnmaskError, match="--checkpoint DIR --approximate-cache dual"):
            command._runners(BENCH, make_args(tmp_path, name="agreement", **given), Console(stderr=True))
    named = make_args(tmp_path, name="agreement", checkpoint=tmp_path, approximate_cache="prefix")

    assert list(command._runners(BENCH, named, Console(stderr=True))) == ["agreement"]


@pytest.mark.parametrize(
    ("option", "bench", "of"),
    [
        ("policy", "gate", "policy"),
        ("policy_dir", "engine", "policy"),
        ("curves", "engine", "policy"),
        ("look_seed", "engine", "policy"),
        ("folder", "engine", "policy, gate, search and layers"),
        ("report", "policy", "gate"),
        ("row", "gate", "layers"),
        ("checkpoint", "engine", "agreement"),
    ],
)
def test_options_of_one_bench_are_refused_elsewhere(option: str, bench: str, of: str) -> None:
    """An option that nobody reads is no option."""
    given: dict[str, Any] = dict.fromkeys(OPTIONS_OF) | {option: "x"}

    with pytest.raises(UsageError, match=f"--{option.replace('_', '-')} is for bench {of}, and bench {bench}"):
        run_bench(Namespace(name=bench, **given), system_tools())


@pytest.mark.parametrize("name", [*MEASURES, "agreement"])
def test_help_of_a_bench_shows_what_it_takes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a name, and where all are run, it shows what there is."""
    shown = []
    for argv in (["bench", name, "--help"], ["bench", "-h"]):
        with pytest.raises(SystemExit, match=r"^0$"):
            build_parser().parse_args(argv)
        shown.append(set(re.findall(r"(?m)^  (?:-h, )?--([a-z-]+)", capsys.readouterr().out)))
    others = {option.replace("_", "-") for option, benches in OPTIONS_OF.items() if name not in benches}

    assert shown[1] - shown[0] == others
