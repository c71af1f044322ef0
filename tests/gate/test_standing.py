"""Behaviour of `unmask.gate.standing` and `unmask.gate.apply_corrections`."""

from tests.gate.review_runs import FACT, make_correction, make_key, make_mark, make_response, make_scored
from unmask.gate.apply_corrections import apply_corrections
from unmask.gate.correction import Correction, Decision
from unmask.gate.response import SystemLabel
from unmask.gate.score import Metric, Scored
from unmask.gate.standing import Standing, standing_of

SCORES = tuple(
    make_scored(make_key(name, system=system), make_mark(0.0), make_mark(0.5, Metric.SECONDS))
    for name in ("s0", "s1")
    for system in SystemLabel
)
ONE = SCORES[0]


def standing(*corrections: Correction) -> Standing:
    """Return what decisions come to."""
    return standing_of(corrections, [make_response(one.key) for one in SCORES])


def marks_of(scores: tuple[Scored, ...]) -> list[float | None]:
    """Return the factual marks of the answers of `SCORES`."""
    return [one.marks[0].value for one in scores]


def test_last_decision_counts_and_the_earlier_ones_stay() -> None:
    """A reviewer who changes their mind has one word; nothing is overwritten."""
    first, second = make_correction(ONE, Decision.CORRECT), make_correction(ONE, Decision.WRONG, after=5)
    found = standing(first, second)

    assert found.latest == {(ONE.key, FACT): second}
    assert found.of_each == {(ONE.key, FACT): (second,)}
    assert found.disagreements == ()


def test_reviewers_who_disagree_are_shown() -> None:
    """With the last word of each; the last of all counts."""
    words = (
        make_correction(ONE, Decision.CORRECT, who="mina"),
        make_correction(ONE, Decision.WRONG, who="jun", after=1),
        make_correction(ONE, Decision.SCENARIO_ERROR, who="mina", after=2),
    )
    (found,) = standing(*words).disagreements

    assert found.words == words[1:]
    assert standing(*words).latest[ONE.key, FACT] is words[2]
    assert standing(words[0], make_correction(ONE, Decision.JUDGE_ERROR, who="jun")).disagreements == ()


def test_decision_on_another_text_does_not_count() -> None:
    """It was not this answer that somebody read."""
    other = make_correction(ONE, Decision.CORRECT, text="something else")
    elsewhere = make_correction(make_scored(make_key("nowhere")), Decision.CORRECT)
    found = standing(other, elsewhere)

    assert found.latest == {}
    assert found.foreign == (other, elsewhere)


def test_decision_outlives_a_new_score_of_its_answer() -> None:
    """It is of the answer, whatever a new judge says of it."""
    correction = make_correction(ONE, Decision.CORRECT)
    rescored = make_scored(ONE.key, make_mark(0.25), make_mark(0.5, Metric.SECONDS))

    assert apply_corrections((rescored,), standing(correction))[0].marks[0].value == 1.0


def test_corrected_mark_says_who_and_why() -> None:
    """And keeps what the judge said; other marks are as they were."""
    (found, *others) = apply_corrections(SCORES, standing(make_correction(ONE, Decision.JUDGE_ERROR)))
    mark, seconds = found.marks

    assert (mark.value, mark.borderline, mark.votes) == (1.0, False, ONE.marks[0].votes)
    assert mark.why == (
        "states kaelis.home",
        "judge error by mina at 2026-01-01T00:00:00+00:00, was 0: 후대 영웅은 빠져야 맞다",
    )
    assert (seconds, tuple(others)) == (ONE.marks[1], SCORES[1:])


def test_scenario_error_unscores_both_systems() -> None:
    """All judged marks of its scenario, in whichever answer it was found; no clock is at fault."""
    found = apply_corrections(SCORES, standing(make_correction(ONE, Decision.SCENARIO_ERROR)))

    assert marks_of(found) == [None, None, 0.0, 0.0]
    assert [one.marks[1].value for one in found] == [0.5] * 4
    assert all("scenario error (of s0) by mina" in one.marks[0].why[-1] for one in found[:2])


def test_scenario_error_is_taken_back_by_a_later_decision() -> None:
    """On the same mark, by whomever."""
    back = make_correction(ONE, Decision.WRONG, who="jun", after=1)

    assert marks_of(apply_corrections(SCORES, standing(make_correction(ONE, Decision.SCENARIO_ERROR), back))) == [0] * 4


def test_scores_without_corrections_are_as_they_were() -> None:
    """Nothing is written into what nobody judged."""
    assert apply_corrections(SCORES, standing()) == SCORES
