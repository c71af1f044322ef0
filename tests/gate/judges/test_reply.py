"""Replies of judges."""

import pytest

from unmask.gate.judges.reply import Reply, Stop, read_reply

SCALE = range(1, 6)
GOOD = '{"score": 4, "reason": "a slip"}'


@pytest.mark.parametrize(
    "text",
    [GOOD, f"```json\n{GOOD}\n```", f"```\n{GOOD}\n```\n", f"\n  {GOOD}\n", '{"score": 4, "reason": "실수 하나"}'],
)
def test_strict_json_has_a_score(text: str) -> None:
    """By itself or in a fence."""
    assert read_reply(Reply(text=text, stop=Stop.END), SCALE).score == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I would give this a 4 out of 5.", "malformed"),
        (f"Here you are: {GOOD}", "malformed"),
        (f"```json\n{GOOD}\n```\nHope that helps!", "malformed"),
        ('{"score": 4}', "reason: Field required"),
        ('{"score": 4, "reason": "x", "pass": true}', "pass: Extra inputs"),
        ('{"score": "4", "reason": "x"}', "score: "),
        ('{"score": 4.0, "reason": "x"}', "score: "),
        ('{"score": true, "reason": "x"}', "score: "),
        ('{"score": 6, "reason": "x"}', "not on the scale 1..5"),
        ("", "malformed"),
        ("[]", "malformed"),
    ],
)
def test_anything_else_has_none_and_says_why(text: str, reason: str) -> None:
    """Prose, wrong fields and scores off the scale are neither a pass nor a fail."""
    read = read_reply(Reply(text=text, stop=Stop.END), SCALE)

    assert read.score is None
    assert reason in read.reason


@pytest.mark.parametrize(("stop", "reason"), [(Stop.LENGTH, "cut off"), (Stop.REFUSAL, "refused")])
def test_what_was_cut_off_or_refused_has_none_even_if_it_reads_well(stop: Stop, reason: str) -> None:
    """The reason a reply ended counts before what it says."""
    read = read_reply(Reply(text=GOOD, stop=stop), SCALE)

    assert (read.score, reason in read.reason) == (None, True)
