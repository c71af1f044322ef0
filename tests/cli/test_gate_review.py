"""Behaviour of ``unmask gate review``, ``calibration`` and ``finding``."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.gate.review_runs import FACT, START, Made, make_key, make_mark, make_run, make_scored
from tests.gate.test_suite_append import yaml_suite
from unmask.cli import gate_review_parser
from unmask.gate import judge_quality
from unmask.gate.response import SystemLabel
from unmask.gate.review_finding import FindingKind
from unmask.gate.reviewed import Stratum, open_reviewed
from unmask.gate.score import Metric


def ticking() -> Callable[[], datetime]:
    """Return a time of day that is another second each time."""
    seconds: Iterator[int] = iter(range(10_000))
    return lambda: START + timedelta(seconds=next(seconds))


NOW = ticking()


@pytest.fixture(name="run")
def _run(tmp_path: Path) -> Made:
    """Two systems, ten scenarios: of the first, answers to s0 failed and lied; to s1 they are borderline."""
    scores = [
        make_scored(make_key("s0"), make_mark(0.0), make_mark(1.0, Metric.HALLUCINATION)),
        make_scored(make_key("s1"), make_mark(1.0, borderline=True), make_mark(0.2, Metric.SECONDS)),
        *(make_scored(make_key(f"s{number}")) for number in range(2, 10)),
        *(make_scored(make_key(f"s{number}", system=SystemLabel.AGAINST)) for number in range(10)),
    ]
    return make_run(tmp_path / "run", scores)


def gate(action: str, run: Made, *argv: str) -> Ended:
    """Run an action on the run as somebody."""
    named = ("--as", "mina") if action != "calibration" else ()
    return type_in("gate", action, str(run.path), *named, *argv, now=NOW)


def decide(run: Made, *marks: str, who: str = "mina", note: str = "까닭") -> Ended:
    """Decide without a terminal."""
    options = [part for mark in marks for part in ("--decide", mark)]
    return type_in("gate", "review", str(run.path), "--as", who, "--note", note, *options, now=NOW)


def at_terminal(monkeypatch: pytest.MonkeyPatch, run: Made, typed: str, *argv: str) -> Ended:
    """Type at a terminal; what is not typed is the end of input."""
    keyboard = io.StringIO(typed)
    monkeypatch.setattr(keyboard, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", keyboard)
    return gate("review", run, *argv)


def test_list_shows_every_mark_of_the_queue(run: Made) -> None:
    """With why it is there and what was decided of it; where reviewers disagree is said."""
    assert decide(run, "s0:0:model:factual_precision=judge_error").code == 0
    assert decide(run, "s0:0:model:factual_precision=wrong", who="jun").code == 0
    ended = gate("review", run, "--list")

    assert ended.code == 0
    assert "failed (all taken)" in " ".join(ended.out.split())
    assert "borderline" in ended.out
    assert all(":0:model:" in line.split()[0] for line in ended.out.splitlines() if not line.startswith(" "))
    assert "s0:0:model:factual_precision: reviewers disagree, the last word counts" in ended.out
    assert "targeted: 1 of 3 judged; random audit: none drawn, see --audit" in " ".join(ended.err.split())


def test_json_has_all_that_a_page_needs(run: Made) -> None:
    """Answers with their context, votes, strata and decisions."""
    assert gate("review", run, "--audit", "20").code == 0
    assert decide(run, "s0:0:model:hallucination=correct").code == 0
    found = json.loads(gate("review", run, "--json").out)
    item = next(one for one in found["items"] if one["mark"] == "s0:0:model:hallucination")

    assert (found["run"], found["draw"]) == ("run-1", {"seed": 0, "n": 20, "of": 20, "who": "mina"})
    assert (found["targeted"], found["audit"]) == ({"judged": 1, "of": 3}, {"judged": 1, "of": 21})
    assert (item["look"], item["targeted_probability"], item["audit_probability"]) == ("failed", 1.0, 1.0)
    assert item["turns"][0]["text"] == "카엘리스는 북쪽에 산다."
    assert item["turns"][0]["context"]["facts"][0]["id"] == "kaelis.home"
    assert item["votes"][0]["judge"] == "judge-1"
    assert [(one["decision"], one["who"], one["value"]) for one in item["decisions"]] == [("correct", "mina", 0.0)]


def test_next_shows_one_and_asks_nothing(run: Made) -> None:
    """What matters most, with question, facts, answer and votes; then what comes after it."""
    ended = gate("review", run, "--next")
    decide(run, "s0:0:model:hallucination=wrong", "s0:0:model:factual_precision=wrong")

    assert "카엘리스는 어디 사나?" in ended.out
    assert "카엘리스의 집은 북쪽이다." in ended.out
    assert "kaelis.home (asked, 0.5)" in ended.out
    assert "--- hallucination: 1" in ended.out
    assert "judge-1 votes 1: 집이 맞다" in ended.out
    assert "s1" in gate("review", run, "--next").out
    decide(run, "s1:0:model:factual_precision=correct")
    assert "nothing more to judge" in gate("review", run, "--next").err


def test_terminal_asks_mark_by_mark(run: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each decision is kept at once; an answer is shown once; wrong keys and missing notes are asked again."""
    ended = at_terminal(monkeypatch, run, "x\nj\n\nj\nnot false\nk\nc\nfine\n")
    found = open_reviewed(str(run.path)).corrections

    assert ended.code == 0
    assert [(one.key.scenario, one.metric, one.value, one.note) for one in found] == [
        ("s0", Metric.HALLUCINATION, 0.0, "not false"),
        ("s1", FACT, 1.0, "fine"),
    ]
    assert ended.out.count("=== s0") == 1
    assert "'x' is no decision" in ended.err
    assert "needs a note" in ended.err
    assert "nothing more to judge; targeted: 2 of 3 judged" in ended.err


def test_quitting_loses_nothing(run: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the end of input, or Ctrl-C in the middle of a note."""
    assert at_terminal(monkeypatch, run, "w\n\nq\n").code == 0
    assert at_terminal(monkeypatch, run, "w\n\n").code == 0
    answers = iter(["w"])

    def interrupted(*_: object, **__: object) -> str:
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr("rich.console.Console.input", interrupted)
    assert at_terminal(monkeypatch, run, "").code == 130
    assert len(open_reviewed(str(run.path)).corrections) == 2


def test_graded_mark_is_given_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the other side of the bar does not say enough."""
    run = make_run(tmp_path, [make_scored(make_key(), make_mark(0.5, Metric.PERSONA))])
    assert at_terminal(monkeypatch, run, "j\nmany\nj\n0.75\ntoo strict\n").code == 0

    assert [one.value for one in open_reviewed(str(run.path)).corrections] == [0.75]


def test_what_another_terminal_decides_meanwhile_is_not_asked(run: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """While this reviewer reads the first mark, another settles the next one."""
    answers = iter(["w", "no"])

    def answered(*_: object, **__: object) -> str:
        decide(run, "s0:0:model:factual_precision=wrong", "s1:0:model:factual_precision=correct", who="jun")
        return next(answers)

    monkeypatch.setattr("rich.console.Console.input", answered)
    ended = at_terminal(monkeypatch, run, "")

    assert (ended.code, "nothing more to judge" in ended.err) == (0, True)
    assert {one.who for one in open_reviewed(str(run.path)).corrections} == {"mina", "jun"}


def test_second_reviewer_is_asked_what_others_judged(run: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else."""
    decide(run, "s1:0:model:factual_precision=correct", who="jun")
    ended = at_terminal(monkeypatch, run, "w\nno\n", "--second")

    assert ended.code == 0
    assert [one.who for one in open_reviewed(str(run.path)).corrections] == ["jun", "mina"]
    assert len(open_reviewed(str(run.path)).standing.disagreements) == 1


def test_without_a_terminal_nothing_is_asked(run: Made) -> None:
    """The command says what else there is."""
    ended = gate("review", run)

    assert ended.code == 3
    assert "use --list, --next or --decide" in ended.err


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        (("s0:0:model:factual_precision",), "has no decision"),
        (("s0:0:model:factual_precision=maybe",), "has no decision"),
        (("s0:model=wrong",), "names no mark"),
        (("s99:0:model:factual_precision=wrong",), "no answer of this run"),
        (("s0:0:model:persona=wrong",), "has no persona, allowed: factual_precision, hallucination"),
        (("s1:0:model:seconds=wrong",), "measured, not judged"),
        (("s0:0:model:factual_precision=wrong", "s0:7:model:factual_precision=wrong"), "no answer of this run"),
    ],
)
def test_decision_on_nothing_is_refused(run: Made, marks: tuple[str, ...], says: str) -> None:
    """Where one of several is none, none is kept."""
    ended = decide(run, *marks)

    assert ended.code == 3
    assert says in ended.err
    assert open_reviewed(str(run.path)).corrections == ()


def test_folder_without_a_scored_run_is_refused(tmp_path: Path) -> None:
    """It says which command makes one."""
    run = make_run(tmp_path / "run", [])
    empty = Made(path=tmp_path / "nothing", responses=(), scores=())

    assert "run `unmask gate score` first" in gate("review", run, "--list").err
    assert "holds no gate run" in gate("review", empty, "--list").err
    assert gate("review", empty, "--list").code == 3


def test_audit_cannot_be_drawn_again_until_it_looks_good(run: Made) -> None:
    """More may be drawn, with the same seed."""
    assert gate("review", run, "--audit", "5", "--audit-seed", "3").code == 0
    assert gate("review", run, "--audit", "8").code == 0
    other = gate("review", run, "--audit", "8", "--audit-seed", "4")

    assert (other.code, "no random ones" in other.err) == (3, True)
    assert open_reviewed(str(run.path)).audit.of >= 8
    assert "--audit-seed goes with --audit" in gate("review", run, "--audit-seed", "4").err


def test_answer_does_not_steer_the_terminal(tmp_path: Path) -> None:
    """Its control characters are shown, not sent."""
    run = make_run(tmp_path, [make_scored(make_key("s\x1b[2J"), make_mark(0.0))])

    assert "\x1b" not in gate("review", run, "--next").out
    assert "s\\x1b[2J" in gate("review", run, "--next").out


def test_calibration_says_how_good_marks_are(tmp_path: Path) -> None:
    """By metric and system; machines get intervals or why there are none."""
    scores = [make_scored(make_key(f"s{number}"), make_mark(float(number % 3 > 0))) for number in range(120)]
    run = make_run(tmp_path, scores)
    assert gate("review", run, "--audit", "120").code == 0
    assert decide(run, *(f"s{number}:0:model:factual_precision={_truth(number)}" for number in range(120))).code == 0
    found = json.loads(gate("calibration", run, "--known-wrong", "factual_precision=45/50", "--json").out)
    (metric,) = found["metrics"]
    (system,) = metric["systems"]

    assert metric["audit"] == {"judged": 120, "of": 120, "used": 120, "left_out": 0}
    assert metric["sensitivity"]["estimate"] == pytest.approx(80 / 90)
    assert metric["specificity"]["estimate"] == 1.0
    assert metric["known_wrong_caught"]["estimate"] == 0.9
    assert (metric["specificity_source"], system["system"]) == ("audit", "model")
    assert system["raw"]["estimate"] == pytest.approx(80 / 120)
    assert system["corrected"]["estimate"] == pytest.approx(90 / 120)
    assert system["people"]["estimate"] == pytest.approx(90 / 120)
    assert "Corrected rates decide nothing" in " ".join(gate("calibration", run).out.split())


def _truth(number: int) -> str:
    """Two in three are right and marked so; every twelfth is right and marked wrong."""
    return "correct" if number % 3 or number % 12 == 0 else "wrong"


def test_calibration_without_labels_is_not_enough_data(run: Made) -> None:
    """And says so in so many words; options that are none are refused."""
    ended = gate("calibration", run)

    assert ended.code == 0
    assert "not enough data (0)" in ended.out
    for wrong in ("persona", "persona=3/2", "seconds=1/2", "mood=1/2"):
        refused = gate("calibration", run, "--known-wrong", wrong)
        assert (refused.code, "allowed: METRIC=CAUGHT/ALL" in refused.err) == (3, True)


def test_judge_no_better_than_chance_is_said(tmp_path: Path) -> None:
    """One that always says yes, by answers that were made wrong."""
    run = make_run(tmp_path, [make_scored(make_key(f"s{number}")) for number in range(40)])
    gate("review", run, "--audit", "40")
    decide(run, *(f"s{number}:0:model:factual_precision=correct" for number in range(40)))
    ended = gate("calibration", run, "--known-wrong", "factual_precision=0/40")

    assert "judge no better than chance" in ended.out
    assert "its rates say nothing" in ended.err


def test_finding_writes_a_scenario(run: Made, tmp_path: Path) -> None:
    """With where it comes from; the finding is kept beside the run."""
    suite = yaml_suite(tmp_path / "suite.yaml")
    decide(run, "s0:0:model:factual_precision=judge_error", note="옛 봉인은 맞다")
    (correction,) = open_reviewed(str(run.path)).corrections
    ended = gate("finding", run, "--from", correction.id[:6], "--kind", "scenario", "--to", str(suite))
    (finding,) = open_reviewed(str(run.path)).store.findings()

    assert (ended.code, ended.out.split()[0]) == (0, finding.scenario)
    assert (finding.corrections, finding.to) == ((correction.id,), str(suite))
    assert "judge error by mina" in suite.read_text(encoding="utf-8")


def test_finding_notes_a_changed_rubric(run: Made, tmp_path: Path) -> None:
    """And says that answers seen before cannot pass by it."""
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text("persona: …", encoding="utf-8")
    decide(run, "s0:0:model:factual_precision=judge_error")
    (correction,) = open_reviewed(str(run.path)).corrections
    base = ("--from", correction.id, "--kind", "rubric", "--to")
    ended = gate("finding", run, *base, str(rubric), "--note", "말투는 사실이 아니다", "--json")

    assert json.loads(ended.out)["finding"]["note"] == "말투는 사실이 아니다"
    assert "ask fresh scenarios" in ended.err
    assert "needs --note" in gate("finding", run, *base, str(rubric)).err
    assert "there is no file" in gate("finding", run, *base, str(tmp_path / "no.yaml"), "--note", "x").err
    assert "is of a scenario" in gate("finding", run, *base, str(rubric), "--note", "x", "--id", "s").err


def test_help_names_what_there_is() -> None:
    """The grammar has values of its own, so that help is instant; they are those of the gate."""
    assert (tuple(Stratum), tuple(FindingKind)) == (gate_review_parser.STRATA, gate_review_parser.KINDS)
    assert judge_quality.MIN_LABELS == gate_review_parser.MIN_LABELS


def test_finding_from_nothing_is_refused(run: Made, tmp_path: Path) -> None:
    """From no decision, or from decisions on several scenarios."""
    suite = yaml_suite(tmp_path / "suite.yaml")
    decide(run, "s0:0:model:factual_precision=wrong", "s1:0:model:factual_precision=wrong")
    ids = [one.id for one in open_reviewed(str(run.path)).corrections]

    unknown = gate("finding", run, "--from", "xyz", "--kind", "scenario", "--to", str(suite))
    several = gate("finding", run, "--from", *ids, "--kind", "scenario", "--to", str(suite))
    assert (unknown.code, "names no decision" in unknown.err) == (3, True)
    assert (several.code, "decisions on one scenario" in several.err) == (3, True)
