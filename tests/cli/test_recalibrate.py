"""Behaviour of ``unmask recalibrate``."""

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from tests.cli.terminal import Ended, type_in
from tests.control.handmade import make_record
from tests.policy.places import STOPPING, promote
from unmask.backend import ExitRecord, Request
from unmask.control.records import RecordFolder
from unmask.errors import UnmaskError
from unmask.policy.store import PolicyStore
from unmask.tasks.item import Split
from unmask.testing.budget_policies import DAY, make_class_policy, make_exit, make_policy, make_task_policy, signed
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.tune.before_after import ALL
from unmask.tune.items import draw_items
from unmask.tune.recalibration import REPORT, TEXT

ITEMS, PAIRED = 4, 3
ANSWERS = {
    item.messages: item.answer
    for task in ("arithmetic", "sort")
    for split, count in ((Split.TUNE, ITEMS), (Split.TEST, PAIRED))
    for item in draw_items(task, count, 0, split)
}
SIZES = ("--items", str(ITEMS), "--compare-items", str(PAIRED), "--grid", "1,4,16")
NEW = "f" * 16


def answer(request: Request) -> str:
    """Answer rightly from four steps on."""
    steps = 16 if request.budget is None else request.budget.max_steps
    return ANSWERS[request.messages] if steps >= 4 else "?"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder for policies, controls and runs."""
    return tmp_path


def store(place: Path) -> PolicyStore:
    """Return the policies of a folder."""
    return PolicyStore(place / "policies")


def recalibrate(place: Path, *argv: str, backend: FakeBackend | None = None) -> Ended:
    """Run ``unmask recalibrate`` on a folder."""
    return type_in(
        *("recalibrate", "--policy-dir", str(place / "policies"), "--controls", str(place / "controls"), *argv),
        backend=backend or FakeBackend(answer),
        now=lambda: datetime(2026, 2, 1, tzinfo=UTC),
    )


def measured(place: Path, *argv: str, backend: FakeBackend | None = None) -> Ended:
    """Measure, propose and report in a folder."""
    return recalibrate(place, *SIZES, "--folder", str(place / "run"), "--as", "ann", *argv, backend=backend)


def controls(place: Path, policy: str, count: int, *, moved: bool = False, wrong: bool = False) -> None:
    """Keep records of controls since a promotion."""
    folder, rng = RecordFolder(place / "controls"), Random(1)
    for number in range(count):
        harder = 6 if moved and number >= count // 2 else 0
        folder.add(
            make_record(
                id=f"c{number}",
                time=DAY.timestamp() + 3600 + number,
                policy=policy,
                features=(("digits", float(rng.randint(1, 9) + harder)),),
                steps=rng.randint(4, 8),
                exit_passed=not wrong,
            )
        )


# --- whether it is due -------------------------------------------------------


def test_a_model_without_a_policy_is_due(place: Path) -> None:
    """It was never calibrated."""
    ended = recalibrate(place, "--check")

    assert (ended.code, "has no policy yet" in ended.out) == (1, True)


def test_new_weights_are_due(place: Path) -> None:
    """The policy of the old ones is named."""
    digest = promote(store(place), make_policy())
    ended = recalibrate(place, "--check", "--json", backend=FakeBackend(models=(make_model("tiny", digest=NEW),)))
    found = json.loads(ended.out)

    assert (ended.code, found["due"], found["policy"]) == (1, "recalibrate", None)
    assert digest[:12] in found["reasons"][0]
    assert NEW in found["reasons"][0]


@pytest.mark.parametrize(
    ("count", "changes", "code", "told"),
    [
        (0, {}, 3, "not enough data"),
        (600, {}, 3, "not enough data"),
        (1000, {}, 0, "nothing to do"),
        (1000, {"moved": True}, 1, "digits has moved"),
        (60, {"wrong": True}, 1, "misjudgement is above its limit"),
    ],
)
def test_controls_tell_whether_it_is_due(
    place: Path, count: int, changes: dict[str, bool], code: int, told: str
) -> None:
    """A script learns it from the exit code, a person from the last line."""
    controls(place, promote(store(place), STOPPING), count, **changes)
    ended = recalibrate(place, "--check")
    script = recalibrate(place, "--check", "--json")

    assert (ended.code, script.code) == (code, code), ended.err
    assert told in " ".join(ended.out.split())
    assert json.loads(script.out)["controls"] == count


def test_policies_that_wait_are_named(place: Path) -> None:
    """What is due stays so until somebody has promoted what was proposed."""
    digest = store(place).propose(make_policy(), signed("ann"))
    ended = recalibrate(place, "--check", "--json")

    assert (ended.code, json.loads(ended.out)["waiting"]) == (1, [digest])
    assert f"policy {digest[:12]} waits" in ended.err


# --- a new policy ------------------------------------------------------------


def test_a_first_calibration_proposes_and_reports(place: Path) -> None:
    """Against the built-in fixed budget; the next step is said, and nothing is approved."""
    ended = measured(place)
    assert ended.code == 0, ended.err
    report = json.loads((place / "run" / REPORT).read_bytes())
    text = (place / "run" / TEXT).read_text()

    assert report["before"] is None
    assert store(place).life(report["after"]).stage == "proposed"
    assert store(place).life(report["after"]).authors == {"ann"}
    assert report["reasons"] == ["tiny has no policy yet"]
    assert [entry["task"] for entry in report["comparisons"]] == ["arithmetic", "sort", ALL]
    assert all(entry["items"] == PAIRED for entry in report["comparisons"][:2])
    assert set(report["comparisons"][0]["before"]) == {"steps", "quality", "p50_s", "p95_s", "exits", "misjudgement"}
    assert "## Old against new" in text
    assert "| steps a request |" in text
    assert "unmask policy submit" in ended.err
    assert "24 of 24 measured" in ended.err


def test_a_finished_report_is_never_overwritten(place: Path) -> None:
    """Not even to go on."""
    measured(place)
    before = (place / "run" / REPORT).read_bytes()
    backend = FakeBackend(answer)

    for argv in ((), ("--resume",)):
        ended = measured(place, *argv, backend=backend)
        assert (ended.code, "finished recalibration" in ended.err) == (3, True)
    assert (place / "run" / REPORT).read_bytes() == before
    assert backend.requests == []


@pytest.mark.parametrize("after", [1, 10, 26, 33])
def test_a_killed_run_goes_on(place: Path, after: int) -> None:
    """Wherever it was cut short, what was measured is kept, and the policy is the same and proposed once."""
    asked: list[Request] = []

    def dying(request: Request) -> str:
        asked.append(request)
        if len(asked) > after:
            raise UnmaskError("the backend is gone")
        return answer(request)

    cut = measured(place, "--in-flight", "1", backend=FakeBackend(dying))
    refused = measured(place, "--in-flight", "1")
    rest = FakeBackend(answer)
    ended = measured(place, "--in-flight", "1", "--resume", backend=rest)

    assert (cut.code, refused.code, "--resume" in refused.err) == (3, 3, True)
    assert ended.code == 0, ended.err
    assert len(rest.requests) == 2 * ITEMS * 3 + 2 * 2 * PAIRED - after
    assert len(store(place).log().entries) == 1


def test_a_run_goes_on_under_the_same_policy_only(place: Path) -> None:
    """Once another one is in force, nothing that was measured is compared with it."""

    def dying(_: Request) -> str:
        raise UnmaskError("the backend is gone")

    measured(place, backend=FakeBackend(dying))
    promote(store(place), make_policy())
    ended = measured(place, "--resume")

    assert (ended.code, "is in force; name another --folder" in ended.err) == (3, True)


def test_old_against_new_with_exits(place: Path) -> None:
    """What people decided is kept, exits that fit are kept, and their misjudgement is measured on full runs."""
    classes = (make_class_policy("night", max_steps=20, re_expansions=3),)
    old = make_policy(
        tasks=(make_task_policy(), make_task_policy("sort", alpha=0.04, exit=make_exit(enabled=True))),
        classes=classes,
        default_class="night",
    )
    digest = promote(store(place), old)
    ended = measured(
        place,
        "--note",
        "after the fair",
        "--json",
        backend=FakeBackend(answer, exit=lambda _: ExitRecord(steps=2, text="wrong")),
    )
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    new = store(place).policy(report["after"])
    sort = next(entry for entry in report["comparisons"] if entry["task"] == "sort")

    assert (report["before"], report["reasons"], report["service_class"]) == (digest, ["asked for"], "night")
    assert (new.classes, new.default_class, new.control) == (classes, "night", old.control)
    kept, was = new.task("sort").exit, old.task("sort").exit
    assert kept is not None
    assert was is not None
    assert (new.task("sort").alpha, kept.enabled, set(kept.rule.conditions)) == (0.04, True, set(was.rule.conditions))
    assert sort["before"]["exits"] == sort["after"]["exits"] == PAIRED
    assert sort["before"]["misjudgement"]["value"] == 1.0
    assert sort["before"]["quality"]["value"] == 0.0
    assert store(place).log().entries[-1].signature.note == "after the fair"


def test_an_exit_that_is_wrong_too_often_only_observes(place: Path) -> None:
    """Until it is tuned anew."""
    digest = promote(store(place), STOPPING)
    controls(place, digest, 60, wrong=True)
    ended = measured(place, "--json")
    report = json.loads(ended.out)
    found = store(place).policy(report["after"]).task("sort").exit

    assert found is not None
    assert not found.enabled
    assert report["reasons"] == ["sort: misjudgement is above its limit"]


def test_new_weights_keep_decisions_and_no_exits(place: Path) -> None:
    """Rules that were tuned on other weights say nothing of these."""
    promote(store(place), STOPPING)
    backend = FakeBackend(answer, models=(make_model("tiny", digest=NEW),))
    report = json.loads(measured(place, "--json", backend=backend).out)
    new = store(place).policy(report["after"])

    assert (report["before"], new.model_digest) == (None, NEW)
    assert new.classes == STOPPING.classes
    assert new.task("sort").exit is None


def test_difficulty_is_tuned_anew_where_asked(place: Path) -> None:
    """On two more curves, for the budgets about to be proposed; what was tuned is in the report, and kept."""
    answers = ANSWERS | {
        item.messages: item.answer
        for task in ("arithmetic", "sort")
        for split in (Split.CALIBRATE, Split.TEST)
        for item in draw_items(task, ITEMS, 0, split)
    }
    backend = FakeBackend(lambda request: answers[request.messages])
    ended = measured(place, "--difficulty", "--json", backend=backend)
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    (place / "run" / REPORT).unlink()
    again = FakeBackend(answer)

    assert report["difficulty"]["estimator"]
    assert [task["shift"] for task in report["difficulty"]["tasks"]] == [None, None]
    assert {path.name for path in (place / "run").iterdir()} >= {"tune", "calibrate", "test", "difficulty.json"}
    assert measured(place, "--difficulty", "--resume", backend=again).code == 0
    assert again.requests == []


def test_today_is_the_folder_unless_one_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To go on, the latest that has no report."""
    monkeypatch.chdir(place)
    begun = place / "runs" / "recalibrate-tiny-20260115"
    first = recalibrate(place, *SIZES)
    measured(place, "--folder", str(begun), backend=FakeBackend(error=UnmaskError("gone")))
    (begun / "begun.json").write_text(json.dumps({"before": None, "reasons": ["then"], "alarmed": []}))
    gone_on = recalibrate(place, *SIZES, "--resume")

    assert (first.code, (place / "runs" / "recalibrate-tiny-20260201" / REPORT).exists()) == (0, True)
    assert (gone_on.code, json.loads((begun / REPORT).read_bytes())["reasons"]) == (0, ["then"])
