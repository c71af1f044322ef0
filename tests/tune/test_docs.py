"""``docs/curves.md`` says what the code does."""

import re
from pathlib import Path

from unmask.cli.recalibrate_run import DIFFICULTY, PAIRED
from unmask.stats import sequential
from unmask.tune import drift, landmarks, recalibration
from unmask.tune.advise import Limits
from unmask.tune.begun import BEGUN
from unmask.tune.classes import MIN_REQUESTS, SMALL_EFFECT
from unmask.tune.run import CURVES, JOURNAL
from unmask.tune.settings import ITEMS
from unmask.tune.start import BATCH, CONTROL, INTERACTIVE, Start
from unmask.tune.traffic_check import RECENT

TEXT = re.sub(r"\s+", " ", (Path(__file__).parents[2] / "docs" / "curves.md").read_text(encoding="utf-8"))


def test_thresholds_are_those_of_the_code() -> None:
    """Each number of the landmarks and of the advice."""
    for value, said in (
        (landmarks.SATURATED, "within {:.0%} of the maximum"),
        (landmarks.COLLAPSED, "{:.0%} or more below the maximum"),
        (landmarks.ADDS, "no doubling adds {:.0%}"),
        (landmarks.FLAT, "gain less than {:.0%} in all"),
        (Limits().most_loss, "costs less than {:.0%} of quality"),
    ):
        assert said.format(value).replace("%", " points").replace("within 1 points", "within 1 point") in TEXT
    assert f"fewer than {landmarks.MIN_ITEMS} items" in TEXT
    assert f"resampled {landmarks.RESAMPLES:,} times" in TEXT
    assert f"{ITEMS:,} items at each budget" in TEXT
    assert (Limits().least_saving, SMALL_EFFECT, MIN_REQUESTS) == (0.1, 0.2, 100)


def test_starting_values_are_those_of_the_code() -> None:
    """What a proposal starts with stands in the table."""
    assert f"| {Start().alpha:.0%} |".replace("%", " %") in TEXT
    assert f"until a task type has {CONTROL.young_until:,} of them" in TEXT
    assert (CONTROL.young_fraction, CONTROL.fraction) == (1 / 10, 1 / 50)
    assert (INTERACTIVE.re_expansions, BATCH.re_expansions) == (1, 2)
    assert INTERACTIVE.re_expansion_factor == BATCH.re_expansion_factor == 2
    assert all(entry.at_cap == "truncate" for entry in (INTERACTIVE, BATCH))


def test_recalibration_says_what_the_code_does() -> None:
    """How many controls are compared, at which level, and in which files all is kept."""
    page = Path(__file__).parents[2] / "docs" / "recalibration.md"
    text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))

    assert f"the first {drift.MIN_REQUESTS} controls" in text
    assert f"the latest {RECENT} count" in text
    assert drift.ALPHA == sequential.ALPHA == 0.05
    for name in (BEGUN, recalibration.REPORT, recalibration.TEXT, PAIRED, DIFFICULTY):
        assert f"`{name}`" in text


def test_files_are_named() -> None:
    """Those that a run keeps."""
    assert f"`{JOURNAL}`" in TEXT
    assert f"`{CURVES}`" in TEXT
