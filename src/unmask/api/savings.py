"""The endpoint that tells what is saved, and the quality that goes with it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.authentication import require_role
from unmask.api.openapi import errors
from unmask.api.responses import json_response
from unmask.savings.record import standing_record
from unmask.savings.saving import Layer
from unmask.savings.standing import Standing
from unmask.tenants.role import KeyRole

SAVINGS = "/v1/savings"


class EstimatedEntry(BaseModel):
    """A value with the ends of its 95 % interval."""

    model_config = ConfigDict(extra="forbid")

    value: float
    low: float
    high: float


class FigureEntry(BaseModel):
    """One measurement: what was saved and what became of quality, on the same items."""

    model_config = ConfigDict(extra="forbid")

    saved: EstimatedEntry = Field(description="Share of what is spent that it saves.")
    quality_difference: EstimatedEntry = Field(description="With it minus without it.")
    items: int
    model: str
    model_digest: str = Field(description="Of the weights it was measured on, which need not be those served here.")
    bench: str
    commit: str
    machine: str
    seed: int
    measured: str


class SavingEntry(BaseModel):
    """One saving."""

    model_config = ConfigDict(extra="forbid")

    name: str
    layer: Layer
    saves: str = Field(description="What there is less of.")
    unit: Literal["share"]
    quality: str = Field(description="The metric that is told beside it.")
    exact: bool = Field(description="Whether answers are the same by construction.")
    enabled_by: list[str] = Field(description="Settings and policies that enable it; empty while it is off.")
    suspended_for: list[str] = Field(description="Task types that it has switched itself off for.")
    measured_by: str = Field(description="The commands that measure it.")
    figure: FigureEntry | None = Field(description="`null` while its quality is not known: then it cannot be enabled.")


class SavingList(BaseModel):
    """Every saving there is."""

    model_config = ConfigDict(extra="forbid")

    object: Literal["list"] = "list"
    data: list[SavingEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingsEndpoint:
    """Answers what savings there are."""

    standings: Callable[[], tuple[Standing, ...]]

    async def savings(self, http: HttpRequest) -> Response:
        """List them, for whoever runs the server."""
        require_role(http, (KeyRole.OPERATOR,))
        return json_response({"object": "list", "data": [standing_record(one) for one in self.standings()]})


def add_savings(app: FastAPI, endpoint: SavingsEndpoint) -> None:
    """Add the endpoint to an application."""
    answers = {200: {"model": SavingList}, **errors(401, 403)}
    app.get(SAVINGS, summary="List savings, each with its quality", responses=answers)(endpoint.savings)
