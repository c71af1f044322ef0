"""The file of a learned finality model: a learned part of policies, plain JSON."""

from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unmask.errors import ConfigError
from unmask.policy.digest import canonical, content_digest
from unmask.policy.finality import FEATURES, finality_fault
from unmask.strategy import FinalityModel, HiddenUnit

FORMAT = "unmask-finality"
VERSION_DIGITS = 16

Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Unit(_Strict):
    weights: tuple[Finite, ...]
    bias: Finite


class _FinalityFile(_Strict):
    format: Literal["unmask-finality"] = "unmask-finality"
    features: tuple[str, ...]
    centre: tuple[Finite, ...]
    scale: tuple[Finite, ...]
    hidden: tuple[_Unit, ...] = Field(max_length=64)
    weights: tuple[Finite, ...]
    bias: Finite
    threshold: Finite


def finality_bytes(model: FinalityModel) -> bytes:
    """Return the file of a model; its version is not part of it, but the digest of the rest."""
    found = _FinalityFile(
        features=FEATURES,
        centre=model.centre,
        scale=model.scale,
        hidden=tuple(_Unit(weights=unit.weights, bias=unit.bias) for unit in model.hidden),
        weights=model.weights,
        bias=model.bias,
        threshold=model.threshold,
    )
    return canonical(found.model_dump(mode="json"))


def read_finality(content: bytes) -> FinalityModel:
    """Read a model.

    Raises:
        ConfigError: it is no finality model, or one of other features.
    """
    try:
        found = _FinalityFile.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{place} of the finality model: {first['msg']}. {_ANEW}") from error
    if found.features != FEATURES:
        raise ConfigError(f"the finality model reads other features than these: {', '.join(FEATURES)}. {_ANEW}")
    model = FinalityModel(
        version=content_digest(canonical(orjson.loads(content)))[:VERSION_DIGITS],
        centre=found.centre,
        scale=found.scale,
        hidden=tuple(HiddenUnit(weights=unit.weights, bias=unit.bias) for unit in found.hidden),
        weights=found.weights,
        bias=found.bias,
        threshold=found.threshold,
    )
    fault = finality_fault(model)
    if fault is not None:
        raise ConfigError(f"the finality model cannot be used: {fault}. {_ANEW}")
    return model


_ANEW = "Make it anew with: unmask tune finality."
