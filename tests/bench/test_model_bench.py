"""The model bench draws, answers and judges as stated."""

from random import Random

import pytest

from tests.bench.small import TOKENIZER, small_model
from unmask.bench.bench import Bench
from unmask.bench.grades import GRADES, Grade
from unmask.bench.model_bench import answer, draw_items, run_model_bench
from unmask.clock import SystemClock
from unmask.tasks.item import Split, split_of
from unmask.tasks.registry import all_tasks

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())


def test_every_task_type_has_a_target() -> None:
    """No task type goes unmeasured."""
    assert [grade.task for grade in GRADES] == list(all_tasks())


@pytest.mark.parametrize("grade", GRADES, ids=lambda grade: grade.task)
def test_items_are_inside_or_outside_the_stated_difficulty(grade: Grade) -> None:
    """Items of the test split, each once, on the side of the limits that was asked for."""
    stated = draw_items(Random(0), grade, 20, stated=True)
    harder = draw_items(Random(0), grade, 20, stated=False)

    assert all(grade.holds(item.difficulty) and split_of(item.canonical) is Split.TEST for item in stated)
    assert len({item.canonical for item in stated}) == 20
    assert len(harder) == (20 if grade.limits else 0)
    assert not any(grade.holds(item.difficulty) for item in harder)


def test_records_tell_what_happened() -> None:
    """One record an item and arm, with steps within the budget."""
    items = draw_items(Random(0), GRADES[4], 5, stated=True)
    records = answer(BENCH, items, arm="steps_2", max_steps=2)

    assert [record.item for record in records] == [item.digest for item in items]
    assert all(record.steps <= 2 * 3 and record.correct is False for record in records)


@pytest.mark.slow
def test_a_quick_run_reports_every_target() -> None:
    """The bench runs end to end on weights that know nothing, and says so."""
    report = run_model_bench(BENCH, seed=0, quick=True, progress=lambda _stage, _share: None)

    assert {entry.name for entry in report.must_reach} >= {f"{grade.task}_accuracy" for grade in GRADES}
    assert not any(entry.holds for entry in report.must_reach if entry.name.endswith("_accuracy"))
