"""Behaviour of `unmask.tune.exit_learned`."""

from collections.abc import Sequence

import pytest

from unmask.policy.exit_rule import learned_score, rule_faults
from unmask.testing.exits import make_progress
from unmask.tune.exit_learned import fit_exit
from unmask.tune.exit_runs import ExitRun, KeptStep, RunKey
from unmask.tune.items import draw_items
from unmask.types import ExitRule, Progress, ProgressSignal

ITEMS = draw_items("sort", 40, 0)


def progress(*, is_sure: bool) -> Progress:
    """Return the signals of a canvas that has settled, or of one that has not."""
    high, low = (0.9, 0.05) if is_sure else (0.3, 0.8)
    return make_progress(
        flips=low,
        kl=low,
        confidence_p10=high,
        confidence_mean=high,
        confidence_min=high,
        gap=10 * high,
        entropy=low,
        format=None,
    )


def step(number: int, text: str, *, is_sure: bool, done: bool = False) -> KeptStep:
    """Return a step of the only canvas."""
    found = progress(is_sure=is_sure)
    return KeptStep(
        canvas=0,
        step=number,
        done=done,
        filled=0 if done else 3,
        values=tuple(found[signal] for signal in ProgressSignal),
        data=text.encode().hex(),
        ends=True,
    )


def runs(wrong: Sequence[int] = ()) -> list[ExitRun]:
    """Return runs whose drafts are right once they are sure; some of them end wrongly."""
    found = []
    for number, item in enumerate(ITEMS):
        answer = "?" if number in wrong else item.answer
        trace = (
            step(0, "?", is_sure=False),
            step(1, answer, is_sure=True),
            step(2, answer, is_sure=True, done=True),
        )
        key = RunKey(task="sort", item=item.digest, budget=8, strategy="klass", rule=None)
        found.append(ExitRun(key=key, steps=3, correct=number not in wrong, trace=trace))
    return found


def test_it_tells_drafts_that_are_right() -> None:
    """Sure canvases score high and others low; the rule may be used, and the same runs give the same version."""
    learned = fit_exit(ITEMS, runs(), 0.9)
    assert learned is not None
    sure, unsure = (learned_score(learned, progress(is_sure=is_sure)) for is_sure in (True, False))

    assert sure is not None
    assert unsure is not None
    assert unsure < 0.1
    assert sure > 0.9
    assert list(rule_faults(ExitRule(learned=learned))) == []
    assert learned == fit_exit(ITEMS, runs(), 0.9)
    assert ProgressSignal.FORMAT not in ExitRule(learned=learned).signals


def test_what_is_wrong_anyway_costs_nothing() -> None:
    """Half of the full runs are wrong too, so an unsure draft costs something half of the time."""
    learned = fit_exit(ITEMS, runs(wrong=range(0, 40, 2)), 0.9)
    assert learned is not None
    unsure = learned_score(learned, progress(is_sure=False))

    assert unsure == pytest.approx(0.5, abs=0.15)


def test_nothing_to_tell_apart_is_no_score() -> None:
    """Where stopping never costs anything; nor where there are too few steps."""
    assert fit_exit(ITEMS, runs(range(40)), 0.9) is None
    assert fit_exit(ITEMS[:5], runs()[:5], 0.9) is None
