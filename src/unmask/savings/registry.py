"""Every saving there is; what is in no line of this table cannot be enabled."""

from collections.abc import Mapping
from types import MappingProxyType

from unmask.savings.errors import UnknownSavingError
from unmask.savings.saving import Layer, Reading, Saving
from unmask.types import Precision

EARLY_EXIT = "early_exit"
BFLOAT16 = "bfloat16"
INT8 = "int8"
INT4 = "int4"
SPECULATION = "speculation"
SEMANTIC_CACHE = "semantic_cache"
ROUTING = "routing"
PROMPT_REFINEMENT = "prompt_refinement"
CONFIDENCE_STOP = "confidence_stop"
APPROXIMATE_CACHE = "approximate_cache"
_RIGHT = "share of right answers"


def _told_by_name(
    name: str, layer: Layer, saves: str, *, bench: str, quality: str = _RIGHT, is_exact: bool = False
) -> Saving:
    return Saving(
        name=name,
        layer=layer,
        saves=saves,
        quality=quality,
        bench=bench,
        saved_figure=f"{name}.saved",
        quality_figure=f"{name}.quality_difference",
        is_exact=is_exact,
    )


SAVINGS: tuple[Saving, ...] = (
    Saving(
        name=EARLY_EXIT,
        layer=Layer.ENGINE,
        saves="denoise steps",
        quality=_RIGHT,
        bench="policy",
        saved_figure="mean_steps_vs_saturation",
        quality_figure="quality_diff_lower_bound",
        reading=Reading.REMAINING,
    ),
    Saving(
        name=APPROXIMATE_CACHE,
        layer=Layer.ENGINE,
        saves="time of a step",
        quality="share of tokens that stay the same",
        bench="agreement",
        saved_figure="steps_per_s_vs_off",
        quality_figure="tokens_vs_off",
        reading=Reading.SPEEDUP,
        options=" --checkpoint DIR --approximate-cache prefix|dual",
    ),
    _told_by_name(SEMANTIC_CACHE, Layer.SERVICE, "requests that are generated", bench="layers"),
    _told_by_name(ROUTING, Layer.SERVICE, "cost of forwards", bench="layers"),
    Saving(
        name=BFLOAT16,
        layer=Layer.MODEL,
        saves="time of a request",
        quality=_RIGHT,
        bench="engine",
        saved_figure="bfloat16_requests_per_s_vs_float32",
        quality_figure="bfloat16_quality_vs_float32",
        reading=Reading.SPEEDUP,
    ),
    _told_by_name(INT8, Layer.MODEL, "time of a request", bench="layers"),
    Saving(
        name=INT4,
        layer=Layer.MODEL,
        saves="memory of weights and KV",
        quality=_RIGHT,
        bench="precision",
        saved_figure="int4.memory_saving",
        quality_figure="int4.quality_vs_float32",
        reading=Reading.COUNTED,
    ),
    _told_by_name(SPECULATION, Layer.MODEL, "time of a request", bench="layers", is_exact=True),
    _told_by_name(PROMPT_REFINEMENT, Layer.BUSINESS, "prompt tokens", bench="business"),
    _told_by_name(
        CONFIDENCE_STOP,
        Layer.BUSINESS,
        "wasted output tokens",
        bench="business",
        quality="share of answers that are right and in their manner",
    ),
)


BY_PRECISION: Mapping[Precision, str] = MappingProxyType(
    {Precision.BFLOAT16: BFLOAT16, Precision.INT8: INT8, Precision.INT4: INT4}
)
"""The saving that a precision is; single precision is what each is measured against."""


def find_saving(name: str) -> Saving:
    """Return a saving by its name.

    Raises:
        UnknownSavingError: there is none of that name.
    """
    found = next((saving for saving in SAVINGS if saving.name == name), None)
    if found is None:
        raise UnknownSavingError(name, (saving.name for saving in SAVINGS))
    return found
