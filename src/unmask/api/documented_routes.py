"""Shapes of what answers and the list of models say of routes, for the OpenAPI document only."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from unmask.control.route import RouteReason

_EXACT = ConfigDict(extra="forbid")


class Routed(BaseModel):
    """Which of a route's two models served."""

    model_config = _EXACT

    model: str = Field(description="Whose answer it is; `mixed` where choices differ.")
    escalated: bool = Field(description="Whether the larger model was asked after the smaller one.")
    reason: RouteReason | Literal["mixed"] = Field(description="Why it went where it went first.")
    probability: float | None = Field(description="With which the smaller model was expected to be right.")
    steps_small: int = Field(description="Denoise steps of the smaller model; part of `steps_used`.")


class RouteEntry(BaseModel):
    """The two models that serve a route."""

    model_config = _EXACT

    small: str
    large: str
    is_small_loaded: bool
    fit: str | None = Field(description="Digest of what predicts whether the smaller model is right.")
    threshold: float | None = Field(description="Set by whoever runs the server; null goes by the fit's.")
