"""Which savings the settings enable."""

from collections.abc import Mapping
from types import MappingProxyType

from unmask.config.choices import CacheMode, Switch
from unmask.config.settings import Settings
from unmask.savings.registry import (
    APPROXIMATE_CACHE,
    BY_PRECISION,
    CONFIDENCE_STOP,
    PROMPT_REFINEMENT,
    ROUTING,
    SEMANTIC_CACHE,
)
from unmask.types import ApproximateCache


def enabled_savings(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the savings that are enabled, each with the settings that do it."""
    by_setting = (
        ("precision", None if settings.precision is None else BY_PRECISION.get(settings.precision)),
        ("cache", SEMANTIC_CACHE if settings.cache is CacheMode.SEMANTIC else None),
        ("routes", ROUTING if settings.routes is not None else None),
        ("prompt_refinement", PROMPT_REFINEMENT if settings.prompt_refinement is Switch.ON else None),
        ("approximate_cache", None if settings.approximate_cache is ApproximateCache.OFF else APPROXIMATE_CACHE),
        ("confidence_stop", CONFIDENCE_STOP if settings.confidence_stop is Switch.ON else None),
    )
    return MappingProxyType({saving: (setting,) for setting, saving in by_setting if saving is not None})
