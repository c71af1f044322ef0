"""Predictions of when a request would be answered."""

import pytest

from unmask.sched.accounts import Accounts
from unmask.sched.forecast import LEAST_ENDED, LEAST_TICKS, Forecast
from unmask.sched.settings import SchedSettings
from unmask.service import ClassTerms
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission

SETTINGS = SchedSettings(max_rows=10)
OVERHEAD_S, TOKEN_S = 0.01, 0.001


def seen(sizes: tuple[int, ...], *, owed: int = 0, ended: int = LEAST_ENDED) -> Forecast:
    """Return a forecast after ticks of so many tokens, ten to a row, and requests that left so much untaken."""
    forecast = Forecast(SETTINGS)
    for number in range(LEAST_TICKS):
        tokens = sizes[number % len(sizes)]
        forecast.ticked(tokens // 10, tokens, OVERHEAD_S + TOKEN_S * tokens)
    for _ in range(ended):
        forecast.ended(make_sequence(), owed)
    return forecast


def test_nothing_is_predicted_from_too_little() -> None:
    """Until some ticks and requests were seen, nobody is told anything."""
    assert Forecast(SETTINGS).seconds(make_submission(), Accounts()) is None
    assert seen((50, 100), ended=LEAST_ENDED - 1).seconds(make_submission(), Accounts()) is None


def test_with_nothing_ahead_it_takes_its_steps() -> None:
    """A tick of a full batch for each: ten rows of ten tokens."""
    predicted = seen((20, 60)).seconds(make_submission(max_steps=6), Accounts())

    assert predicted == pytest.approx(6 * (OVERHEAD_S + 100 * TOKEN_S))


def test_requests_that_take_less_than_they_may_are_expected_to() -> None:
    """Where requests have left half untaken, half is predicted."""
    half = make_submission().most_tokens // 2
    predicted = seen((20, 60), owed=make_submission().most_tokens - half).seconds(
        make_submission(max_steps=6), Accounts()
    )

    assert predicted == pytest.approx(3 * (OVERHEAD_S + 100 * TOKEN_S), rel=0.05)


def test_what_is_ahead_goes_at_the_pace_of_a_full_batch() -> None:
    """Though only small ones were seen so far."""
    accounts = Accounts()
    for _ in range(50):
        accounts.arrive(make_sequence())
    ahead = 50 * make_submission().most_tokens
    tick_s = OVERHEAD_S + 100 * TOKEN_S
    predicted = seen((20, 40)).seconds(make_submission(max_steps=6), accounts)

    assert predicted == pytest.approx(ahead / 100 * tick_s + 6 * tick_s, rel=0.01)


def test_a_class_goes_at_its_part_of_the_pace() -> None:
    """With another class of three times its weight at work, it takes four times as long to come to a request."""
    alone, shared = Accounts(), Accounts()
    light, heavy = ClassTerms(name="light"), ClassTerms(name="heavy", weight=3.0)
    for accounts in (alone, shared):
        for _ in range(50):
            accounts.arrive(make_sequence(make_submission(terms=light)))
    shared.arrive(make_sequence(make_submission(terms=heavy)))
    forecast, one = seen((20, 60)), make_submission(terms=light, max_steps=1)
    short, long = forecast.seconds(one, alone), forecast.seconds(one, shared)
    assert short is not None
    assert long is not None
    own = OVERHEAD_S + 100 * TOKEN_S

    assert (long - own) / (short - own) == pytest.approx(4.0)


def test_ticks_of_one_size_are_taken_to_grow_with_their_tokens() -> None:
    """Nothing is known of a tick's fixed part then, and the longest time is the careful one."""
    predicted = seen((20,)).seconds(make_submission(max_steps=1), Accounts())

    assert predicted == pytest.approx(5 * (OVERHEAD_S + 20 * TOKEN_S))


def test_the_past_is_forgotten() -> None:
    """After the machine has become twice as slow, predictions follow."""
    forecast = seen((20, 60))
    for number in range(600):
        tokens = (20, 60)[number % 2]
        forecast.ticked(tokens // 10, tokens, 2 * (OVERHEAD_S + TOKEN_S * tokens))
    predicted = forecast.seconds(make_submission(max_steps=6), Accounts())

    assert predicted == pytest.approx(12 * (OVERHEAD_S + 100 * TOKEN_S), rel=0.01)


def test_the_work_of_classes_is_told_in_full_forwards_at_their_pace() -> None:
    """All that they may take, a class with a third of the machine three times as long as alone."""
    accounts = Accounts()
    light, heavy = ClassTerms(name="light", deadline_s=7.0), ClassTerms(name="heavy", weight=2.0)
    for terms in (light, heavy):
        for _ in range(50):
            accounts.arrive(make_sequence(make_submission(terms=terms)))
    forwards = 50 * make_submission().most_tokens / 100
    tick_s = OVERHEAD_S + 100 * TOKEN_S
    found = {work.service_class: work for work in seen((20, 60)).works(accounts)}

    assert [found[name].forwards for name in ("light", "heavy")] == pytest.approx([forwards, forwards])
    assert found["light"].drain_s == pytest.approx(3 * forwards * tick_s)
    assert found["heavy"].drain_s == pytest.approx(1.5 * forwards * tick_s)
    assert [found[name].slack_s for name in ("light", "heavy")] == [7.0, SETTINGS.patience_s]
    assert Forecast(SETTINGS).works(accounts) == ()
