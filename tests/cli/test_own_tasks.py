"""``unmask curve --tasks``, and what comes after it."""

import json
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.tune.own.lines import line, write
from tests.tune.own.test_criteria import FAQ
from unmask.backend import Request
from unmask.policy.store import PolicyStore
from unmask.tasks.item import Split
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.tune.curve_file import read_curves
from unmask.tune.own.criteria import CRITERIA
from unmask.tune.own.file import read_tasks
from unmask.tune.run import CURVES


def answer(request: Request) -> str:
    """Count on rightly from four steps on."""
    assert request.budget is not None
    number = int(request.messages[-1].content.partition("의")[0])
    return f"답: {number + 1}" if request.budget.max_steps >= 4 else "모름"


def curve(tmp_path: Path, count: int, *argv: str, backend: FakeBackend | None = None) -> Ended:
    """Measure on so many items of the task type ``faq``."""
    path = write(tmp_path / "my.jsonl", (line(number) for number in range(count)))
    return type_in(
        *("curve", "--tasks", str(path), "--grid", "1,4,16", "--folder", str(tmp_path / "kept"), *argv),
        backend=backend or FakeBackend(answer),
    )


def test_few_items_have_a_curve_and_no_landmarks(tmp_path: Path) -> None:
    """How many there are is said; nothing is read off so few, and criteria nobody wrote are named a default."""
    ended = curve(tmp_path, 30)
    tasks = read_tasks(tmp_path / "my.jsonl")
    count = tasks.counts(Split.TUNE)["faq"]
    (measured,) = read_curves(tmp_path / "kept" / CURVES).curves

    assert ended.code == 0, ended.err
    assert f"faq: {count} items of 30 in the file, split tune, fewer than 2,000: intervals are wider" in ended.err
    assert "criteria of faq are a default" in ended.err
    assert "not enough data" in ended.out
    assert measured.quality.tolist() == [0, 1, 1]
    assert len(measured.items) == count
    assert (tmp_path / "kept" / "faq.svg").stat().st_size > 0


def test_a_policy_for_them_is_proposed_approved_and_active(tmp_path: Path) -> None:
    """With enough items its budgets are the landmarks; the proposal says whose criteria there are."""
    (tmp_path / "criteria.yaml").write_text(FAQ, encoding="utf-8")
    ended = curve(tmp_path, 400, "--criteria", str(tmp_path / "criteria.yaml"), "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["settings"]["tasks_file"]["items"] == {"faq": 400}

    folder = ("--policy-dir", str(tmp_path / "policies"))
    proposed = type_in("policy", "propose", "--curves", str(tmp_path / "kept"), "--json", "--as", "ann", *folder)
    assert proposed.code == 0, proposed.err
    found = json.loads(proposed.out)
    sources = {source["place"]: source for source in found["sources"]}
    assert sources["faq.criteria"]["value"] == "given"
    for act in ("submit", "approve", "promote"):
        done = type_in("policy", act, found["digest"][:12], "--as", "ann" if act == "submit" else "bob", *folder)
        assert done.code == 0, done.err
    entry = PolicyStore(tmp_path / "policies").policy(found["digest"]).task("faq")
    assert (entry.task, entry.floor, entry.default, entry.ceiling) == ("faq", 4, 4, 4)

    others = write(tmp_path / "others.jsonl", (line(number, task="other") for number in range(9)))
    argv = ("curve", "--tasks", str(others), "--grid", "1,16", "--folder", str(tmp_path / "others"))
    assert type_in(*argv, backend=FakeBackend(answer)).code == 0
    told = type_in("policy", "propose", "--curves", str(tmp_path / "others"), "--as", "ann", *folder)
    assert "the active policy has faq too" in told.err


def test_a_proposal_needs_complete_criteria(tmp_path: Path) -> None:
    """A task type without them is refused, as those of the package are."""
    assert curve(tmp_path, 30).code == 0
    (tmp_path / "kept" / CRITERIA).write_text(FAQ.replace("failure: fact", "failure: logic"), encoding="utf-8")
    propose = ("policy", "propose", "--curves", str(tmp_path / "kept"), "--policy-dir", str(tmp_path / "policies"))
    broken = type_in(*propose)
    (tmp_path / "kept" / CRITERIA).unlink()
    missing = type_in(*propose)

    assert (broken.code, "no quality criterion for fact" in broken.err) == (2, True)
    assert (missing.code, CRITERIA in missing.err) == (2, True)


def test_a_run_goes_on_with_the_same_file_only(tmp_path: Path) -> None:
    """Criteria that were written down meanwhile stay; another file's items would make no curve."""
    assert curve(tmp_path, 30).code == 0
    (tmp_path / "kept" / CRITERIA).write_text(FAQ, encoding="utf-8")
    again, other = FakeBackend(answer), FakeBackend(answer)
    gone_on = curve(tmp_path, 30, "--resume", backend=again)
    changed = curve(tmp_path, 31, "--resume", backend=other)

    assert (gone_on.code, again.requests) == (0, [])
    assert (tmp_path / "kept" / CRITERIA).read_text(encoding="utf-8") == FAQ
    assert (changed.code, "tasks_file" in changed.err, other.requests) == (3, True, [])


def test_what_tunes_is_never_what_is_tested(tmp_path: Path) -> None:
    """Each split is asked its own items."""
    asked = {}
    for split in ("tune", "calibrate", "test"):
        backend = FakeBackend(answer)
        ended = curve(tmp_path, 60, "--split", split, "--folder", str(tmp_path / split), backend=backend)
        assert ended.code == 0, ended.err
        asked[split] = {request.messages for request in backend.requests}

    assert sum(map(len, asked.values())) == len(set.union(*asked.values())) == 60


def test_a_model_elsewhere_is_measured_too(tmp_path: Path) -> None:
    """Another server's model needs no task type of ours; one that takes no budget is refused by name."""
    elsewhere = make_model("their/model", tasks=())
    measured = curve(
        *(tmp_path, 30, "--remote", "remote.yaml", "--model", "their/model"),
        backend=FakeBackend(answer, models=(elsewhere,)),
    )
    refused = curve(
        *(tmp_path, 30, "--remote", "remote.yaml", "--model", "plain", "--folder", str(tmp_path / "no")),
        backend=FakeBackend(answer, models=(make_model("plain", tasks=(), levers=(), canvas_lengths=()),)),
    )

    assert measured.code == 0, measured.err
    assert (refused.code, "requests may name steps" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("count", "argv", "code", "message"),
    [
        (0, (), 2, "is empty"),
        (30, ("--task", "sort"), 2, "allowed: faq"),
        (1, ("--split", "calibrate"), 3, "not enough data: no item of faq belongs to the split calibrate"),
        (30, ("--exits", "exits.json"), 2, "leave it out with --tasks"),
        (30, ("--criteria", "none.yaml"), 2, "none.yaml cannot be read"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, count: int, argv: tuple[str, ...], code: int, message: str) -> None:
    """Nothing is measured."""
    backend = FakeBackend(answer)
    ended = curve(tmp_path, count, *argv, backend=backend)

    assert (ended.code, message in ended.err, backend.requests) == (code, True, []), ended.err


def test_criteria_alone_are_refused(tmp_path: Path) -> None:
    """Those of the package are the package's."""
    ended = type_in("curve", "--criteria", "c.yaml", "--folder", str(tmp_path), backend=FakeBackend(answer))

    assert (ended.code, "add --tasks FILE" in ended.err) == (2, True)


def test_no_estimator_is_trained_on_them(tmp_path: Path) -> None:
    """Its items could not be drawn again, so that is said rather than tried."""
    assert curve(tmp_path, 30).code == 0
    named = [part for split in ("tune", "calibrate", "test") for part in (f"--{split}", str(tmp_path / "kept"))]
    ended = type_in("tune", "difficulty", *named, "--out", str(tmp_path / "d.json"), backend=FakeBackend(answer))

    assert (ended.code, "faq, task types of a user's own" in ended.err) == (3, True), ended.err
