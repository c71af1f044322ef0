"""The README's figures are those of the kept results."""

from pathlib import Path

from unmask.bench.readme import README, figures_text, insert, load, load_if_kept

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_the_kept_results() -> None:
    """What stands between the marks is what the results say."""
    text = (ROOT / README).read_text(encoding="utf-8")
    results = ROOT / "bench" / "results"

    shown = figures_text(load("engine", results), load("model", results), load_if_kept("policy", results))
    assert insert(text, shown) == text
