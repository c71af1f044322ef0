"""``unmask gate score``, with real folders and a real judge server."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.gate.judges.fake_judge import Answered, Body, prompt_of, serving
from tests.gate.scored_folder import judge_file, right_answers, run_folder, small_suite
from unmask.cli import gate_score
from unmask.cli.entry import run
from unmask.cli.tools import Tools
from unmask.gate.errors import RunFolderError
from unmask.gate.scenario import Suite
from unmask.gate.score import Metric
from unmask.gate.scored_run import read_scored_run
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.worlds import gate_response


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Return the suite that every name stands for."""
    made = small_suite(copies=6)
    monkeypatch.setattr(gate_score, "suite_of_run", lambda folder, name: made)
    return made


def told(*argv: str) -> tuple[int, str, str]:
    """Run a command; return its exit code, results and messages."""
    out, err = io.StringIO(), io.StringIO()
    tools = Tools(
        out=Console(file=out, width=160), err=Console(file=err, width=160), make_backend=lambda settings: FakeBackend()
    )
    return run(["gate", "score", *argv], lambda: tools), out.getvalue(), err.getvalue()


def scored_json(*argv: str) -> dict[str, object]:
    """Return what the command tells machines."""
    code, out, err = told(*argv, "--json")
    assert code == 0, err
    record: dict[str, object] = json.loads(out)
    return record


def test_without_a_judge_naturalness_has_no_mark(tmp_path: Path, suite: Suite) -> None:
    """All else has; the folder then holds scores and who made them."""
    folder = run_folder(tmp_path, suite, right_answers(suite))
    code, out, err = told(str(tmp_path))

    assert (code, "naturalness" in out, "factual_precision" in out) == (0, False, True)
    assert "0 marks unscored" in err
    found = read_scored_run(folder)
    assert len(found.scored) == len(suite.scenarios)
    assert folder.read_text("scoring.json") is not None


def test_scoring_twice_is_the_same_and_another_scorer_is_told_apart(tmp_path: Path, suite: Suite) -> None:
    """Equal digests, equal files; a judge beside code has another digest."""
    folder = run_folder(tmp_path, suite, right_answers(suite))
    scored_json(str(tmp_path))
    first = (read_scored_run(folder), (tmp_path / "scores.jsonl").read_bytes())
    scored_json(str(tmp_path))
    assert (read_scored_run(folder), (tmp_path / "scores.jsonl").read_bytes()) == first
    with serving(lambda _: Answered()) as server:
        scored_json(str(tmp_path), "--judge", str(judge_file(tmp_path, server.url)))
        asked = len(server.asked)
        judged = read_scored_run(folder)
        scored_json(str(tmp_path), "--judge", str(judge_file(tmp_path, server.url)))
        assert len(server.asked) == asked

    assert judged.scorer != first[0].scorer
    assert read_scored_run(folder) == judged


def test_a_judge_that_always_says_yes_is_caught_by_known_wrong_answers(tmp_path: Path, suite: Suite) -> None:
    """Its specificity is 0 and a warning says that its marks prove nothing; code's own are fine."""
    run_folder(tmp_path, suite, right_answers(suite))
    with serving(lambda _: Answered()) as server:
        argv = (str(tmp_path), "--judge", str(judge_file(tmp_path, server.url)), "--known-wrong", "6")
        record = scored_json(*argv)
        code, _, err = told(*argv)

    outcomes = {(one["by"], one["metric"]): one for one in record["known_wrong"]}  # type: ignore[attr-defined]
    assert outcomes["judges", "factual_precision"]["caught"] == 0
    assert outcomes["judges", "factual_precision"]["tells_apart"] is False
    assert outcomes["code", "factual_precision"]["caught"] == 6
    assert code == 0
    assert "judges cannot be told from saying the same of every answer on factual_precision" in err
    assert "no answer was made wrong in naturalness" in err


def test_where_nothing_can_be_made_wrong_that_is_said(tmp_path: Path, suite: Suite) -> None:
    """Or a judge that nothing was tried on would look as good as one that was."""
    wrong = [replace(one, turns=tuple(replace(turn, text="Hm.") for turn in one.turns)) for one in right_answers(suite)]
    run_folder(tmp_path, suite, wrong)

    code, _, err = told(str(tmp_path), "--known-wrong", "6")

    assert code == 0
    assert "none could be made wrong" in err


def test_a_judge_that_knows_right_from_wrong_is_not_warned_of(tmp_path: Path, suite: Suite) -> None:
    """It fails what is wrong and passes what is right."""

    def answer(body: Body) -> Answered:
        text = prompt_of(body).split("Answer 1: ")[1]
        right = any(text.startswith(one.turns[0].text) for one in right_answers(suite))
        return Answered(text=json.dumps({"score": 5 if right else 1, "reason": "known"}))

    run_folder(tmp_path, suite, right_answers(suite))
    with serving(answer) as server:
        judge = str(judge_file(tmp_path, server.url))
        _, _, err = told(str(tmp_path), "--judge", judge, "--known-wrong", "12")

    assert "judges cannot be told from saying the same of every answer on factual_precision" not in err


def test_prose_is_unscored_and_agreement_says_so(tmp_path: Path, suite: Suite) -> None:
    """A judge that only writes prose leaves marks without value, and exits with 0: it is no failure of the model."""
    run_folder(tmp_path, suite, right_answers(suite))
    with serving(lambda _: Answered(text="Very nice.")) as server:
        record = scored_json(str(tmp_path), "--judge", str(judge_file(tmp_path, server.url)), "--k", "2")

    rows = {row["metric"]: row for row in record["metrics"]}  # type: ignore[attr-defined]
    assert rows["naturalness"] == {
        "system": "model",
        "metric": "naturalness",
        "mean": None,
        "scored": 0,
        "unscored": 30,
        "borderline": 30,
    }
    assert record["agreement"]["naturalness"]["ac1"]["value"] is None  # type: ignore[index]


def test_identical_answers_score(tmp_path: Path, suite: Suite) -> None:
    """All answers alike: kappa has no value, AC1 is 1, nothing breaks."""
    answers = [gate_response("I am a keeper.", scenario=one.id) for one in suite.scenarios]
    run_folder(tmp_path, suite, answers)
    with serving(lambda _: Answered()) as server:
        argv = (str(tmp_path), "--judge", str(judge_file(tmp_path, server.url)), "--k", "3")
        agreement = scored_json(*argv)["agreement"]
        code, out, _ = told(*argv)

    assert agreement["naturalness"]["ac1"]["value"] == 1.0  # type: ignore[index]
    assert agreement["naturalness"]["kappa"]["value"] is None  # type: ignore[index]
    assert (code, "all ratings are the same" in out) == (0, True)


@pytest.mark.parametrize(
    ("more", "said"),
    [(("--k", "3"), "--k is 3"), (("--judge", "none.yaml"), "none.yaml")],
)
def test_wrong_usage_exits_with_3(tmp_path: Path, suite: Suite, more: tuple[str, ...], said: str) -> None:
    """Nothing is decided by a mistake."""
    run_folder(tmp_path, suite, right_answers(suite))
    code, out, err = told(str(tmp_path), *more)

    assert (code, out) == (3, "")
    assert said in err


def test_a_refused_key_exits_with_3_and_leaves_no_scores(tmp_path: Path, suite: Suite) -> None:
    """A pipeline must not go on with everything unscored."""
    run_folder(tmp_path, suite, right_answers(suite))
    with serving(lambda _: Answered(status=401, raw=b"no")) as server:
        code, _, err = told(str(tmp_path), "--judge", str(judge_file(tmp_path, server.url)))

    assert (code, "401" in err) == (3, True)
    assert not (tmp_path / "scores.jsonl").exists()


def test_a_run_of_another_suite_exits_with_3(tmp_path: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are named."""
    run_folder(tmp_path, suite, right_answers(suite))
    other = Suite(id="other", family="small", scenarios=suite.scenarios, worlds=suite.worlds, digest="e" * 64)
    monkeypatch.setattr(gate_score, "suite_of_run", lambda folder, name: other)
    code, _, err = told(str(tmp_path))

    assert (code, "dddddddddddd" in err, "eeeeeeeeeeee" in err) == (3, True, True)


def test_an_empty_folder_exits_with_3(tmp_path: Path) -> None:
    """There is nothing to score."""
    code, _, err = told(str(tmp_path))

    assert (code, "holds no gate run" in err) == (3, True)


@pytest.mark.parametrize(("name", "family"), [("example", "small"), ("generated", "generated")])
def test_a_run_of_a_shipped_suite_finds_its_suite(tmp_path: Path, name: str, family: str) -> None:
    """By its family and digest, without being told."""
    made = replace(small_suite(), family=family)
    other = replace(made, digest="e" * 64)
    folder = run_folder(tmp_path, made, [])

    assert gate_score.suite_of_run(folder, None, lambda asked: made if asked == name else other) is made


def test_a_run_of_no_shipped_suite_asks_for_its_suite(tmp_path: Path) -> None:
    """It is not scored against another."""
    folder = run_folder(tmp_path, small_suite(), [])

    with pytest.raises(RunFolderError, match="name its file"):
        gate_score.suite_of_run(folder, None, lambda asked: replace(small_suite(), digest="e" * 64))


def test_unscored_metrics_of_a_fault(tmp_path: Path, suite: Suite) -> None:
    """A fault of the infrastructure is no failure of the model."""
    faults = [gate_response(scenario=one.id, fault="503") for one in suite.scenarios]
    run_folder(tmp_path, suite, faults)
    rows = scored_json(str(tmp_path))["metrics"]

    assert {row["mean"] for row in rows} == {None}  # type: ignore[attr-defined]
    assert {row["metric"] for row in rows} >= {Metric.HALLUCINATION.value, Metric.SECONDS.value}  # type: ignore[attr-defined]
