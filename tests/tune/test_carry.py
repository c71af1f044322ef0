"""Behaviour of `unmask.tune.carry`."""

from dataclasses import replace

from unmask.policy.rules import check_policy
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.budget_policies import make_class_policy, make_exit, make_policy, make_task_policy
from unmask.testing.builders import make_model
from unmask.testing.curves import make_curves, make_shares
from unmask.tune.carry import carried, carried_exits, carried_start
from unmask.tune.propose import propose
from unmask.tune.start import Start
from unmask.tune.task_strategy import TaskStrategy

CURVES = make_curves(make_shares((0.1, 0.5, 0.8, 0.9, 0.97), grid=(1, 2, 4, 8, 16), items=300))
PROPOSAL = propose(CURVES, make_model("tiny"), ())
KLASS = StrategyChoice(name=StrategyName.KLASS)
EXIT = make_exit(enabled=True)
OLD = make_policy(
    tasks=(
        make_task_policy(),
        make_task_policy("sort", exit=EXIT, alpha=0.03),
        make_task_policy("latin", strategy=KLASS),
    ),
    classes=(make_class_policy("night", max_steps=12, max_total_steps=14), make_class_policy("day", max_steps=64)),
    default_class="day",
)


def test_decisions_of_people_are_kept() -> None:
    """Classes, the default one, the share of controls, and the losses that are allowed; sources say so."""
    found = carried(PROPOSAL, OLD)
    told = {source.place: source.source for source in found.sources}

    assert found.policy.classes[1] == OLD.classes[1]
    assert (found.policy.default_class, found.policy.control) == ("day", OLD.control)
    assert carried_start(OLD).alphas["sort"] == 0.03
    assert (told["class day"], told["control"]) == ("kept", "kept")
    assert "class interactive" not in told


def test_a_cap_is_raised_to_the_largest_floor() -> None:
    """A policy with a cap under a floor would be refused after hours of measuring."""
    found = carried(PROPOSAL, OLD)
    night = found.policy.classes[0]

    assert (night.max_steps, night.max_total_steps) == (16, 16)
    assert any("raised to the largest floor" in source.source for source in found.sources)
    check_policy(found.policy)


def test_without_an_old_policy_nothing_changes() -> None:
    """The first one starts where proposals start."""
    assert carried(PROPOSAL, None) == PROPOSAL
    assert carried_start(None) == Start()
    assert carried_exits(None, CURVES.settings) == {}


def test_exits_are_kept_where_they_fit() -> None:
    """Of measured task types, with the strategy that they were tuned for; an alarmed one only observes."""
    both = replace(CURVES.settings, tasks=("sort", "latin"))
    own = replace(both, own=(TaskStrategy(task="sort", strategy=KLASS),))

    assert carried_exits(OLD, both) == {"sort": EXIT}
    assert carried_exits(OLD, own) == {}
    assert carried_exits(OLD, replace(both, tasks=("latin",))) == {}
    assert carried_exits(OLD, both, ("sort",)) == {"sort": replace(EXIT, enabled=False)}
