"""Which savings the settings enable."""

from collections.abc import Mapping
from types import MappingProxyType

from unmask.config.choices import Switch
from unmask.config.settings import Settings
from unmask.savings.registry import BFLOAT16, CONFIDENCE_STOP, PROMPT_REFINEMENT
from unmask.types import Precision


def enabled_savings(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the savings that are enabled, each with the settings that do it."""
    by_setting = (
        ("precision", BFLOAT16, settings.precision is Precision.BFLOAT16),
        ("prompt_refinement", PROMPT_REFINEMENT, settings.prompt_refinement is Switch.ON),
        ("confidence_stop", CONFIDENCE_STOP, settings.confidence_stop is Switch.ON),
    )
    return MappingProxyType({saving: (setting,) for setting, saving, is_enabled in by_setting if is_enabled})
