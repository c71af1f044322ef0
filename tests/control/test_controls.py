"""Behaviour of `unmask.control.controls`."""

from random import Random

from unmask.control.controls import control_fraction, draw_control
from unmask.policy.policy import ControlPolicy
from unmask.testing.budget_policies import RULE
from unmask.testing.policies import make_assignment
from unmask.types import ExitAction, ExitPlan

POLICY = ControlPolicy(fraction=0.02, young_fraction=0.2, young_until=100)
EXITING = make_assignment(task="sort", rule=RULE, exit=ExitPlan(rule=RULE), controls=POLICY)


def test_young_rule_has_more_controls() -> None:
    """Until there are as many as the policy wants."""
    assert [control_fraction(POLICY, seen) for seen in (0, 99, 100, 10_000)] == [0.2, 0.2, 0.02, 0.02]


def test_draws_come_as_often_as_the_policy_says() -> None:
    """A fifth of 20000 requests within four standard deviations, and the same ones for the same seed."""

    def drawn() -> list[bool]:
        rng = Random(3)
        return [draw_control(EXITING, 0, rng.random()).is_control for _ in range(20_000)]

    first = drawn()

    assert abs(sum(first) - 4_000) < 4 * (20_000 * 0.2 * 0.8) ** 0.5
    assert first == drawn()


def test_control_observes_and_knows_its_probability() -> None:
    """Its rule stops nothing; the others note how likely they were."""
    control, other = draw_control(EXITING, 100, 0.019), draw_control(EXITING, 100, 0.02)

    assert control.exit == ExitPlan(rule=RULE, action=ExitAction.OBSERVE)
    assert (control.is_control, control.probability) == (True, 0.02)
    assert other.exit == ExitPlan(rule=RULE)
    assert (other.is_control, other.probability) == (False, 0.02)


def test_rule_that_stops_nothing_yet_is_observed() -> None:
    """So that it can become one that does."""
    disabled = make_assignment(task="sort", rule=RULE, controls=POLICY)

    assert draw_control(disabled, 0, 0.0).exit == ExitPlan(rule=RULE, action=ExitAction.OBSERVE)
    assert draw_control(disabled, 0, 0.9).exit is None


def test_what_cannot_exit_is_no_control() -> None:
    """It would run to its budget anyway."""
    assert draw_control(make_assignment(), 0, 0.0) == make_assignment()


def test_no_fraction_draws_nothing() -> None:
    """Not even the smallest number there is."""
    never = make_assignment(rule=RULE, controls=ControlPolicy(fraction=0.0, young_fraction=0.2, young_until=0))

    assert not draw_control(never, 0, 0.0).is_control
