"""A saving for machines: what it saves and its quality, always both."""

from unmask.savings.figure import Estimated, SavingFigure
from unmask.savings.standing import Standing


def standing_record(standing: Standing) -> dict[str, object]:
    """Return all that is known of a saving; ``figure`` is null where nobody has measured it."""
    saving = standing.saving
    return {
        "name": saving.name,
        "layer": saving.layer.value,
        "saves": saving.saves,
        "unit": "share",
        "quality": saving.quality,
        "exact": saving.is_exact,
        "enabled_by": list(standing.enabled_by),
        "suspended_for": list(standing.suspended_for),
        "measured_by": saving.command,
        "figure": None if standing.figure is None else _figure(standing.figure),
    }


def _figure(figure: SavingFigure) -> dict[str, object]:
    return {
        "saved": _estimated(figure.saved),
        "quality_difference": _estimated(figure.quality),
        "items": figure.items,
        "model": figure.model,
        "model_digest": figure.model_digest,
        "bench": figure.bench,
        "commit": figure.commit,
        "machine": figure.machine,
        "seed": figure.seed,
        "measured": figure.measured,
    }


def _estimated(found: Estimated) -> dict[str, object]:
    return {"value": found.value, "low": found.low, "high": found.high}
