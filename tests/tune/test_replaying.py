"""Behaviour of `unmask.tune.replaying`."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from tests.control.handmade import make_label, make_record
from tests.control.values import make_entry
from tests.tune.traced import TASK, Behaviour, TracedBackend, served
from unmask.backend import Request
from unmask.control.records import ControlRecord, Label
from unmask.control.verdict import Judge
from unmask.policy.exit_replay import replay
from unmask.policy.policy import ExitPolicy, TaskPolicy
from unmask.policy.replay import parse_replay, replay_bytes
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.registry import all_tasks
from unmask.testing.exits import make_rule
from unmask.tune.items import draw_items
from unmask.tune.replaying import Replayed, ReplayedPolicy, replay_controls
from unmask.types import ExitRule, StepBudget

OLD, NEW = "a" * 64, "b" * 64
HASTY = StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD, threshold=0.9)
STRICT = make_rule(confidence=0.99)
ITEMS = draw_items(TASK, 30, 0)
CARELESS = Behaviour(early_wrong=3)


def entry(rule: ExitRule, strategy: StrategyChoice = HASTY) -> TaskPolicy:
    """Return a task type's entry with a rule."""
    exit_policy = ExitPolicy(rule=rule, enabled=True, misjudgement_limit=0.01)
    return replace(make_entry(TASK), strategy=strategy, exit=exit_policy)


def control(number: int, rule: ExitRule, behaviour: Behaviour) -> ControlRecord:
    """Return the control that a server keeps of an item under a rule."""
    item = ITEMS[number]
    request = Request(model="tiny", messages=item.messages, budget=StepBudget(max_steps=8), strategy=HASTY)
    full = served(request, item, number, behaviour)
    met = replay(rule, full.trace)
    return make_record(
        id=f"c{number}",
        time=1_700_000_000.0 + number,
        policy=OLD,
        task=TASK,
        messages=item.messages,
        text=full.text,
        steps=full.usage.steps_used,
        exit_steps=None if met is None else met.steps,
        exit_text=None if met is None else met.text,
        passed=all_tasks()[TASK].verify(item.messages, full.text).passed,
    )


def replayed(
    new: TaskPolicy,
    *,
    old: TaskPolicy | None = None,
    behaviour: Behaviour = CARELESS,
    records: Sequence[ControlRecord] | None = None,
    labels: Sequence[Label] = (),
) -> Replayed:
    """Replay thirty controls of a careless rule."""
    old = old or entry(make_rule())
    assert old.exit is not None
    if records is None:
        records = [control(number, old.exit.rule, behaviour) for number in range(len(ITEMS))]
    return asyncio.run(
        replay_controls(
            TracedBackend(behaviour),
            records,
            labels,
            ReplayedPolicy(digest=OLD, tasks={TASK: old}),
            ReplayedPolicy(digest=NEW, tasks={TASK: new}),
            in_flight=3,
            seed=0,
        )
    )


def test_old_and_new_on_the_same_controls() -> None:
    """A third of the drafts look settled and are wrong; waiting for the third step changes nothing but steps."""
    found = replayed(entry(make_rule(flips=1.0)))
    assert found.evidence is not None
    (task,) = found.evidence.tasks

    assert (task.controls, task.old_misjudged, task.new_misjudged) == (30, 10, 10)
    assert task.misjudgement.estimate == 0
    assert task.steps.estimate == -1.0
    assert (found.evidence.old, found.evidence.new) == (OLD, NEW)
    assert found.evidence.first == datetime.fromtimestamp(1_700_000_000, UTC)
    assert parse_replay(replay_bytes(found.evidence)) == found.evidence


def test_a_rule_that_never_exits_has_no_evidence() -> None:
    """What it avoids is told beside: its own exits are what a limit bounds."""
    found = replayed(entry(STRICT))
    (task,) = found.tasks

    assert found.evidence is None
    assert (task.new_exits, task.old_only, task.old_only_misjudged) == (0, 30, 10)


def test_only_exits_of_the_new_rule_are_evidence() -> None:
    """Twenty controls have settled with a high confidence and ten with less: a stricter rule exits in the first."""
    found = replayed(entry(make_rule(confidence=0.9)), behaviour=Behaviour(unsure=3))
    assert found.evidence is not None
    (task,), (told,) = found.evidence.tasks, found.tasks

    assert (task.controls, told.new_exits, told.old_only) == (20, 20, 10)


def test_another_strategy_is_run_anew() -> None:
    """Its own full run is what its exits are held against."""
    found = replayed(entry(make_rule(), StrategyChoice(name=StrategyName.KLASS)), behaviour=Behaviour())
    assert found.evidence is not None

    assert [(task.controls, task.new_misjudged) for task in found.evidence.tasks] == [(30, 0)]


def test_controls_that_come_out_otherwise_are_left_out() -> None:
    """They were asked with settings that their record does not tell; so are those of a form, or of another policy."""
    rule = make_rule()
    records = [control(number, rule, CARELESS) for number in range(12)]
    records[0] = replace(records[0], text="else")
    records[1] = replace(records[1], judges=(Judge.FORMAT,))
    records[2] = replace(records[2], policy="c" * 64)
    found = replayed(entry(rule), records=records)
    (task,) = found.tasks

    assert (task.controls, task.changed, task.unjudged, task.new_exits) == (11, 1, 1, 9)
    assert found.evidence is None


def test_a_label_counts_over_the_verifier() -> None:
    """A person has said that both texts of a control are right; the rules' verdicts follow."""
    labels = [make_label(control=f"c{number}", passed=True, exit_passed=True) for number in range(30)]
    found = replayed(entry(make_rule()), labels=labels)
    assert found.evidence is not None

    assert [task.new_misjudged for task in found.evidence.tasks] == [0]


def test_an_exit_before_the_last_canvas_is_run() -> None:
    """No trace tells what follows it."""
    found = replayed(entry(make_rule()), behaviour=Behaviour(canvases=2))
    assert found.evidence is not None

    assert [task.steps.estimate for task in found.evidence.tasks] == [0.0]


def test_a_task_type_without_a_rule_is_not_replayed() -> None:
    """There are no controls of it, and nothing to say."""
    found = replayed(replace(entry(make_rule()), exit=None))

    assert (found.evidence, found.tasks) == (None, ())
