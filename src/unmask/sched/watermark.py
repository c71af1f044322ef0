"""Says ahead of time that KV pages run out."""

from unmask.work import PageAlert

WATERMARKS = ((PageAlert.HIGH, 0.8), (PageAlert.CRITICAL, 0.95))
"""Shares of the pages in use from which on an alert is given, the mildest first."""
RELIEF = 0.1
"""How far below its watermark use falls before an alert is over, so that use around the mark is one alert."""


RANKS = tuple(PageAlert)
"""From the mildest on."""


def alert_at(usage: float, before: PageAlert) -> PageAlert:
    """Return the alert at a use of pages, from 0 to 1; ``before`` is the alert so far."""
    held = [
        alert
        for alert, mark in WATERMARKS
        if usage >= mark or (RANKS.index(before) >= RANKS.index(alert) and usage > mark - RELIEF)
    ]
    return held[-1] if held else PageAlert.NONE


def is_worse(alert: PageAlert, before: PageAlert) -> bool:
    """Tell whether an alert is of a higher watermark than the one before."""
    return RANKS.index(alert) > RANKS.index(before)
