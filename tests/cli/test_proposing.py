"""Behaviour of ``unmask policy propose`` and ``unmask policy advise``."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.tune.synthetic import curves_of
from tests.tune.test_exit_file import tuned
from unmask.policy.digest import policy_digest
from unmask.policy.finality_file import finality_bytes
from unmask.policy.parts import canonical_part
from unmask.policy.policy import BudgetMode
from unmask.policy.standing import Stage
from unmask.policy.store import PolicyStore
from unmask.strategy import StrategyName
from unmask.tasks.item import Split
from unmask.testing.builders import make_model
from unmask.testing.curves import make_curves, make_shares
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.learned import make_finality_model
from unmask.tune.curve import CurveSet
from unmask.tune.curve_file import write_curves
from unmask.tune.exit_file import write_exits
from unmask.tune.run import CURVES

STEEP = make_curves(make_shares((0.1, 0.5, 0.8, 0.9, 0.97), grid=(1, 2, 4, 8, 16), items=300))


def kept(folder: Path, curves: CurveSet = STEEP) -> Path:
    """Keep curves as a run does, and return their folder."""
    folder.mkdir()
    write_curves(folder / CURVES, curves)
    return folder


def act(tmp_path: Path, *argv: str, backend: FakeBackend | None = None) -> Ended:
    """Run an act of ``unmask policy`` on a folder of policies."""
    return type_in("policy", *argv, "--policy-dir", str(tmp_path / "policies"), backend=backend)


def test_a_policy_is_proposed_for_the_model_served(tmp_path: Path) -> None:
    """It is in the folder, as proposed and no further; its sources and the next step are said."""
    backend = FakeBackend()
    ended = act(
        tmp_path, "propose", "--curves", str(kept(tmp_path / "c")), "--as", "ann", "--note", "first", backend=backend
    )
    store = PolicyStore(tmp_path / "policies")
    ((digest, life),) = store.standing().lives.items()
    (entry,) = store.log().entries

    assert ended.code == 0, ended.err
    assert store.policy(digest).task("sort").ceiling == 16
    assert (life.stage, life.authors, entry.signature.note) == (Stage.PROPOSED, frozenset({"ann"}), "first")
    assert "next above collapse" in ended.out
    assert f"unmask policy submit {digest[:12]}" in ended.err
    assert backend.drained


def test_the_same_policy_is_proposed_once(tmp_path: Path) -> None:
    """The second time says where it stands, and the log says nothing."""
    folder = kept(tmp_path / "c")
    first, again = (act(tmp_path, "propose", "--curves", str(folder), "--json") for _ in range(2))

    assert (first.code, again.code) == (0, 0)
    assert json.loads(first.out)["head"] == json.loads(again.out)["head"]
    assert json.loads(again.out)["stage"] == "proposed"
    assert {source["place"] for source in json.loads(again.out)["sources"]} >= {"sort.floor", "buckets", "control"}


def test_tuned_difficulty_makes_a_policy_adaptive(tmp_path: Path) -> None:
    """The estimator goes into the folder with the policy that names it, which can then be submitted."""
    for split in (Split.TUNE, Split.CALIBRATE, Split.TEST):
        kept(tmp_path / split, curves_of(split, 1000 if split is Split.CALIBRATE else 300))
    named = [part for split in ("tune", "calibrate", "test") for part in (f"--{split}", str(tmp_path / split))]
    tuned = type_in("tune", "difficulty", *named, "--out", str(tmp_path / "d.json"), "--json")
    ended = act(
        tmp_path, "propose", "--curves", str(tmp_path / "tune"), "--difficulty", str(tmp_path / "d.json"), "--json"
    )
    assert ended.code == 0, ended.err
    digest = json.loads(ended.out)["digest"]
    policy = PolicyStore(tmp_path / "policies").policy(digest)

    assert policy_digest(policy) == digest
    assert policy.task("sort").mode is BudgetMode.ADAPTIVE, json.loads(ended.out)["sources"]
    assert policy.difficulty == json.loads(tuned.out)["estimator"]
    assert policy.task("sort").shift == json.loads(tuned.out)["tasks"][0]["shift"]
    assert act(tmp_path, "submit", digest[:12]).code == 0


def test_exits_are_taken_from_what_tuning_wrote(tmp_path: Path) -> None:
    """Rule, strategy and finality model; the model's file is put into the folder beside the policy."""
    folder, part = kept(tmp_path / "c"), finality_bytes(make_finality_model())
    (tmp_path / "finality.json").write_bytes(part)
    write_exits(tmp_path / "exits.json", replace(tuned(tmp_path / "runs"), finality=canonical_part(part)[0]))
    given = (
        "--curves",
        str(folder),
        "--exits",
        str(tmp_path / "exits.json"),
        "--part",
        str(tmp_path / "finality.json"),
    )
    ended = act(tmp_path, "propose", *given, "--json")
    assert ended.code == 0, ended.err
    digest = json.loads(ended.out)["digest"]
    entry = PolicyStore(tmp_path / "policies").policy(digest).task("sort")

    assert entry.exit is not None
    assert entry.exit.enabled
    assert entry.strategy is not None
    assert entry.strategy.name is StrategyName.FINALITY
    assert entry.finality == canonical_part(part)[0]
    assert act(tmp_path, "submit", digest[:12]).code == 0


def test_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """With their names."""
    folder = kept(tmp_path / "c")
    for flag, code in (("--exits", 3), ("--part", 2)):
        ended = act(tmp_path, "propose", "--curves", str(folder), flag, str(tmp_path / "none"))
        assert (ended.code, "none" in ended.err) == (code, True), ended.err


@pytest.mark.parametrize("name", ["propose", "advise"])
def test_curves_of_other_weights_are_refused(tmp_path: Path, name: str) -> None:
    """Also where the name is the same; and models that there are not, and items that nothing is chosen on."""
    folder = str(kept(tmp_path / "c"))
    test = str(kept(tmp_path / "t", curves_of(Split.TEST, 20)))
    backend = FakeBackend(models=(make_model("tiny", digest="ffff"),))

    foreign = act(tmp_path, name, "--curves", folder, backend=backend)
    assert (foreign.code, "ffff" in foreign.err) == (3, True)
    assert act(tmp_path, name, "--curves", folder, "--model", "huge").code == 2
    other = act(tmp_path, name, "--curves", test)
    assert (other.code, "split test, allowed: tune" in other.err) == (3, True)
    assert not (tmp_path / "policies").exists()


def test_missing_curves_say_how_to_measure_them(tmp_path: Path) -> None:
    """Nothing is proposed of nothing."""
    ended = act(tmp_path, "propose", "--curves", str(tmp_path / "none"))

    assert (ended.code, "unmask curve" in ended.err) == (3, True)


def test_advice_is_given_with_and_without_traffic(tmp_path: Path) -> None:
    """A table of task types, and one of classes where there are records of requests."""
    traffic, folder = tmp_path / "traffic.jsonl", str(kept(tmp_path / "c"))
    traffic.write_text('{"service_class":"batch","task":"sort","difficulty":1.5,"seconds":0.25}\n')
    plain = act(tmp_path, "advise", "--curves", folder)
    full = act(tmp_path, "advise", "--curves", folder, "--traffic", str(traffic))

    assert (plain.code, full.code) == (0, 0)
    assert "fixed or adaptive" in plain.out
    assert "service classes" not in plain.out
    assert "service classes: not enough data" in full.out


def test_advice_as_json_is_one_object(tmp_path: Path) -> None:
    """Scripts read the same."""
    value = json.loads(act(tmp_path, "advise", "--curves", str(kept(tmp_path / "c")), "--json").out)

    assert [entry["task"] for entry in value["tasks"]] == ["sort"]
    assert value["classes"] is None
