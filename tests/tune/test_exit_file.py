"""Behaviour of `unmask.tune.exit_file`, its tables and pictures."""

import asyncio
import io
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from tests.tune.traced import TASK, Behaviour, TracedBackend, make_runner
from unmask.policy.convert import raw_exit
from unmask.policy.file import parse_policy, policy_text
from unmask.strategy import StrategyName
from unmask.testing.builders import make_model
from unmask.testing.curves import make_curves, make_origin, make_shares
from unmask.testing.learned import make_finality_model
from unmask.tune.advise import advise
from unmask.tune.errors import ExitFileError, ExitRunError
from unmask.tune.exit_file import ExitSet, read_exits, write_exits
from unmask.tune.exit_picture import save_exit_picture
from unmask.tune.exit_report import candidate_table, exit_table, needs
from unmask.tune.exits import ExitSearch, tune_exit
from unmask.tune.propose import propose

PART = "f" * 64
MODEL = make_model("tiny")


def tuned(folder: Path, behaviour: Behaviour | None = None, *, with_finality: bool = True) -> ExitSet:
    """Tune a task type with a fake."""
    search = ExitSearch(
        items=40,
        calibrate_items=40,
        seed=0,
        misjudgement_limit=0.2,
        quality_limit=0.2,
        finality=make_finality_model() if with_finality else None,
    )
    runner = make_runner(folder, TracedBackend(behaviour))
    return ExitSet(
        model=MODEL.name,
        model_digest=MODEL.digest,
        canvas_length=16,
        finality=PART if with_finality else None,
        search=search,
        origin=make_origin(),
        tasks=(asyncio.run(tune_exit(runner, TASK, 8, search, lambda _: None)),),
    )


def test_a_proposal_takes_what_is_written(tmp_path: Path) -> None:
    """Rule, whether it is enabled, strategy and the digest of what that reads; the policy can be written and read."""
    exits = tuned(tmp_path)
    write_exits(tmp_path / "exits.json", exits)
    extras = read_exits(tmp_path / "exits.json", model=MODEL.name, model_digest=MODEL.digest)
    curves = make_curves(make_shares((0.1, 0.9, 0.97), grid=(1, 8, 16), items=300))
    proposal = propose(curves, MODEL, advise(curves), extras)
    entry = proposal.policy.task(TASK)

    assert exits.tasks[0].strategy.name is StrategyName.FINALITY
    assert entry.exit is not None
    assert raw_exit(entry.exit) == raw_exit(exits.tasks[0].exit)
    assert entry.exit.enabled
    assert entry.strategy == replace(exits.tasks[0].strategy, finality=None)
    assert entry.finality == PART
    assert parse_policy(policy_text(proposal.policy).encode()).task(TASK).finality == PART
    assert {source.place for source in proposal.sources} >= {f"{TASK}.strategy", f"{TASK}.exit"}


def test_other_weights_are_refused(tmp_path: Path) -> None:
    """Exits are of the weights they were tuned on."""
    write_exits(tmp_path / "exits.json", tuned(tmp_path, with_finality=False))

    with pytest.raises(ExitFileError, match="and this is tiny other"):
        read_exits(tmp_path / "exits.json", model="tiny", model_digest="other")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": "unmask.exits/2"}, "format"),
        ({"more": 1}, "more"),
        ({"tasks": {"sort": {}}}, "tasks.sort"),
        ({"items": -1}, "items"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    """The error has the place."""
    path = tmp_path / "exits.json"
    write_exits(path, tuned(tmp_path, with_finality=False))
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | change))

    with pytest.raises(ExitFileError, match=reason):
        read_exits(path, model=MODEL.name, model_digest=MODEL.digest)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """With what makes it."""
    with pytest.raises(ExitFileError, match="unmask tune exit"):
        read_exits(tmp_path / "none.json", model="tiny", model_digest="m")


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """So is a picture."""
    exits = tuned(tmp_path, with_finality=False)

    with pytest.raises(ExitRunError, match="cannot write"):
        write_exits(tmp_path / "runs.jsonl" / "exits.json", exits)
    with pytest.raises(ExitRunError, match="cannot write"):
        save_exit_picture(exits.tasks[0], exits, tmp_path / "none" / "sort.svg")


@pytest.mark.parametrize("behaviour", [Behaviour(), Behaviour(early_wrong=2), Behaviour(hasty_wrong=2)])
def test_it_is_shown(tmp_path: Path, behaviour: Behaviour) -> None:
    """Tables and picture name every setting; the same run draws the same picture."""
    exits = tuned(tmp_path, behaviour, with_finality=False)
    (found,) = exits.tasks
    console = Console(file=io.StringIO(), width=240)
    console.print(candidate_table(found))
    console.print(exit_table(exits))
    for name in ("a.svg", "b.svg"):
        save_exit_picture(found, exits, tmp_path / name)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()

    assert all(one.setting.name in text for one in found.measured)
    assert ("← chosen" in text) is (found.chosen is not None)
    assert ("enabled" in text) is found.exit.enabled
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_is_needed_is_told(tmp_path: Path) -> None:
    """For the limit, and for a task type that was tested on too few exits."""
    exits = tuned(tmp_path, with_finality=False)
    strict = replace(exits, search=replace(exits.search, misjudgement_limit=0.01))

    (enough,) = needs(exits)
    told, lacking = needs(strict)
    assert enough.endswith("at most 20.00%: 16 with 0 misjudged, 40 with 3 misjudged")
    assert "381 with 0 misjudged, 878 with 3 misjudged" in told
    assert lacking == "sort: 40 exits were tested and 0 of them misjudged; 381 would be needed"
