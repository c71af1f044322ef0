"""The endpoint that shows a tenant to its own admins."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.authentication import require_role
from unmask.api.openapi import errors
from unmask.api.responses import json_response
from unmask.tenants.errors import KeyMissingError
from unmask.tenants.key import Key, KeyState
from unmask.tenants.overview import Overview
from unmask.tenants.role import KeyRole

TENANT = "/v1/tenant"


class ShowsTenants(Protocol):
    """Knows tenants and their keys."""

    async def overview(self, tenant: str) -> Overview:
        """Return a tenant; raise a `KeysUnavailableError` where the database does not answer."""
        ...


class KeyEntry(BaseModel):
    """A key, without its secret, which is kept nowhere."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(description="Its public id.")
    name: str = Field(description="Who or what holds it.")
    state: KeyState
    roles: list[KeyRole]
    service_classes: list[str] | None = Field(description="Those that it may use; `null` for all of its tenant's.")
    task: str | None = Field(description="Task type of requests that name none.")
    limits: list[str]
    created: str
    expires: str | None


class TenantEntry(BaseModel):
    """The tenant of the key that asks."""

    model_config = ConfigDict(extra="forbid")

    object: Literal["tenant"] = "tenant"
    id: str = Field(description="Its name.")
    service_classes: list[str] | None = Field(description="Those that its keys may use; `null` for all.")
    limits: list[str] = Field(description="On all of its keys together.")
    keys: list[KeyEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantEndpoint:
    """Answers what a tenant has."""

    tenants: ShowsTenants

    async def tenant(self, http: HttpRequest) -> Response:
        """Show the tenant of the key that asks, and no other."""
        principal = require_role(http, (KeyRole.TENANT_ADMIN,))
        if principal is None:
            raise KeyMissingError
        return json_response(_entry(await self.tenants.overview(principal.tenant)).model_dump(mode="json"))


def add_tenant(app: FastAPI, tenants: ShowsTenants) -> None:
    """Add the endpoint to an application."""
    answers = {200: {"model": TenantEntry}, **errors(401, 403, 503)}
    app.get(TENANT, summary="Show the key's tenant, its limits and its keys", responses=answers)(
        TenantEndpoint(tenants=tenants).tenant
    )


def _entry(found: Overview) -> TenantEntry:
    tenant = found.tenant
    return TenantEntry(
        id=tenant.name,
        service_classes=None if tenant.classes is None else list(tenant.classes),
        limits=[quota.text for quota in tenant.quotas],
        keys=[_key_entry(key, found.now) for key in found.keys],
    )


def _key_entry(key: Key, now: float) -> KeyEntry:
    return KeyEntry(
        id=key.public_id,
        name=key.name,
        state=key.state(now),
        roles=list(key.roles),
        service_classes=None if key.classes is None else list(key.classes),
        task=key.default_task,
        limits=[quota.text for quota in key.quotas],
        created=_iso(key.created),
        expires=None if key.expires is None else _iso(key.expires),
    )


def _iso(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")
