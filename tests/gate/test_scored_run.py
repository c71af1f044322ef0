"""Behaviour of `unmask.gate.scored_run`."""

from pathlib import Path

from tests.gate.review_runs import FACT, make_correction, make_key, make_mark, make_run, make_scored
from unmask.gate.artefacts import RunFolder
from unmask.gate.correction import Decision
from unmask.gate.review_store import ReviewStore
from unmask.gate.scored_run import read_scored_run, write_scorer


def test_decisions_of_reviewers_are_in_the_marks_that_are_decided_on(tmp_path: Path) -> None:
    """The kept scores stay as they are; a scenario at fault is unscored; how many marks changed is told."""
    scores = [make_scored(make_key(name), make_mark(0.0)) for name in ("s0", "s1", "s2")]
    folder = RunFolder(str(make_run(tmp_path / "run", scores).path))
    write_scorer(folder, "5" * 64)
    assert read_scored_run(folder).corrected == 0

    store = ReviewStore(folder)
    store.add(make_correction(scores[0], Decision.JUDGE_ERROR, value=1.0))
    store.add(make_correction(scores[1], Decision.SCENARIO_ERROR))
    run = read_scored_run(folder)

    assert [mark.value for one in run.scored for mark in one.marks if mark.metric is FACT] == [1.0, None, 0.0]
    assert run.corrected == 2
    assert folder.scores() == tuple(scores)
