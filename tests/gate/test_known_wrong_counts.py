"""Behaviour of `unmask.gate.known_wrong_counts`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.gate.review_runs import FACT, make_key, make_mark, make_scored
from unmask.gate.artefacts import RunFolder
from unmask.gate.judge_quality import KnownWrong
from unmask.gate.known_wrong_counts import KNOWN_WRONG, known_wrong_of
from unmask.gate.review_errors import ReviewStoreError
from unmask.gate.score import Metric

BY_JUDGE = make_scored(make_key("s0"), make_mark(1.0))
BY_CODE = make_scored(make_key("s1"), replace(make_mark(1.0), votes=()))
COUNTS = {
    "code": {"factual_precision": {"caught": 50, "of": 50}, "persona": {"caught": 0, "of": 0}},
    "judges": {"factual_precision": {"caught": 30, "of": 60}},
}


def folder_with(path: Path, counts: object) -> RunFolder:
    """Return a folder with counts in it."""
    (path / KNOWN_WRONG).write_text(json.dumps(counts), encoding="utf-8")
    return RunFolder(str(path))


def test_counts_are_of_those_who_gave_the_marks(tmp_path: Path) -> None:
    """By votes; of both, the worse one; nothing where none were tried."""
    folder = folder_with(tmp_path, COUNTS)
    manner = make_scored(make_key("s2"), replace(make_mark(1.0, Metric.PERSONA), votes=()))

    assert known_wrong_of(folder, [BY_JUDGE]) == {FACT: KnownWrong(caught=30, of=60)}
    assert known_wrong_of(folder, [BY_CODE, manner]) == {FACT: KnownWrong(caught=50, of=50)}
    assert known_wrong_of(folder, [BY_CODE, BY_JUDGE]) == {FACT: KnownWrong(caught=30, of=60)}
    assert known_wrong_of(RunFolder(str(tmp_path / "other")), [BY_JUDGE]) == {}


@pytest.mark.parametrize("counts", [[], {"code": {"mood": {"caught": 1, "of": 1}}}, {"code": {"format": {"of": -1}}}])
def test_damaged_counts_are_named(tmp_path: Path, counts: object) -> None:
    """And what makes them anew."""
    with pytest.raises(ReviewStoreError, match=r"known-wrong.json is damaged: .*unmask gate score"):
        known_wrong_of(folder_with(tmp_path, counts), [BY_JUDGE])
