"""Behaviour of `unmask.api.authentication`, and of endpoints that know who asks."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
import pytest

from tests.api.client import CHAT, COMPLETIONS, chat_body, client_of, completion_body, make_app
from unmask.api.application import KeyDesk
from unmask.api.strangers import MOST_ADDRESSES, WINDOW_S, Strangers
from unmask.backend import Backend
from unmask.config import Settings
from unmask.control.parts import ControlParts
from unmask.tenants.errors import KeysUnavailableError
from unmask.tenants.principal import Principal
from unmask.tenants.role import KeyRole
from unmask.testing.budget_policies import make_task_policy
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.manual_clock import ManualClock
from unmask.testing.policies import FakeClassifier, FakePolicies, make_active
from unmask.testing.tenants import FakeAuthenticator, make_principal

HEALTH = ("/health", "/health/ready", "/health/live")
PRINCIPALS = {role.value: make_principal(role) for role in KeyRole} | {
    "other": make_principal(tenant="globex", key="bbbbbbbbbbbb"),
    "batch": make_principal(classes=("batch",), default_task="sort"),
    "none": make_principal(classes=()),
    "elsewhere": make_principal(classes=("night",), default_task="unheard-of"),
}


class Gone(FakeAuthenticator):
    """Cannot ask its database."""

    async def authenticate(self, text: str) -> Principal:
        """Say so."""
        raise KeysUnavailableError(1.0)


def site(
    backend: Backend | None = None, *, parts: ControlParts | None = None, keys: KeyDesk | None = None
) -> AbstractAsyncContextManager[httpx.AsyncClient]:
    """Open a client of an application that asks for keys."""
    return client_of(make_app(backend, parts=parts, keys=keys or FakeAuthenticator(PRINCIPALS)))


class Forgetful(FakeAuthenticator):
    """Knows keys only once they have been looked for, and counts the looks."""

    def __init__(self) -> None:
        super().__init__(PRINCIPALS)
        self.looks: list[str] = []
        self._found: set[str] = set()

    async def authenticate(self, text: str) -> Principal:
        """Look for a key."""
        self.looks.append(text)
        principal = await super().authenticate(text)
        self._found.add(text)
        return principal

    def knows(self, text: str) -> bool:
        """Tell whether it was found."""
        return text in self._found


class Street:
    """A server that lets two wrong keys of an address through in a minute, and clients with addresses."""

    def __init__(self, limit: int = 2) -> None:
        self.keys = Forgetful()
        self.clock = ManualClock()
        self._app = make_app(keys=self.keys, settings=Settings(wrong_key_limit=limit), clock=self.clock)

    async def ask(self, name: str, host: str = "203.0.113.7") -> httpx.Response:
        """Ask for the models with a key."""
        transport = httpx.ASGITransport(self._app, client=(host, 5000))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/v1/models", headers=bearer(name))

    async def flood(self, host: str = "203.0.113.7", count: int = 4) -> list[int]:
        """Send wrong keys, each another one."""
        return [(await self.ask(f"wrong-{host}-{number}", host)).status_code for number in range(count)]


def policies() -> ControlParts:
    """Return parts with a policy of the classes interactive and batch, and the task type sort."""
    return ControlParts(
        policies=FakePolicies(make_active(make_task_policy("sort"))), classifier=FakeClassifier(lambda _: None)
    )


def bearer(name: str) -> dict[str, str]:
    """Return the header of a key."""
    return {"authorization": f"Bearer {name}"}


async def post(
    name: str,
    *,
    backend: Backend | None = None,
    parts: ControlParts | None = None,
    **changes: Any,  # noqa: ANN401
) -> httpx.Response:
    """Send a chat request with a key."""
    async with site(backend, parts=parts) as client:
        return await client.post(CHAT, json=chat_body(**changes), headers=bearer(name))


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("authorization", "")],
        [("authorization", "inference")],
        [("authorization", "Basic inference")],
        [("authorization", "Bearer")],
        [("authorization", "Bearer inference"), ("authorization", "Bearer inference")],
        [("x-api-key", "inference")],
    ],
)
async def test_a_request_without_a_key_is_refused(headers: list[tuple[str, str]]) -> None:
    """None, two, or one that is sent in another way: the message says how keys are sent."""
    async with site() as client:
        answer = await client.post(CHAT, json=chat_body(), headers=headers)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["x-request-id"]
    error = answer.json()["error"]
    assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", "invalid_api_key", None)
    assert "Authorization: Bearer um-" in error["message"]


@pytest.mark.parametrize("key", ["um-x", "INFERENCE", "inference inference", "' OR '1'='1", "\xe9", "x" * 9_000])
async def test_bad_keys_are_refused_in_one_way(key: str) -> None:
    """The answer repeats nothing of what was sent."""
    async with site() as client:
        answer = await client.get("/v1/models", headers=[(b"authorization", f"Bearer {key}".encode("latin-1"))])
        unknown = await client.get("/v1/models", headers=bearer("um-unknown"))

    assert answer.status_code == 401
    assert answer.content == unknown.content
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_a_key_in_force_is_answered(scheme: str) -> None:
    """The scheme's name is written in any case, as HTTP has it."""
    async with site() as client:
        answer = await client.post(CHAT, json=chat_body(), headers={"authorization": f"{scheme} inference"})

    assert answer.status_code == 200


@pytest.mark.parametrize("path", HEALTH)
async def test_health_needs_no_key(path: str) -> None:
    """Load balancers have none."""
    async with site() as client:
        assert (await client.get(path)).status_code == 200
        assert (await client.head(path)).status_code == 200
        assert (await client.get(f"{path}/")).status_code == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/tiny"),
        ("GET", "/openapi.json"),
        ("GET", "/metrics"),
        ("GET", "/v1/tenant"),
        ("POST", CHAT),
        ("POST", COMPLETIONS),
        ("GET", CHAT),
        ("GET", "/nowhere"),
        ("OPTIONS", CHAT),
        ("HEAD", "/v1/models"),
    ],
)
async def test_everything_else_needs_one(method: str, path: str) -> None:
    """A stranger does not even learn which paths there are."""
    async with site() as client:
        assert (await client.request(method, path)).status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", CHAT, {KeyRole.INFERENCE}),
        ("POST", COMPLETIONS, {KeyRole.INFERENCE}),
        ("GET", "/metrics", {KeyRole.OPERATOR}),
        ("GET", "/v1/savings", {KeyRole.OPERATOR}),
        ("GET", "/v1/tenant", {KeyRole.TENANT_ADMIN}),
        ("GET", "/v1/models", set(KeyRole)),
        ("GET", "/openapi.json", set(KeyRole)),
    ],
)
async def test_endpoints_go_by_role(method: str, path: str, allowed: set[KeyRole]) -> None:
    """A key opens what its roles are for, and nothing else."""
    bodies = {CHAT: chat_body(), COMPLETIONS: completion_body()}
    for role in KeyRole:
        async with site() as client:
            answer = await client.request(method, path, json=bodies.get(path), headers=bearer(role))
        if role in allowed:
            assert answer.status_code == 200
        else:
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (403, "insufficient_permissions")
            assert f"roles are {role}, allowed: {next(iter(allowed))}." in error["message"]


async def test_the_document_says_where_a_key_is_needed() -> None:
    """Everywhere, save where it says otherwise; without keys it says nothing of them."""
    async with site() as client:
        document = (await client.get("/openapi.json", headers=bearer("inference"))).json()
    async with client_of(make_app()) as client:
        plain = (await client.get("/openapi.json")).json()
    opened = {path for path, operations in document["paths"].items() if operations.get("get", {}).get("security") == []}

    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert document["security"] == [{"key": []}]
    assert opened == set(HEALTH)
    assert "/v1/tenant" in document["paths"]
    assert "security" not in plain
    assert "/v1/tenant" not in plain["paths"]


async def test_a_refused_request_is_not_read() -> None:
    """Whoever has no key sends no body that anybody waits for, and nothing is generated."""
    backend = FakeBackend()
    async with site(backend) as client:
        answer = await client.post(CHAT, content=b"{", headers=bearer("operator"))
        stranger = await client.post(CHAT, content=b"{")

    assert (answer.status_code, stranger.status_code) == (403, 401)
    assert backend.requests == []


async def test_a_tenant_has_a_prefix_cache_of_its_own() -> None:
    """It goes by the key's tenant, and by nothing that a body can say."""
    backend = FakeBackend()
    await post("inference", backend=backend, user="globex", metadata={"tenant": "globex"}, n=2)
    await post("other", backend=backend)

    assert [request.tenant for request in backend.requests] == ["acme", "acme", "globex"]


async def test_nobody_is_let_in_while_keys_cannot_be_looked_up() -> None:
    """The client is told to come again."""
    async with site(keys=Gone({})) as client:
        answer = await client.get("/v1/models", headers=bearer("inference"))
        health = await client.get("/health")

    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert answer.headers["retry-after"] == "1"
    assert "www-authenticate" not in answer.headers
    assert health.status_code == 200


async def test_with_keys_any_name_may_call() -> None:
    """A page that has no key gets nothing, whatever name it calls by."""
    async with site() as client:
        headers = {"host": "gpu.example", "origin": "https://elsewhere.example"}
        known = await client.get("/v1/models", headers=headers | bearer("inference"))
        stranger = await client.get("/v1/models", headers=headers)

    assert (known.status_code, stranger.status_code) == (200, 401)
    assert not any(name.startswith("access-control") for name in known.headers)


async def test_without_keys_nothing_is_asked_for() -> None:
    """As before: no key, no tenant, and no endpoint that shows one."""
    backend = FakeBackend()
    async with client_of(make_app(backend)) as client:
        assert (await client.post(CHAT, json=chat_body(), headers=bearer("whatever"))).status_code == 200
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/v1/tenant")).status_code == 404

    assert backend.requests[0].tenant == ""


async def test_a_tenant_admin_sees_its_own_tenant() -> None:
    """Limits and keys, without a secret; of which tenant, the key says."""
    async with site() as client:
        answer = await client.get("/v1/tenant", headers=bearer("tenant-admin"))

    found = answer.json()
    assert (found["object"], found["id"], found["limits"]) == ("tenant", "acme", ["requests=9/1m"])
    assert [key["state"] for key in found["keys"]] == ["active", "disabled"]
    assert found["keys"][0] == {
        "id": "aaaaaaaaaaaa",
        "name": "ann",
        "state": "active",
        "roles": [role.value for role in KeyRole],
        "service_classes": ["batch"],
        "task": None,
        "limits": ["concurrency=4"],
        "created": "2023-11-14T22:13:20+00:00",
        "expires": None,
    }


# --- service classes and task types ---


async def test_a_key_uses_its_own_classes() -> None:
    """Without a word it gets the first of them, and the answer says which."""
    given = await post("batch", parts=policies())
    named = await post("batch", parts=policies(), diffusion={"service_class": "batch"})
    refused = await post("batch", parts=policies(), diffusion={"service_class": "interactive"})

    assert given.json()["usage"]["diffusion"]["service_class"] == "batch"
    assert named.json()["usage"]["diffusion"]["service_class"] == "batch"
    error = refused.json()["error"]
    assert (refused.status_code, error["param"]) == (400, "diffusion.service_class")
    assert "'interactive', allowed: batch. Your key is not for the service class interactive." in error["message"]


async def test_a_tier_that_the_key_is_not_for_is_refused_by_name() -> None:
    """The field that asks for the class is the one at fault; tiers that would do are told."""
    refused = await post("batch", parts=policies(), service_tier="priority")
    taken = await post("batch", parts=policies(), service_tier="flex")

    error = refused.json()["error"]
    assert (refused.status_code, error["param"]) == (400, "service_tier")
    assert "'priority', allowed: auto, default, flex. Your key is not for" in error["message"]
    assert (taken.status_code, taken.json()["service_tier"]) == (200, "flex")


@pytest.mark.parametrize("name", ["none", "elsewhere"])
async def test_a_key_without_a_class_here_is_refused(name: str) -> None:
    """It may use none of those that the policy has."""
    answer = await post(name, parts=policies())

    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "diffusion.service_class")
    assert "served here are" in answer.json()["error"]["message"]


async def test_without_a_policy_there_are_no_classes_to_keep_to() -> None:
    """Budgets are fixed for everybody."""
    assert (await post("elsewhere")).status_code == 200


async def test_models_list_what_the_key_may_use() -> None:
    """The first is that of requests which name none."""
    async with site(parts=policies()) as client:
        listed = {
            name: (await client.get("/v1/models/tiny", headers=bearer(name))).json()["service_classes"]
            for name in ("inference", "batch", "none")
        }

    assert listed == {"inference": ["interactive", "batch"], "batch": ["batch"], "none": []}


async def test_a_keys_task_type_is_that_of_requests_that_name_none() -> None:
    """What the request says wins; a task type that nobody knows here is as none."""
    tasks = [
        (await post(name, parts=policies(), diffusion=options)).json()["usage"]["diffusion"]["task"]
        for name, options in (("batch", {}), ("batch", {"task": "arithmetic"}), ("inference", {}))
    ]

    assert tasks == ["sort", "arithmetic", "default"]


async def test_a_flood_of_wrong_keys_is_looked_at_no_more() -> None:
    """The answer says so by its code and when it is over; then they are looked at again."""
    street = Street()
    assert await street.flood() == [401, 401, 429, 429]
    assert len(street.keys.looks) == 2
    street.clock.advance(WINDOW_S - 10)
    refused = await street.ask("inference")
    street.clock.advance(10)

    assert refused.json()["error"]["code"] == "too_many_wrong_keys"
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert refused.headers["retry-after"] == "10"
    assert (await street.ask("inference")).status_code == 200


async def test_a_flood_shuts_out_no_key_that_is_known() -> None:
    """Somebody else may be behind the same address."""
    street = Street()
    assert (await street.ask("inference")).status_code == 200
    await street.flood()

    assert (await street.ask("inference")).status_code == 200
    assert (await street.ask("operator")).status_code == 429


async def test_a_flood_shuts_out_no_other_address() -> None:
    """Addresses of IPv6 that begin alike are one, and so are both forms of one of IPv4."""
    street = Street()
    await street.flood("2001:db8::1")
    await street.flood("203.0.113.7")

    assert (await street.ask("inference", "2001:db8::2")).status_code == 429
    assert (await street.ask("inference", "2001:db8:0:1::2")).status_code == 200
    assert (await street.ask("operator", "::ffff:203.0.113.7")).status_code == 429
    assert (await street.ask("operator", "203.0.113.8")).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::ffff:127.0.0.1", ""])
async def test_this_machine_floods_itself(host: str) -> None:
    """Behind a proxy beside the server all clients have its address, so it has no limit."""
    assert await Street().flood(host) == [401] * 4


async def test_no_limit_is_none() -> None:
    """Where a proxy elsewhere counts."""
    assert await Street(0).flood() == [401] * 4


def test_addresses_do_not_pile_up() -> None:
    """Whoever has many fills no memory: the oldest is forgotten."""
    strangers = Strangers(1, ManualClock())
    for number in range(MOST_ADDRESSES + 5):
        strangers.refused(f"2001:db8:{number >> 8:x}:{number & 255:x}::1")

    assert len(strangers._counts) == MOST_ADDRESSES
