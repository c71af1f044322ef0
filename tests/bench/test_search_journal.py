"""The journal of the search bench: what there is is not run again, and what has changed is."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from unmask.bench.journal import JournalError
from unmask.bench.search_arms import SearchArm
from unmask.bench.search_items import items_of
from unmask.bench.search_journal import Answer, SearchOf, open_search_journal
from unmask.search.plan import SearchPlan
from unmask.service import SearchMethod
from unmask.tasks.item import Split

OF = SearchOf(model_digest="ab12", precision="float32", seed=3)
PLAN = SearchPlan(method=SearchMethod.DEPTH, threshold=-0.25)
ARM = SearchArm(name="depth@8x4", steps=8, width=4, plan=PLAN)
RETRIES = SearchArm(name="retries@8x4", steps=8, width=4, plan=None)
ITEM, OTHER = items_of("dialogue", 2, 0, Split.TUNE)
ANSWER = Answer(steps=31, seconds=0.5, correct=True, confidence=-0.125)
UNTOLD = Answer(steps=12, seconds=0.25, correct=False, confidence=None)


def test_a_killed_run_goes_on_with_what_there_is(tmp_path: Path) -> None:
    """Half a line at the end, as a killed run leaves it, is an answer less; those before it are as they were."""
    with open_search_journal(tmp_path, OF) as journal:
        journal.note(ITEM, ARM, ANSWER)
        journal.note(ITEM, RETRIES, UNTOLD)
        journal.note(OTHER, ARM, UNTOLD)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-9])

    with open_search_journal(tmp_path, OF) as journal:
        assert len(journal) == 2
        assert (journal.answer(ITEM, ARM), journal.answer(ITEM, RETRIES)) == (ANSWER, UNTOLD)
        assert journal.answer(OTHER, ARM) is None
        journal.note(OTHER, ARM, ANSWER)
    with open_search_journal(tmp_path, OF) as journal:
        assert journal.answer(OTHER, ARM) == ANSWER


@pytest.mark.parametrize(
    "changed",
    [
        lambda: replace(ARM, plan=replace(PLAN, threshold=-0.5)),
        lambda: replace(ARM, plan=replace(PLAN, depth=replace(PLAN.depth, every=3))),
        lambda: replace(ARM, steps=16),
        lambda: replace(ARM, plan=None),
    ],
)
def test_an_arm_that_has_changed_is_run_again(changed: Callable[[], SearchArm], tmp_path: Path) -> None:
    """Whatever its name."""
    with open_search_journal(tmp_path, OF) as journal:
        journal.note(ITEM, ARM, ANSWER)
        assert journal.answer(ITEM, changed()) is None


def test_answers_of_something_else_are_not_mixed_in(tmp_path: Path) -> None:
    """Other weights, precisions and seeds have files of their own; a renamed or damaged one is refused."""
    with open_search_journal(tmp_path, OF) as journal:
        journal.note(ITEM, ARM, ANSWER)
    others = [replace(OF, model_digest="cd34"), replace(OF, precision="bfloat16"), replace(OF, seed=4)]
    for of in others:
        with open_search_journal(tmp_path, of) as journal:
            assert journal.answer(ITEM, ARM) is None
    (tmp_path / others[2].file_name).write_bytes((tmp_path / OF.file_name).read_bytes())
    with pytest.raises(JournalError, match="seed=3"), open_search_journal(tmp_path, others[2]):
        pass
    (tmp_path / OF.file_name).write_bytes(b"{}\n")
    with pytest.raises(JournalError, match="is damaged"), open_search_journal(tmp_path, OF):
        pass
