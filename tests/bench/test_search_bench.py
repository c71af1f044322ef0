"""The search bench: verifiers that are no checkers, honest rivals, and a run from end to end."""

from pathlib import Path

import numpy as np
import pytest

from tests.bench.small import TOKENIZER, small_model
from unmask.bench.bench import Bench
from unmask.bench.pictures import save_picture
from unmask.bench.report import BenchReport, Figure, to_json
from unmask.bench.search_arms import QUICK, SearchSizes, arms_of
from unmask.bench.search_asking import Answers
from unmask.bench.search_bench import run_search_bench
from unmask.bench.search_figures import (
    CLEARLY_BETTER,
    Gain,
    best_arm,
    clearly_better,
    comparable,
    default_width,
    gain_of,
    over_one,
    rival_of,
)
from unmask.bench.search_items import TASKS, agreement_of, check_of, items_of
from unmask.bench.search_journal import Answer
from unmask.clock import SystemClock
from unmask.tasks.item import Split, split_of
from unmask.tasks.registry import all_tasks

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())
SMALL = SearchSizes(calibrate=2, tune=1, test=2, more=3, grid=(2, 4), widths=(2,), paths=(2,), retries=(2,), every=2)
ARMS = arms_of(SMALL, None)


def wrong_of(task: str, answer: str) -> str:
    """Return a wrong answer that looks like a right one."""
    match task:
        case "arithmetic":
            return answer[:-1] + str((int(answer[-1]) + 1) % 10)
        case "sort":
            return ", ".join(reversed(answer.split(", ")))
        case "latin":
            return "\n".join([answer.split("\n", maxsplit=1)[0]] * len(answer.split("\n")))
        case _:
            return answer


@pytest.mark.parametrize("task", TASKS)
def test_a_verifier_passes_what_is_right_and_something_that_is_not(task: str) -> None:
    """No verifier is the checker in disguise."""
    wrong = 0
    for item in items_of(task, 20, 0, Split.TEST):
        assert check_of(item)(item.answer)
        assert split_of(item.canonical) is Split.TEST
        others = [wrong_of(task, item.answer), item.answer.split(". ")[0].rstrip(".") + "."]
        wrong += any(check_of(item)(text) and not all_tasks()[task].check(item, text).passed for text in others)
        assert not check_of(item)("한글로 답한다")
    assert wrong > 0


def test_characters_agree_that_claim_the_same() -> None:
    """Whatever the phrasing; what cannot be read agrees with nothing."""
    items = items_of("dialogue", 30, 0, Split.TEST)
    assert all(agreement_of(item)(item.answer) for item in items)
    assert {agreement_of(item)("한글") for item in items} == {""}
    assert agreement_of(items_of("sort", 1, 0, Split.TEST)[0])(" 1, 2 ") == "1, 2"


def made(quality: float, steps: int, count: int = 200) -> list[Answer]:
    """Return answers of which the first are right."""
    right = round(quality * count)
    return [Answer(steps=steps, seconds=0.0, correct=place < right, confidence=-0.1) for place in range(count)]


def answers(**found: tuple[float, int]) -> Answers:
    """Return answers by arm, a quality and steps each; 0.1 and 1,000 steps where nothing is said."""
    return {arm.name: made(*found.get(arm.name.replace("@", "_"), (0.1, 1_000))) for arm in ARMS}


def test_the_rival_is_the_best_that_takes_no_more_steps() -> None:
    """One candidate or retries, whichever is right more often."""
    found = answers(one_4=(0.5, 10), retries_4x2=(0.7, 20), retries_2x2=(0.9, 40), candidates_4x2=(0.8, 20))
    assert rival_of(found, ARMS, "candidates@4x2").name == "retries@4x2"
    assert best_arm(found, ARMS).name == "candidates@4x2"
    gain = gain_of("sort", found, ARMS, best_arm(found, ARMS), 0)
    assert gain.is_clear
    assert np.isclose(gain.figure.value, 0.1)


def test_a_search_gains_nothing_by_lying_between_two_baselines() -> None:
    """What both take and are right in together is what it is held to; one with all its steps is told of as well."""
    found = answers(one_4=(0.5, 10), retries_4x2=(0.7, 20), retries_2x2=(0.9, 40), candidates_4x2=(0.8, 30))
    arm = next(arm for arm in ARMS if arm.name == "candidates@4x2")
    rival = rival_of(found, ARMS, arm.name)
    assert (rival.name, rival.steps(found)) == ("retries@4x2, 50% retries@2x2", 30)
    gain = gain_of("sort", found, ARMS, arm, 0)
    assert np.isclose(gain.figure.value, 0.0)
    assert "30.0 steps against 30.0" in gain.figure.note
    assert np.isclose(over_one("sort", found, ARMS, arm, 0).value, 0.3)


def test_further_items_are_for_what_may_be_a_rival() -> None:
    """Baselines that take more than twice as many steps are none, but the cheapest and one with all its steps."""
    found = answers(
        one_2=(0.4, 9), one_4=(0.5, 70), retries_4x2=(0.7, 60), retries_2x2=(0.7, 61), candidates_4x2=(0.8, 30)
    )
    arm = next(arm for arm in ARMS if arm.name == "candidates@4x2")
    assert [one.name for one in comparable(found, ARMS, arm)] == ["one@2", "one@4", "retries@4x2", arm.name]
    assert [one.name for one in comparable(answers(candidates_4x2=(0.8, 1)), ARMS, arm)] == ["one@2", "one@4", arm.name]


def test_a_search_that_takes_more_is_compared_with_what_that_buys() -> None:
    """Steps are never free."""
    found = answers(one_4=(0.5, 10), retries_2x2=(0.9, 40), candidates_4x2=(0.8, 50))
    gain = gain_of("sort", found, ARMS, next(arm for arm in ARMS if arm.name == "candidates@4x2"), 0)
    assert not gain.is_clear
    assert "retries@2x2" in gain.figure.note


@pytest.mark.parametrize(
    ("clear", "value"), [(("sort", "dialogue"), 2), (("sort", "latin", "arithmetic"), 1), (("dialogue",), 1), ((), 0)]
)
def test_dialogue_has_to_be_among_those_that_count(clear: tuple[str, ...], value: int) -> None:
    """Its verifier is the one that is incomplete by its nature."""
    gains = [Gain(task=task, figure=Figure(name=task, value=0.0), is_clear=task in clear) for task in TASKS]
    figure, entry = clearly_better(gains)
    assert (figure.value, entry.holds) == (value, value >= 2)


def test_the_default_width_is_where_doubling_stops_paying() -> None:
    """On average over task types."""
    gains = [[Figure(name="", value=value) for value in row] for row in ([0.1, 0.02, 0.0], [0.0, 0.01, 0.01])]
    assert default_width(gains, (2, 4, 8)).value == 4
    assert default_width([[Figure(name="", value=0.0)]], (2,)).value == 1


@pytest.mark.bench
def test_a_run_from_end_to_end(tmp_path: Path) -> None:
    """Weights that know nothing win nothing; every arm has a figure and a record an item."""
    shares: list[float] = []
    journal = tmp_path / "journal"

    def run() -> BenchReport:
        return run_search_bench(
            BENCH, journal, seed=0, quick=True, progress=lambda _, share: shares.append(share), sizes=SMALL
        )

    report = run()
    (entry,) = report.must_reach
    assert (entry.name, entry.value, entry.holds) == (CLEARLY_BETTER, 0, False)
    names = {figure.name for figure in report.figures}
    assert {
        f"{task}.{arm.name}.{what}" for task in TASKS for arm in ARMS for what in ("quality", "mean_steps")
    } <= names
    further = len(report.records) - len(TASKS) * len(ARMS) * SMALL.test
    assert 2 * SMALL.more <= further <= (1 + sum(arm.is_baseline for arm in ARMS)) * SMALL.more
    gains = {figure.name: figure.n for figure in report.figures if figure.name.endswith("gain_at_equal_steps")}
    assert gains == {f"{task}.gain_at_equal_steps": 5 if task == "dialogue" else 2 for task in TASKS}
    assert all(record.steps > 0 for record in report.records)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    (path,) = journal.iterdir()
    kept = path.read_bytes()
    assert to_json(run()) == to_json(report), "what was answered is not asked again"
    assert path.read_bytes() == kept
    save_picture(report, tmp_path / "search.png")
    assert (tmp_path / "search.png").stat().st_size > 10_000


def test_a_quick_run_is_small() -> None:
    """A few items of each split."""
    assert QUICK.test * len(arms_of(QUICK, None)) < 100
