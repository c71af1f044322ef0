"""Answers from the cache over HTTP: who gets one, what it says of itself, and how it is billed."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp

from tests.api.client import CHAT, COMPLETIONS, chat_body, client_of, json_schema, make_app
from tests.api.sse_events import parse_stream
from unmask.cache.embedding import ServerEmbeddings
from unmask.control.cache_audits import AuditResult, read_audits
from unmask.control.parts import ControlParts
from unmask.errors import UnmaskError
from unmask.ledger.settlement import Purpose
from unmask.policy.policy import ControlPolicy
from unmask.tenants.role import KeyRole
from unmask.testing.builders import make_generation
from unmask.testing.caches import FlakyEmbedder, make_cache, make_cache_parts
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.ledgers import MemoryLedger
from unmask.testing.manual_clock import ManualClock
from unmask.testing.policies import FakePolicies, make_active
from unmask.testing.tenants import FakeAuthenticator, make_principal
from unmask.testing.waiting import until
from unmask.types import FinishReason

HOME = "What is your home?"
SAME = "Please tell me your home."


def says(text: str = HOME, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any field
    """Return a chat that asks something, with other fields of its body."""
    return {"messages": [{"role": "user", "content": text}]} | fields


def site(folder: Path, backend: FakeBackend | None = None, **parts: Any) -> ASGIApp:  # noqa: ANN401 - any part
    """Return an application with an empty cache."""
    of_cache = {name: parts.pop(name) for name in ("cache", "audit_share", "draw") if name in parts}
    keys = parts.pop("keys", None)
    registry = parts.pop("registry", None)
    made = ControlParts(cache=make_cache_parts(folder, **of_cache), **parts)
    return make_app(backend, parts=made, keys=keys, registry=registry)


async def ask(
    app: ASGIApp, *bodies: dict[str, Any], headers: dict[str, str] | None = None, path: str = CHAT
) -> list[httpx.Response]:
    """Send requests one after the other."""
    async with client_of(app) as client:  # type: ignore[arg-type]
        return [
            await client.post(path, json=chat_body(**body) if path == CHAT else body, headers=headers)
            for body in bodies
        ]


def cache_of(response: httpx.Response) -> dict[str, Any] | None:
    """Return what an answer says of the cache."""
    assert response.status_code == 200, response.text
    found: dict[str, Any] | None = response.json()["usage"]["diffusion"]["cache"]
    return found


def hits(responses: list[httpx.Response]) -> list[str | None]:
    """Return how each answer was found."""
    return [None if (found := cache_of(response)) is None else found["hit"] for response in responses]


# --- what is found ---


async def test_hits_say_what_they_are(tmp_path: Path) -> None:
    """In usage and in a header; they take no step, and the backend hears of none."""
    backend = FakeBackend()
    answers = await ask(site(tmp_path, backend), says(), says(), says(SAME))

    assert hits(answers) == ["miss", "exact", "semantic"]
    assert [answer.headers["x-unmask-cache"] for answer in answers] == ["miss", "exact", "semantic"]
    assert [answer.headers["x-unmask-steps"] for answer in answers[1:]] == ["0", "0"]
    assert len({answer.json()["choices"][0]["message"]["content"] for answer in answers}) == 1
    assert len(backend.requests) == 1
    exact, semantic = cache_of(answers[1]), cache_of(answers[2])
    assert exact == {"hit": "exact", "entry": "entry-1", "age_s": 0.0, "similarity": 1.0}
    assert semantic is not None
    assert 0.3 <= semantic["similarity"] < 1.0


async def test_without_a_cache_nothing_is_said_of_it() -> None:
    """Neither a header nor a hit."""
    answers = await ask(make_app(), says(), says())

    assert hits(answers) == [None, None]
    assert "x-unmask-cache" not in answers[1].headers


DIFFERENT: tuple[dict[str, Any], ...] = (
    says(messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": HOME}]),
    says(
        messages=[
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": HOME},
        ]
    ),
    says(model="nano"),
    says(max_tokens=9),
    says(seed=5),
    says(stop=["x"]),
    says(logprobs=True),
    says(response_format={"type": "json_object"}),
    says(diffusion={"max_steps": 3}),
    says(diffusion={"canvas_length": 8}),
    says(diffusion={"strategy": "entropy_bound"}),
    says(diffusion={"threshold": 0.5}),
    says(diffusion={"early_exit": False}),
    says(diffusion={"task": "sort"}),
    says(diffusion={"search": "candidates"}),
    says(reasoning_effort="low"),
    says(diffusion={"verify": [{"kind": "length", "minimum": 1}]}),
)


@pytest.mark.parametrize("text", [HOME, SAME])
async def test_a_request_that_differs_in_anything_is_another_one(tmp_path: Path, text: str) -> None:
    """Whether it asks in the same words or in others."""
    others = [body | {"messages": [*body["messages"][:-1], {"role": "user", "content": text}]} for body in DIFFERENT]
    found = hits(await ask(site(tmp_path), says(), *others, says(text)))

    assert found == [*["miss"] * (1 + len(others)), "exact" if text == HOME else "semantic"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"kind": "length", "minimum": 1}, {"kind": "numeric", "minimum": 1}),
        ({"kind": "regex", "pattern": ".*"}, {"kind": "regex", "pattern": "..*"}),
        ({"kind": "self_consistency", "samples": 2}, {"kind": "self_consistency", "samples": 3}),
    ],
)
async def test_verifiers_are_told_apart(tmp_path: Path, one: dict[str, Any], other: dict[str, Any]) -> None:
    """By their kind and by all that they ask."""
    bodies = [says(diffusion={"verify": [entry]}) for entry in (one, other, one)]

    assert hits(await ask(site(tmp_path), *bodies)) == ["miss", "miss", "exact"]


async def test_schemas_are_told_apart_by_what_they_say(tmp_path: Path) -> None:
    """Not by the order of their fields."""
    schemas: tuple[dict[str, Any], ...] = ({"type": "integer", "minimum": 1}, {"minimum": 1, "type": "integer"}, {})

    found = hits(await ask(site(tmp_path), *(says() | json_schema(schema) for schema in schemas)))
    assert found == ["miss", "exact", "miss"]


async def test_a_policy_that_is_promoted_ends_what_was_kept(tmp_path: Path) -> None:
    """Its digest is part of what has to be the same."""
    control = ControlPolicy(fraction=0.0, young_fraction=0.0, young_until=0)
    policies = FakePolicies(make_active(control=control))
    app = site(tmp_path, policies=policies)
    before = await ask(app, says(), says())
    policies.active = replace(make_active(control=control), digest="0" * 64)

    assert hits([*before, *await ask(app, says())]) == ["miss", "exact", "miss"]


async def test_tenants_share_nothing(tmp_path: Path) -> None:
    """The same question of another tenant is another one, and so is one in other words."""
    keys = FakeAuthenticator({name: make_principal(tenant=name) for name in ("acme", "zeta")})
    app = site(tmp_path, keys=keys)
    of_acme = await ask(app, says(), says(), headers={"authorization": "Bearer acme"})
    of_zeta = await ask(app, says(), says(SAME), headers={"authorization": "Bearer zeta"})

    assert hits(of_acme) == ["miss", "exact"]
    assert hits(of_zeta) == ["miss", "semantic"]


async def test_prompts_are_found_each_by_itself(tmp_path: Path) -> None:
    """Several in one call, of which some were asked before; the call says so."""
    app = site(tmp_path)
    bodies = ({"model": "tiny", "prompt": HOME}, {"model": "tiny", "prompt": [SAME, "Who are you?"]})
    _, both = await ask(app, *bodies, path=COMPLETIONS)

    assert [choice["diffusion"]["cache"]["hit"] for choice in both.json()["choices"]] == ["semantic", "miss"]
    assert cache_of(both) is not None
    assert both.headers["x-unmask-cache"] == "mixed"


# --- what the client says ---


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("no-store", ["miss", "miss", "miss"]),
        ("no-cache", ["miss", "miss", "exact"]),
        ("max-age=0, no-transform", ["miss", "exact", "exact"]),
        ("NO-CACHE, No-Store", ["miss", "miss", "miss"]),
        ("private, max-age=x", ["miss", "exact", "exact"]),
    ],
)
async def test_cache_control_is_heeded(tmp_path: Path, header: str, expected: list[str]) -> None:
    """`no-store` keeps nothing, `no-cache` looks for nothing; what is not known says nothing. The last has none."""
    app = site(tmp_path)
    answers = await ask(app, says(), says(), headers={"cache-control": header})

    assert hits([*answers, *await ask(app, says())]) == expected


async def test_max_age_bounds_how_old_an_answer_may_be(tmp_path: Path) -> None:
    """In whole seconds."""
    clock = ManualClock()
    app = site(tmp_path, cache=make_cache(clock))
    first = await ask(app, says())
    clock.advance(5.0)
    young = await ask(app, says(), headers={"cache-control": "max-age=4"})
    clock.advance(4.0)
    old = await ask(app, says(), headers={"cache-control": "max-age=4"})

    assert hits([*first, *young, *old]) == ["miss", "miss", "exact"]


async def test_drawn_answers_are_kept_only_with_a_seed_of_the_clients(tmp_path: Path) -> None:
    """Without one every request is to have an answer of its own."""
    app = site(tmp_path)
    drawn = await ask(app, says(temperature=1.0), says(temperature=1.0))
    seeded = await ask(app, says(temperature=1.0, seed=3), says(temperature=1.0, seed=3))

    assert hits(drawn) == [None, None]
    assert hits(seeded) == ["miss", "exact"]


# --- what is kept ---


async def test_a_cut_answer_is_not_kept(tmp_path: Path) -> None:
    """Only one that reached its end."""
    cut = make_generation("so far", finish_reason=FinishReason.LENGTH)

    assert hits(await ask(site(tmp_path, FakeBackend(generation=cut)), says(), says())) == ["miss", "miss"]


async def test_a_failed_answer_is_given_to_the_same_words_alone(tmp_path: Path) -> None:
    """It says again that it has failed, and is no accepted one in the books."""
    options: dict[str, Any] = {"diffusion": {"verify": [{"kind": "numeric", "minimum": 100}]}}
    ledger = MemoryLedger()
    app = site(tmp_path, FakeBackend("42"), ledger=ledger)
    answers = await ask(app, says(**options), says(**options), says(SAME, **options))

    assert hits(answers) == ["miss", "exact", "miss"]
    assert {answer.json()["usage"]["diffusion"]["verify"] for answer in answers} == {"fail"}
    assert [settled.accepted for settled in ledger.settlements.values()] == [False] * 3


# --- while it is made ---


async def test_the_same_request_that_comes_meanwhile_is_a_hit(tmp_path: Path) -> None:
    """It is run once, billed once as an answer and then as hits, and the wait is no time of this server's own."""
    gate, ledger = asyncio.Event(), MemoryLedger()
    backend = FakeBackend(gate=gate)
    app, others = site(tmp_path, backend, ledger=ledger), (says(), says(stream=True, diffusion={"stream": "verified"}))
    first = asyncio.ensure_future(ask(app, says()))
    await until(lambda: len(backend.requests) == 1)
    later = [asyncio.ensure_future(ask(app, body)) for body in others]
    await until(lambda: len(ledger.reservations) == 3)
    gate.set()
    (answer,), (whole,), (streamed,) = await first, *[await one for one in later]
    async with client_of(app) as client:  # type: ignore[arg-type]
        metrics = (await client.get("/metrics")).text

    assert len(backend.requests) == 1
    assert hits([answer, whole]) == ["miss", "exact"]
    assert parse_stream(streamed.content).text() == answer.json()["choices"][0]["message"]["content"]
    assert sorted(attempt.purpose for one in ledger.settlements.values() for attempt in one.attempts) == [
        Purpose.ANSWER,
        Purpose.CACHE,
        Purpose.CACHE,
    ]
    assert 'unmask_cache_waits_total{model="tiny"} 2.0' in metrics


async def test_the_same_request_makes_its_own_answer_where_the_first_is_given_up(tmp_path: Path) -> None:
    """Its client has left; nobody else's answer goes with it."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    app = site(tmp_path, backend)
    first = asyncio.ensure_future(ask(app, says()))
    await until(lambda: len(backend.requests) == 1)
    later = asyncio.ensure_future(ask(app, says()))
    await asyncio.sleep(0)
    first.cancel()
    await until(lambda: len(backend.requests) == 2)
    gate.set()

    assert hits(await later) == ["miss"]


async def test_text_that_is_sent_as_it_is_made_is_not_waited_for(tmp_path: Path) -> None:
    """The other's text is there only once it is whole."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    app = site(tmp_path, backend)
    both = [asyncio.ensure_future(ask(app, says(stream=True))) for _ in range(2)]
    await until(lambda: len(backend.requests) == 2)
    gate.set()

    assert [(await one)[0].headers["x-unmask-cache"] for one in both] == ["miss", "miss"]


async def test_errors_are_not_kept(tmp_path: Path) -> None:
    """The request after one is generated."""
    cache = make_cache()
    app = site(tmp_path, FakeBackend(error=UnmaskError("boom")), cache=cache)
    (answer,) = await ask(app, says())

    assert (answer.status_code, len(cache.store)) == (500, 0)


# --- streams ---


@pytest.mark.parametrize("detail", [None, "committed", "verified"])
async def test_a_hit_streams_in_the_same_events(tmp_path: Path, detail: str | None) -> None:
    """Role, text, an end with its reason, usage and the mark of success."""
    diffusion: dict[str, Any] = {} if detail is None else {"diffusion": {"stream": detail}}
    body = says(stream=True, stream_options={"include_usage": True}, **diffusion)
    first, second = await ask(site(tmp_path, FakeBackend("it is 42")), body, body)
    streams = [parse_stream(answer.content) for answer in (first, second)]

    assert [answer.headers["x-unmask-cache"] for answer in (first, second)] == ["miss", "exact"]
    assert streams[0].text() == streams[1].text() == "it is 42"
    assert all(stream.done for stream in streams)
    ends, usages = ([stream.choice(0)[-1]["finish_reason"] for stream in streams], [one.chunks[-1] for one in streams])
    assert ends == ["stop", "stop"]
    assert usages[1]["usage"]["diffusion"]["cache"]["hit"] == "exact"
    assert usages[1]["usage"]["diffusion"]["steps_used"] == 0
    shapes = [[sorted(chunk) for chunk in stream.chunks] for stream in streams]
    assert shapes[1][0] == shapes[0][0]
    assert shapes[1][-1] == shapes[0][-1]
    assert {str(one) for one in shapes[1]} == {str(one) for one in shapes[0]}


async def test_whole_answers_and_streams_share_what_is_kept(tmp_path: Path) -> None:
    """A stream may be answered with what was sent whole."""
    whole, streamed = await ask(site(tmp_path), says(), says(stream=True))

    assert (whole.headers["x-unmask-cache"], streamed.headers["x-unmask-cache"]) == ("miss", "exact")


async def test_a_stream_of_drafts_is_never_from_the_cache(tmp_path: Path) -> None:
    """An answer that is finished has none."""
    body = says(stream=True, diffusion={"stream": "snapshots"})
    answers = await ask(site(tmp_path), body, body)

    assert all(parse_stream(answer.content).snapshots for answer in answers)
    assert ["x-unmask-cache" in answer.headers for answer in answers] == [False, False]


# --- books ---


@pytest.mark.parametrize("stream", [False, True])
async def test_a_hit_is_reserved_and_settled_as_a_hit(tmp_path: Path, stream: bool) -> None:
    """It counts as a request, takes no step, and has been reserved as any other."""
    ledger = MemoryLedger()
    await ask(site(tmp_path, ledger=ledger), says(stream=stream), says(stream=stream))
    missed, hit = ledger.settlements.values()

    assert [attempt.purpose for attempt in missed.attempts] == [Purpose.ANSWER]
    assert [(one.purpose, one.steps, one.token_steps, one.prefill_tokens) for one in hit.attempts] == [
        (Purpose.CACHE, 0, 0, 0)
    ]
    assert hit.accepted
    first, second = ledger.reservations.values()
    assert first.steps == second.steps > 0


# --- comparisons ---


async def test_a_share_of_hits_is_generated_again_and_compared(tmp_path: Path) -> None:
    """What is answered, and billed, is the new text; a kept answer that nobody vouches for goes."""
    texts = iter(("Velka", "Velka", "Dorasen", "Dorasen"))
    parts = {"audit_share": 1.0, "cache": make_cache(), "registry": CollectorRegistry()}
    app = site(tmp_path, FakeBackend(lambda _: next(texts)), **parts)
    answers = await ask(app, says(), says(), says(SAME))
    async with client_of(app) as client:  # type: ignore[arg-type]
        metrics = (await client.get("/metrics")).text

    assert hits(answers) == ["miss", "miss", "miss"]
    assert [answer.json()["choices"][0]["message"]["content"] for answer in answers] == ["Velka", "Velka", "Dorasen"]
    assert 'unmask_cache_compared_total{match="exact",result="same"} 1.0' in metrics
    assert 'unmask_cache_compared_total{match="semantic",result="false"} 1.0' in metrics
    assert 'unmask_cache_false_hit_ratio{bound="estimate",match="semantic"} 1.0' in metrics


async def test_comparisons_are_on_record(tmp_path: Path) -> None:
    """With both questions and both texts; another text that the verifiers pass is no false hit."""
    texts = iter(("7", "8"))
    parts = make_cache_parts(tmp_path, audit_share=1.0)
    app = make_app(FakeBackend(lambda _: next(texts)), parts=ControlParts(cache=parts))
    verify: dict[str, Any] = {"diffusion": {"verify": [{"kind": "numeric", "minimum": 5}]}}
    await ask(app, says(**verify), says(SAME, **verify))
    parts.close()
    (audit,) = read_audits(tmp_path).records

    assert (audit.result, audit.entry) == (AuditResult.ACCEPTED, "entry-1")
    assert (audit.asked, audit.kept_question, audit.answer, audit.kept_answer) == (SAME, HOME, "8", "7")


# --- an embedder that is down ---


async def test_without_its_embedder_the_server_goes_on(tmp_path: Path) -> None:
    """By the very same words only; health and metrics say so."""
    clock, embedder = ManualClock(), FlakyEmbedder()
    embedder.is_down = True
    app = site(tmp_path, cache=make_cache(clock, embeddings=ServerEmbeddings(embedder, 0.3, clock)))
    answers = await ask(app, says(), says(), says(SAME))
    async with client_of(app) as client:  # type: ignore[arg-type]
        health, metrics = await client.get("/health"), (await client.get("/metrics")).text

    assert hits(answers) == ["miss", "exact", "miss"]
    assert health.status_code == 200
    assert any("embedder" in note for note in health.json()["notes"])
    assert "unmask_cache_embedder_up 0.0" in metrics
    assert "unmask_cache_embedder_failures_total 1.0" in metrics


# --- forgetting ---


async def test_an_answer_can_be_taken_out(tmp_path: Path) -> None:
    """By the id that its answers name; a second time it is not there."""
    app = site(tmp_path)
    await ask(app, says())
    (hit,) = await ask(app, says())
    found = cache_of(hit)
    assert found is not None
    async with client_of(app) as client:  # type: ignore[arg-type]
        deleted = [await client.delete(f"/v1/cache/{found['entry']}") for _ in range(2)]

    assert [answer.status_code for answer in deleted] == [200, 404]
    assert deleted[1].json()["error"]["code"] == "unknown_cache_entry"
    assert hits(await ask(app, says())) == ["miss"]


@pytest.mark.parametrize(
    ("roles", "status", "left"),
    [
        ((KeyRole.INFERENCE,), 403, 2),
        ((KeyRole.TENANT_ADMIN,), 200, 1),
        ((KeyRole.OPERATOR,), 200, 0),
    ],
)
async def test_who_may_take_answers_out(tmp_path: Path, roles: tuple[KeyRole, ...], status: int, left: int) -> None:
    """A tenant's admin its own, an operator all."""
    cache = make_cache()
    known = {name: make_principal(tenant=name) for name in ("acme", "zeta")}
    known["boss"] = make_principal(*roles, tenant="acme")
    app = site(tmp_path, cache=cache, keys=FakeAuthenticator(known))
    for name in ("acme", "zeta"):
        await ask(app, says(), headers={"authorization": f"Bearer {name}"})
    async with client_of(app) as client:  # type: ignore[arg-type]
        answer = await client.delete("/v1/cache", headers={"authorization": "Bearer boss"})

    assert (answer.status_code, len(cache.store)) == (status, left)
