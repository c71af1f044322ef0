"""``docs/exits.md`` says what the code does."""

import re
from pathlib import Path

from unmask.tune.exit_figures import exits_needed
from unmask.tune.exit_rules import FEW_THRESHOLDS, MOST_CANDIDATES, THRESHOLDS, careful_rule, rules
from unmask.tune.finality import CHOOSING, JUDGING
from unmask.tune.finality_fit import SIZES
from unmask.tune.finality_rows import HASTY
from unmask.types import ProgressSignal

TEXT = re.sub(r"\s+", " ", (Path(__file__).parents[2] / "docs" / "exits.md").read_text(encoding="utf-8"))


def test_numbers_are_those_of_the_code() -> None:
    """Trials, thresholds, shares and how many exits are needed."""
    assert MOST_CANDIDATES == 12
    assert "at most twelve" in TEXT
    assert (len(THRESHOLDS), len(FEW_THRESHOLDS)) == (15, 3)
    assert "four trials of fifteen" in TEXT
    assert [strategy.threshold for strategy in HASTY] == [0.7, 0.9]
    assert (CHOOSING, JUDGING, SIZES) == (0.2, 0.2, (0, 4, 8))
    assert f"{exits_needed(0, 0.01)} exits without a misjudged one, or {exits_needed(3, 0.01)} with three" in TEXT


def test_rules_are_those_of_the_code() -> None:
    """Every rule is named with its bounds."""
    least = {
        name: next(found.bound for found in rule.conditions if found.signal is ProgressSignal.CONFIDENCE_MIN)
        for name, rule in {**rules(32, None), "careful": careful_rule(32)}.items()
    }

    assert least == {"format": 0.5, "bold": 0.1, "settled": 0.8, "careful": 0.9}
    assert all(f"`{name}`" in TEXT for name in (*rules(32, None), "learned"))
    assert "divergence of at most 0.01 nats" in TEXT
