"""The endpoint that takes answers out of the cache."""

from dataclasses import dataclass
from typing import Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.authentication import require_role
from unmask.api.errors import UnknownEntryError
from unmask.api.openapi import errors, path_parameter
from unmask.api.responses import json_response
from unmask.cache.store import AnswerStore
from unmask.tenants.role import KeyRole

CACHE = "/v1/cache"


class Forgotten(BaseModel):
    """How many answers are not given again."""

    model_config = ConfigDict(extra="forbid")

    object: Literal["cache.forgotten"] = "cache.forgotten"
    entries: int = Field(ge=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEndpoint:
    """Removes entries: for operators anybody's, for a tenant's admins its own."""

    store: AnswerStore

    async def forget(self, http: HttpRequest) -> Response:
        """Remove one answer, which `usage.diffusion.cache.entry` names."""
        entry = http.path_params["entry"]
        count = self.store.forget((entry,), tenant=_tenant(http))
        if not count:
            raise UnknownEntryError(entry)
        return _forgotten(count)

    async def forget_all(self, http: HttpRequest) -> Response:
        """Remove all answers that whoever asks may remove."""
        tenant = _tenant(http)
        return _forgotten(self.store.forget(self.store.ids(tenant=tenant), tenant=tenant))


def add_cache(app: FastAPI, store: AnswerStore) -> None:
    """Add the endpoint to an application."""
    endpoint = CacheEndpoint(store=store)
    done: dict[int | str, dict[str, Any]] = {200: {"model": Forgotten}}
    app.delete(CACHE, summary="Forget all answers", responses={**done, **errors(401, 403, 503)})(endpoint.forget_all)
    app.delete(
        f"{CACHE}/{{entry}}",
        summary="Forget one answer",
        responses={**done, **errors(401, 403, 404, 503)},
        openapi_extra=path_parameter("entry", "Id of the answer, as in `usage.diffusion.cache.entry`."),
    )(endpoint.forget)


def _tenant(http: HttpRequest) -> str | None:
    """Return whose answers may be removed; nothing stands for everybody's."""
    principal = require_role(http, (KeyRole.OPERATOR, KeyRole.TENANT_ADMIN))
    return None if principal is None or KeyRole.OPERATOR in principal.roles else principal.tenant


def _forgotten(entries: int) -> Response:
    return json_response(Forgotten(entries=entries).model_dump(mode="json"))
