"""The model card."""

import re

from unmask.train.card import Quality, render_card
from unmask.train.log import LogEntry, TaskFigures
from unmask.train.recipe import recipe

FIGURES = TaskFigures(task="sort", canvas_loss=0.25, canvas_accuracy=0.9, causal_loss=0.5, causal_accuracy=0.8)
LOG = (LogEntry(step=50, seconds=60.0, tasks=()), LogEntry(step=100, seconds=120.0, tasks=(FIGURES,)))
QUALITY = (
    Quality(task="sort", difficulty="length=3", successes=95, n=100, low=0.888, high=0.978, causal_successes=97),
    Quality(task="sort", difficulty="length=12", successes=0, n=0, low=0.0, high=1.0),
)


def card() -> str:
    """Return the card of a short run."""
    return render_card(recipe("tiny", 7), LOG, seconds=5400.0, quality=QUALITY)


def test_the_card_says_how_the_model_was_made() -> None:
    """Recipe, seed, steps, time and data are all there."""
    text = card()
    assert text.startswith("# Model card: tiny\n")
    assert "| seed | 7 |" in text
    assert "| steps | 100, 9600 documents in all |" in text  # all of them in the warm-up
    assert "| time trained | 1.50 hours |" in text
    assert "lookup 20 %, dialogue 25 %, extract 20 %, arithmetic 15 %, sort 10 %, latin 10 %" in text
    assert "| sort | 90.0 % | 0.250 | 80.0 % | 0.500 |" in text


def test_the_card_gives_quality_with_intervals() -> None:
    """Every row names its difficulty, its count, the rate with its interval, and the autoregressive rate."""
    text = card()
    assert "| sort | length=3 | 95/100 | 95.0 % (88.8 to 97.8) | 97.0 % |" in text
    assert "| sort | length=12 | 0/0 | not enough data | not measured |" in text


def test_the_card_names_the_limits() -> None:
    """It is a demonstration model that knows its grammars, in English, with invented names."""
    limits = card().split("## Limits")[1]
    for words in ("demonstration model", "grammars of its task types", "English only", "byte by byte", "invented"):
        assert words in limits


def test_what_was_not_measured_is_said() -> None:
    """Without figures the card claims none."""
    text = render_card(recipe("nano", 1), (), seconds=0.0, quality=())
    assert "## Quality\n\nNot measured yet." in text
    assert "There is no log of the run." in text


def test_every_table_is_whole() -> None:
    """All rows of a table have as many cells as its head."""
    for table in re.findall(r"(?:^\|.*\n)+", card(), re.MULTILINE):
        assert len({row.count("|") for row in table.splitlines()}) == 1
