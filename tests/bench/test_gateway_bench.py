"""Behaviour of `unmask.bench.gateway_bench` and of the servers that it asks."""

import json
import sys
from pathlib import Path

import pytest
from httpx import ASGITransport

from tests.api.client import CHAT, client_of, make_app
from tests.bench.small import TOKENIZER, small_model
from unmask.bench import gateway_bench
from unmask.bench.bench import Bench
from unmask.bench.gateway_bench import BODY, run_gateway_bench
from unmask.bench.gateway_server import GatewayArm, bare, passthrough, settings_of
from unmask.bench.http_load import Place
from unmask.bench.instant_backend import TEXT, InstantBackend
from unmask.bench.pictures import save_picture
from unmask.clock import SystemClock
from unmask.errors import UnmaskError

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())


def make_arm(name: GatewayArm, milliseconds: float) -> gateway_bench._Arm:
    """Return an arm whose requests took about as long, differing from round to round."""
    arm = gateway_bench._Arm(name=name, place=Place(host="", port=1, request=b""), folder=Path())
    for number in range(8):
        seconds = milliseconds / 1_000 * (1 + number / 100)
        arm.paced.append([seconds * (1 + index / 1_000) for index in range(100)])
        arm.saturated.append([seconds] * 100)
        arm.walls.append(100 * seconds / 32)
    return arm


ARMS = [
    make_arm(GatewayArm.BARE, 0.5),
    make_arm(GatewayArm.PASSTHROUGH, 1.25),
    make_arm(GatewayArm.GATEWAY, 2.0),
    make_arm(GatewayArm.LEDGER, 2.5),
    make_arm(GatewayArm.INSTANT, 1.5),
    make_arm(GatewayArm.INSTANT_LEDGER, 2.0),
]


def test_targets_are_about_the_server_with_its_ledger() -> None:
    """What it takes over a backend that answers at once, and, passing requests on, its median over a pass-through's."""
    report = gateway_bench._report(BENCH, ARMS, has_ledger=True, seed=0, quick=False)
    p50, p99, ratio = report.must_reach

    assert [entry.name for entry in report.must_reach] == ["overhead_p50_ms", "overhead_p99_ms", "p50_vs_passthrough"]
    assert [entry.target for entry in report.must_reach] == [3.0, 15.0, 2.5]
    assert p50.value == pytest.approx(2.1, rel=0.1)
    assert p99.value == pytest.approx(2.3, rel=0.1)
    assert ratio.value == pytest.approx(2.0, rel=1e-6)
    assert all(entry.holds and entry.bound is not None and entry.bound >= entry.value for entry in (p50, p99))


def test_without_bookings_nothing_is_decided() -> None:
    """A server that books nothing is not the one that targets are about, and a figure says why."""
    report = gateway_bench._report(BENCH, ARMS, has_ledger=False, seed=0, quick=False)

    assert [(entry.bound, entry.holds) for entry in report.must_reach] == [(None, False)] * 3
    assert all("nothing was booked" in figure.note for figure in report.figures[-4:])


def test_rate_at_saturation_is_told_for_every_arm(tmp_path: Path) -> None:
    """Requests a second over all callers; and there is a picture of it."""
    report = gateway_bench._report(BENCH, ARMS, has_ledger=True, seed=0, quick=False)
    save_picture(report, tmp_path / "gateway.png")
    figures = {figure.name: figure.value for figure in report.figures}

    assert figures["passthrough.requests_per_s"] == pytest.approx(2 * figures["gateway_ledger.requests_per_s"])
    assert figures["p50_vs_bare"] == pytest.approx(4.0, rel=1e-6)
    assert len(report.records) == 6 * 8 * 200


def test_a_ledger_that_was_never_opened_has_booked_nothing(tmp_path: Path) -> None:
    """There is no file of it."""
    arm = make_arm(GatewayArm.LEDGER, 1.0)
    arm.folder = tmp_path

    assert not gateway_bench._booked(arm)


def test_a_server_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the end of what it has written."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        pytest.raises(UnmaskError, match="did not start"),
        gateway_bench._serving(GatewayArm.GATEWAY, tmp_path / "gateway"),
    ):
        pass


async def test_all_servers_say_the_same() -> None:
    """To the bench's own request: text and tokens of ours are those of whatever answers at once, passed on or not."""
    upstream = bare()
    passed_on = passthrough("http://upstream", ASGITransport(upstream))
    answers = []
    for app in (upstream, passed_on, make_app(InstantBackend())):
        async with client_of(app) as client:
            response = await client.post(CHAT, json=BODY)
            assert response.status_code == 200
            answers.append(response.json())
    first, passed, ours = answers

    assert first == passed
    assert first["choices"][0]["message"]["content"] == ours["choices"][0]["message"]["content"] == TEXT
    assert first["usage"].items() <= ours["usage"].items()
    assert first.keys() <= ours.keys()


async def test_the_upstream_streams_what_it_says_whole() -> None:
    """As our own server asks it to: the text, why it ends, and its tokens."""
    async with client_of(bare()) as client:
        lines = (await client.post(CHAT, json=BODY | {"stream": True})).text.split("\n\n")
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines if line and not line.endswith("[DONE]")]

    assert "".join(c["delta"].get("content", "") for chunk in chunks for c in chunk["choices"]) == TEXT
    assert [c["finish_reason"] for chunk in chunks for c in chunk["choices"]] == [None, "stop"]
    assert chunks[-1]["usage"]["completion_tokens"] > 0


def test_only_arms_of_that_name_have_a_ledger(tmp_path: Path) -> None:
    """In a folder of the bench."""
    assert settings_of(GatewayArm.GATEWAY, tmp_path).database is None
    for arm in (GatewayArm.LEDGER, GatewayArm.INSTANT_LEDGER):
        assert settings_of(arm, tmp_path).database == str(tmp_path / "ledger.db")


@pytest.mark.slow
@pytest.mark.bench
def test_real_servers_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six processes over real sockets, from their start to their end."""
    monkeypatch.setattr(gateway_bench, "QUICK_ROUNDS", 2)
    monkeypatch.setattr(gateway_bench, "QUICK_REQUESTS", 20)
    report = run_gateway_bench(BENCH, seed=0, quick=True, progress=lambda _, __: None)
    figures = {figure.name: figure for figure in report.figures}

    assert {f"{arm}.latency_p50_ms" for arm in GatewayArm} <= set(figures)
    assert figures["passthrough.latency_p50_ms"].n == 40
    assert figures["overhead_p50_ms"].value > 0
