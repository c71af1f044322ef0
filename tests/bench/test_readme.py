"""The README's figures are those of the kept results."""

from pathlib import Path

from unmask.bench.readme import README, figures_text, insert, kept_figures, load, load_if_kept

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_the_kept_results() -> None:
    """What stands between the marks is what the results say."""
    text = (ROOT / README).read_text(encoding="utf-8")
    results = ROOT / "bench" / "results"

    assert insert(text, kept_figures(results)) == text


def test_policy_is_shown_once_it_was_measured() -> None:
    """Its targets, one without a bound among them, and an arm a row; the drifted mixture is left to the file."""
    results = ROOT / "bench" / "results"
    row = {"mean_steps": 2.5, "p95_steps": 4.0, "quality": 0.9, "hardest_third.quality": 0.8, "latency_p50": 0.01}
    policy = {
        "bench": "policy",
        "machine": "a machine",
        "model_digest": "0123456789abcdef",
        "policy": "feedface" * 8,
        "figures": [
            {"name": f"{arm}.{name}", "value": value}
            for arm in ("estimator_exit", "drifted.estimator_exit")
            for name, value in row.items()
        ],
        "must_reach": [{"name": "f", "value": 0.5, "bound": None, "op": "<", "target": 1.0, "holds": False}],
    }
    text = figures_text(load("engine", results), load("model", results), policy)

    assert "policy `feedfacefeed`" in text
    assert "| `f` | 0.5 | not enough data | < 1 | **short** |" in text
    assert "| estimator_exit | 2.5 | 4 | 0.9 | 0.8 | 0.01 |" in text
    assert "drifted" not in text
    assert load_if_kept("none", results) is None
