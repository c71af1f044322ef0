"""Behaviour of `unmask.gate.review_queue`."""

import pytest

from tests.gate.review_runs import FACT, make_key, make_mark, make_response, make_scored
from unmask.gate.audit import AuditDraw
from unmask.gate.review_errors import ReviewError
from unmask.gate.review_queue import Look, ReviewQueue, review_queue
from unmask.gate.score import Metric, Scored


def queue_of(scores: list[Scored], n: int = 0, seed: int = 0) -> ReviewQueue:
    """Return the queue of a run with an audit of so many answers."""
    draw = AuditDraw(seed=seed, n=n, of=len(scores), who="mina", when="now") if n else None
    return review_queue([make_response(one.key) for one in scores], scores, draw)


def test_targeted_stratum_is_all_that_failed_or_nearly_did() -> None:
    """With probability 1, and why; what passed is in none, nor are seconds."""
    scores = [
        make_scored(make_key("passed"), make_mark(1.0), make_mark(0.4, Metric.SECONDS)),
        make_scored(make_key("failed"), make_mark(0.5)),
        make_scored(make_key("close"), make_mark(1.0, borderline=True)),
        make_scored(make_key("untold"), make_mark(None)),
        make_scored(make_key("lied"), make_mark(1.0, Metric.HALLUCINATION)),
    ]
    found = [(item.response.key.scenario, item.look, item.targeted, item.audit) for item in queue_of(scores).items]

    assert found == [
        ("lied", Look.FAILED, 1.0, None),
        ("failed", Look.FAILED, 1.0, None),
        ("close", Look.BORDERLINE, 1.0, None),
        ("untold", Look.UNSCORED, 1.0, None),
    ]


def test_item_in_both_strata_keeps_both_facts() -> None:
    """An audit of half the answers has passed and failed marks in it, each with its probability."""
    scores = [make_scored(make_key(f"s{number}"), make_mark(float(number % 2))) for number in range(20)]
    items = queue_of(scores, n=10).items

    assert {item.audit for item in items} == {None, 0.5}
    assert {(item.look, item.targeted) for item in items} == {(Look.FAILED, 1.0), (None, None)}
    assert {(item.targeted, item.audit) for item in items} == {(1.0, None), (1.0, 0.5), (None, 0.5)}
    assert sum(item.audit is not None for item in items) == 10


def test_marks_of_an_answer_stay_together() -> None:
    """The answer is read once: its other marks follow the one that matters most."""
    scores = [
        make_scored(make_key("a"), make_mark(0.0, Metric.NATURALNESS), make_mark(0.0)),
        make_scored(make_key("b"), make_mark(1.0, Metric.HALLUCINATION), make_mark(1.0)),
        make_scored(make_key("c"), make_mark(0.0, Metric.PERSONA)),
    ]

    assert [(item.response.key.scenario, item.mark.metric) for item in queue_of(scores).items] == [
        ("b", Metric.HALLUCINATION),
        ("a", FACT),
        ("a", Metric.NATURALNESS),
        ("c", Metric.PERSONA),
    ]


def test_audit_items_come_in_the_order_of_the_draw() -> None:
    """Whatever they were marked: the beginning of it is a random sample."""
    scores = [make_scored(make_key(f"s{number}"), make_mark(float(number % 2))) for number in range(20)]
    small, large = queue_of(scores, n=6).audit_items, queue_of(scores, n=12).audit_items

    assert [item.name for item in large[:6]] == [item.name for item in small]
    assert {item.mark.value for item in large} == {0.0, 1.0}
    assert queue_of(scores).audit_items == ()


def test_faults_are_in_no_stratum() -> None:
    """There is nothing to read; the audit is drawn from the others."""
    scores = [make_scored(make_key("s0"), make_mark(1.0)), make_scored(make_key("gone"), make_mark(None))]
    responses = [make_response(make_key("s0")), make_response(make_key("gone"), fault="429")]
    draw = AuditDraw(seed=0, n=1, of=1, who="mina", when="now")

    assert [item.response.key.scenario for item in review_queue(responses, scores, draw).items] == ["s0"]


@pytest.mark.parametrize(("answered", "scored"), [(["a", "b"], ["a"]), (["a"], ["a", "b"])])
def test_scores_of_other_answers_are_refused(answered: list[str], scored: list[str]) -> None:
    """Half a run reviewed would be a biased one."""
    with pytest.raises(ReviewError, match="score the run again"):
        review_queue(
            [make_response(make_key(name)) for name in answered], [make_scored(make_key(name)) for name in scored], None
        )
