"""What ``unmask policy propose`` and ``unmask policy advise`` do with curves."""

import argparse
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from unmask.cli.exits import Exit
from unmask.cli.proposing import curves_path, run_advise, run_propose
from unmask.cli.tools import Tools
from unmask.errors import UnknownModelError
from unmask.testing.builders import make_model
from unmask.testing.curves import make_curves, make_shares
from unmask.testing.fake_backend import FakeBackend
from unmask.tune.curve_file import write_curves
from unmask.tune.errors import CurveFileError, ForeignCurvesError

CURVES = make_curves(make_shares((0.1, 0.5, 0.8, 0.9, 0.97), grid=(1, 2, 4, 8, 16), items=300))


def tools(backend: FakeBackend | None = None) -> Tools:
    """Return tools that keep what they write."""
    out, err = (Console(file=io.StringIO(), width=200) for _ in range(2))
    return Tools(out=out, err=err, make_backend=lambda _: backend or FakeBackend())


def written(console: Console) -> str:
    """Return what went to a console."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def arguments(folder: Path, **changes: object) -> argparse.Namespace:
    """Return parsed arguments that name a file of curves."""
    path = folder / "curves.json"
    write_curves(path, CURVES)
    fields: dict[str, object] = {"curves": path, "model": "tiny", "traffic": None, "json": False}
    return argparse.Namespace(**(fields | changes))


def test_a_policy_is_proposed_for_the_model_served(tmp_path: Path) -> None:
    """The table of sources goes to stderr, and the backend is let go."""
    backend = FakeBackend()
    used = tools(backend)
    proposal = run_propose(arguments(tmp_path), used)

    assert proposal.policy.task("sort").ceiling == 16
    assert "next above collapse" in written(used.err)
    assert backend.drained


def test_curves_of_other_weights_are_refused(tmp_path: Path) -> None:
    """Also where the name is the same; and models that there are not."""
    with pytest.raises(ForeignCurvesError):
        run_propose(arguments(tmp_path), tools(FakeBackend(models=(make_model("tiny", digest="ffff"),))))
    with pytest.raises(UnknownModelError):
        run_propose(arguments(tmp_path, model="huge"), tools())


def test_curves_are_looked_for_where_they_are_kept(tmp_path: Path) -> None:
    """Unless a file is named."""
    named = arguments(tmp_path)
    assert curves_path(named) == named.curves
    named.curves = None
    assert curves_path(named) == Path("runs/curve-tiny/curves.json")
    with pytest.raises(CurveFileError, match="unmask curve"):
        run_advise(argparse.Namespace(curves=tmp_path / "none.json", model="tiny", traffic=None, json=True), tools())


def test_advice_is_given_with_and_without_traffic(tmp_path: Path) -> None:
    """A table of task types, and one of classes where there are records of requests."""
    traffic = tmp_path / "traffic.jsonl"
    traffic.write_text('{"service_class":"batch","task":"sort","difficulty":1.5,"seconds":0.25}\n')
    plain, full = tools(), tools()

    assert run_advise(arguments(tmp_path), plain) == Exit.OK
    assert "fixed or adaptive" in written(plain.out)
    assert "service classes" not in written(plain.out)
    assert run_advise(arguments(tmp_path, traffic=traffic), full) == Exit.OK
    assert "service classes: not enough data" in written(full.out)


def test_advice_as_json_is_one_object(tmp_path: Path) -> None:
    """Scripts read the same."""
    used = tools()
    run_advise(arguments(tmp_path, json=True), used)
    value = json.loads(written(used.out))

    assert [entry["task"] for entry in value["tasks"]] == ["sort"]
    assert value["classes"] is None
