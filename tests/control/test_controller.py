"""Behaviour of `unmask.control.controller`."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from tests.metrics.reading import parse
from unmask.backend import ExitRecord, Generation, Request
from unmask.control.admitted import Admitted
from unmask.control.asked import Asked
from unmask.control.attempt import LATER
from unmask.control.book import RecordBook
from unmask.control.budget import BudgetSource
from unmask.control.controller import Controller
from unmask.control.errors import BudgetSpentError
from unmask.control.parts import ControlParts
from unmask.control.records import RecordFolder
from unmask.control.sources import Estimate, no_policy
from unmask.control.verdict import Judge
from unmask.errors import InvalidRequestError
from unmask.metrics.control import ControlInstruments, ControlVerdict
from unmask.metrics.exposition import expose
from unmask.policy.policy import AtCap, BudgetMode, ControlPolicy
from unmask.tasks.formats import JsonObject
from unmask.testing.attempts import make_answered
from unmask.testing.budget_policies import RULE, make_class_policy, make_exit, make_task_policy
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.policies import DIGEST, FakeClassifier, FakeEstimator, FakeEstimators, FakePolicies, make_active
from unmask.types import ExitAction, ExitReason, Message, ProgressSignal, Role

MODEL = make_model()
SORT = make_task_policy("sort", mode=BudgetMode.ADAPTIVE, exit=make_exit(enabled=True))
QUESTION = "sort 3 , 1"
HARD = Estimate(score=4.0, bin=3, is_sure=True, features=(("digits", 2.0),))


class Bench:
    """A controller with a folder, and what it has counted and kept."""

    def __init__(self, folder: Path, *, draw: float = 0.99, **changes: Any) -> None:  # noqa: ANN401 - any part
        self.folder = RecordFolder(folder)
        self.book = RecordBook(self.folder)
        self.policies = FakePolicies(make_active(SORT))
        self.registry = CollectorRegistry()
        numbers = count(1)
        parts: dict[str, Any] = {
            "policies": self.policies,
            "estimators": FakeEstimators(FakeEstimator({QUESTION: HARD})),
            "classifier": FakeClassifier(lambda text: "sort" if "sort" in text else None),
            "book": self.book,
            "draw": lambda: draw,
        }
        self.control = Controller(
            ControlParts(**(parts | changes)),
            ControlInstruments(self.registry, ["tiny", "nano"], BudgetSource, LATER),
            now=lambda: 1_700_000_000.5,
            new_id=lambda: f"c{next(numbers)}",
        )

    def admit(self, content: str = QUESTION, **asked: Any) -> Admitted:  # noqa: ANN401 - any field of what was asked
        """Admit a request."""
        messages = (Message(role=Role.USER, content=content),)
        return self.control.admit(Request(model="tiny", messages=messages), Asked(**asked), MODEL)

    def counted(self, name: str) -> float:
        """Return a series of the model tiny."""
        return parse(expose(self.registry, None).body.decode())[name]


def ran(text: str, *, exit_text: str | None = None, exit_steps: int = 3, **spent: Any) -> Generation:  # noqa: ANN401
    """Return a full run of 8 steps, with where it would have exited."""
    signals = ((ProgressSignal.FLIPS, 0.0),)
    found = None if exit_text is None else ExitRecord(steps=exit_steps, text=exit_text, signals=signals)
    return make_generation(text, usage=make_usage(**({"steps_used": 8} | spent)), exit=found)


def test_request_gets_what_its_policy_says(tmp_path: Path) -> None:
    """Type from the prompt, bucket from its estimate, a rule with the verifier that it asks."""
    bench = Bench(tmp_path)
    found = bench.admit()
    given = found.assignment

    assert (given.task, given.source, given.estimate, given.policy) == ("sort", BudgetSource.ESTIMATE, HARD, DIGEST)
    assert found.request.budget == given.budget
    assert found.request.budget is not None
    assert found.request.budget.max_steps == 16
    assert found.request.exit is not None
    assert (found.request.exit.rule, found.request.exit.action) == (RULE, ExitAction.STOP)
    assert found.request.check is not None
    assert [found.request.check(text) for text in ("1, 3", "3, 1")] == [True, False]
    assert bench.counted("unmask_budgets_total{model=tiny,source=estimate}") == 1
    assert bench.counted("unmask_buckets_total{bucket=L,model=tiny}") == 1


def test_task_type_is_named_told_or_default(tmp_path: Path) -> None:
    """In this order; a name that nobody knows is refused with those there are."""
    bench = Bench(tmp_path)

    assert bench.admit(task="arithmetic").assignment.task == "arithmetic"
    assert bench.admit().assignment.task == "sort"
    assert bench.admit("hello").assignment.task == "default"
    with pytest.raises(InvalidRequestError, match="allowed: arithmetic, sort, default") as caught:
        bench.admit(task="sorting")
    assert caught.value.param == "diffusion.task"


def test_without_a_policy_nobody_is_asked(tmp_path: Path) -> None:
    """The request stays as it is, and is known as of no type unless it says one."""
    bench = Bench(tmp_path)
    bench.policies.active = None
    found = bench.admit()

    assert found.request == Request(model="tiny", messages=found.request.messages)
    assert (found.assignment.task, found.assignment.estimate) == ("default", None)
    assert bench.admit(task="sort").assignment.task == "sort"
    assert bench.control.notes((MODEL,)) == (no_policy("tiny"),)
    assert list(bench.control.policy_names((MODEL,))) == [("tiny", "fixed")]


def test_missing_estimator_leaves_the_default(tmp_path: Path) -> None:
    """A policy that names none, or one that is not here, goes without."""
    bench = Bench(tmp_path)
    bench.policies.active = make_active(SORT, difficulty="gone")
    gone = bench.admit().assignment
    bench.policies.active = make_active(SORT, difficulty=None)

    assert (gone.source, gone.estimate) == (BudgetSource.TASK, None)
    assert bench.admit().assignment == gone


def test_running_requests_keep_their_policy(tmp_path: Path) -> None:
    """A promotion changes those that come after it."""
    bench = Bench(tmp_path)
    before = bench.admit()
    bench.policies.active = None
    bench.control.settle(before, make_answered(ran("1, 3")), "req-1")

    assert before.assignment.policy == DIGEST
    assert bench.admit().assignment.policy is None


def test_answer_format_is_checked_as_well(tmp_path: Path) -> None:
    """A draft passes that is of the form, and right by its task type's verifier."""
    bench = Bench(tmp_path)
    messages = (Message(role=Role.USER, content=QUESTION),)
    found = bench.control.admit(Request(model="tiny", messages=messages), Asked(), MODEL, JsonObject())

    assert found.check is not None
    assert found.check.judges == (Judge.TASK, Judge.FORMAT)


def test_control_is_kept_with_both_verdicts(tmp_path: Path) -> None:
    """It runs on, and its record says what the exit would have been; what that cost is counted apart."""
    bench = Bench(tmp_path, draw=0.1)
    admitted = bench.admit()
    bench.control.settle(admitted, make_answered(ran("1, 3", exit_text="3, 1")), "req-7")
    bench.book.close()
    (record,) = bench.folder.controls().records

    assert admitted.request.exit is not None
    assert admitted.request.exit.action is ExitAction.OBSERVE
    assert (record.id, record.request_id, record.time) == ("c1", "req-7", 1_700_000_000.5)
    assert (record.policy, record.model_digest, record.task) == (DIGEST, MODEL.digest, "sort")
    assert (record.probability, record.steps, record.exit_steps) == (1 / 3, 8, 3)
    assert (record.passed, record.exit_passed, record.diverged, record.judges) == (True, False, True, (Judge.TASK,))
    assert (record.score, record.bin, record.features) == (4.0, 3, (("digits", 2.0),))
    assert (record.text, record.exit_text) == ("1, 3", "3, 1")
    assert bench.counted("unmask_controls_total{model=tiny,result=recorded}") == 1
    assert bench.counted("unmask_control_extra_steps_total{model=tiny}") == 5
    assert bench.counted("unmask_control_verdicts_total{model=tiny,verdict=misjudged}") == 1


@pytest.mark.parametrize(
    ("text", "exit_text", "verdict"),
    [
        ("1, 3", "1, 3", ControlVerdict.BOTH_PASS),
        ("1, 3", "3, 1", ControlVerdict.MISJUDGED),
        ("3, 1", "1, 3", ControlVerdict.REVERSED),
        ("3, 1", "3", ControlVerdict.BOTH_FAIL),
        ("1, 3", None, ControlVerdict.UNMET),
    ],
)
def test_controls_count_by_what_their_exit_would_have_done(
    tmp_path: Path, text: str, exit_text: str | None, verdict: ControlVerdict
) -> None:
    """Misjudgement is one of four cases, and a rule that was never met is none of them."""
    bench = Bench(tmp_path, draw=0.1)
    bench.control.settle(bench.admit(), make_answered(ran(text, exit_text=exit_text)), "req-7")
    bench.book.close()
    series = {other: f"unmask_control_verdicts_total{{model=tiny,verdict={other}}}" for other in ControlVerdict}

    assert {other for other, name in series.items() if bench.counted(name)} == {verdict}


def test_control_without_a_verifier_knows_divergence_alone(tmp_path: Path) -> None:
    """Nobody can tell whether either of the texts is right."""
    bench = Bench(tmp_path, draw=0.0)
    bench.policies.active = make_active(make_task_policy("haiku", exit=make_exit(enabled=True)))
    bench.control.settle(bench.admit("a frog", task="haiku"), make_answered(ran("frog", exit_text="pond")), "req-1")
    bench.control.settle(bench.admit("a frog", task="haiku"), make_answered(ran("frog")), "req-2")
    bench.book.close()
    first, second = bench.folder.controls().records

    assert (first.judges, first.passed, first.exit_passed, first.diverged) == ((), None, None, True)
    assert (second.exit_steps, second.diverged, second.exit_text) == (None, None, None)
    assert bench.counted("unmask_control_verdicts_total{model=tiny,verdict=unjudged}") == 1
    assert bench.counted("unmask_control_verdicts_total{model=tiny,verdict=unmet}") == 1


def test_rule_grows_up(tmp_path: Path) -> None:
    """Once there are enough controls of its task type under its policy, fewer are drawn."""
    bench = Bench(tmp_path, draw=0.1)
    bench.policies.active = make_active(SORT, control=ControlPolicy(fraction=0.05, young_fraction=0.5, young_until=1))
    young = bench.admit()
    bench.control.settle(young, make_answered(ran("1, 3")), "req-1")
    bench.book.close()
    settled = bench.admit()

    assert (young.assignment.is_control, young.assignment.probability) == (True, 0.5)
    assert (settled.assignment.is_control, settled.assignment.probability) == (False, 0.05)


def test_abandoned_control_is_counted_and_not_kept(tmp_path: Path) -> None:
    """It has no full run to compare with."""
    bench = Bench(tmp_path, draw=0.0)
    bench.control.abandon(bench.admit())
    bench.control.abandon(bench.admit("hello"))
    bench.book.close()

    assert bench.folder.controls().records == ()
    assert bench.counted("unmask_controls_total{model=tiny,result=unfinished}") == 1


def test_without_a_folder_there_are_no_controls(tmp_path: Path) -> None:
    """Nobody would learn from them."""
    bench = Bench(tmp_path, draw=0.0, book=None)
    found = bench.admit()
    bench.control.settle(found, make_answered(ran("3, 1", exit_text="3, 1")), "req-1")

    assert not found.assignment.is_control
    assert found.request.exit is not None


def test_early_exit_that_fails_is_collected_with_its_signals(tmp_path: Path) -> None:
    """Apart from controls, which alone estimate; one that passes leaves nothing."""
    bench = Bench(tmp_path)
    for text in ("3, 1", "1, 3"):
        early = ran(text, exit_text=text, steps_used=3, exit_reason=ExitReason.EARLY_EXIT)
        bench.control.settle(bench.admit(), make_answered(early), "req-1")
    bench.control.settle(bench.admit(), make_answered(ran("3, 1")), "req-2")
    bench.book.close()
    (failure,) = bench.folder.failures().records

    assert (failure.steps, failure.signals, failure.judges) == (3, ((ProgressSignal.FLIPS, 0.0),), (Judge.TASK,))
    assert bench.folder.controls().records == ()
    assert bench.counted("unmask_exit_failures_total{model=tiny}") == 1


@pytest.mark.parametrize("reason", ExitReason)
def test_spent_budget_fails_where_the_class_says_so(tmp_path: Path, reason: ExitReason) -> None:
    """A budget that was spent without converging, and nothing else."""
    bench = Bench(tmp_path)
    bench.policies.active = make_active(
        SORT, classes=(make_class_policy(max_steps=16, at_cap=AtCap.FAIL, re_expansions=0),)
    )
    admitted, generation = bench.admit(), ran("1, 3", exit_reason=reason)
    if reason not in {ExitReason.MAX_STEPS, ExitReason.MAX_TOTAL_STEPS}:
        bench.control.settle(admitted, make_answered(generation), "req-1")
        return
    with pytest.raises(BudgetSpentError, match=r"all its 8 denoise steps.*class interactive.*up to 16"):
        bench.control.settle(admitted, make_answered(generation), "req-1")
    bench.policies.active = make_active(SORT)
    bench.control.settle(bench.admit(), make_answered(generation), "req-2")


def test_full_disk_fails_no_request(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The record is lost, which is counted and said."""
    bench = Bench(tmp_path / "state", draw=0.0)
    (tmp_path / "state").write_text("in the way")
    bench.control.settle(bench.admit(), make_answered(ran("1, 3", exit_text="1, 3")), "req-1")
    bench.book.close()

    assert bench.counted("unmask_controls_total{model=tiny,result=lost}") == 1
    assert "lost" in caplog.text
