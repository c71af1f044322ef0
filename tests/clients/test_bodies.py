"""Bodies as other clients put them together: each is answered, or refused by the name of what is not supported."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.sse_events import parse_stream
from tests.app.site import Site
from tests.clients.server import serving
from unmask.testing.fake_backend import FakeBackend

PATH = Path(__file__).parents[1] / "cases" / "clients.jsonl"
CASES = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(name="site", scope="module")
def _site() -> Iterator[Site]:
    with serving(FakeBackend()) as site:
        yield site


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["client"])
def test_body_is_answered_or_refused_by_name(site: Site, case: dict[str, Any]) -> None:
    """The answer is what the case says; of a stream, to its end and with the usage that was asked for."""
    body, expect = case["body"], case["expect"]
    answer = httpx.post(site.url + case["path"], json=body)

    if expect["status"] != 200:
        error = answer.json()["error"]
        assert (answer.status_code, error["param"], error["code"]) == (
            expect["status"],
            expect["param"],
            expect["code"],
        )
    elif body.get("stream"):
        found = parse_stream(answer.content)
        assert found.done
        assert ("usage" in found.chunks[-1]) == bool(body.get("stream_options"))
    else:
        assert answer.status_code == 200, answer.text
        prompts = body["prompt"] if isinstance(body.get("prompt"), list) else [None]
        assert len(answer.json()["choices"]) == len(prompts) * int(body.get("n") or 1)


def test_no_case_is_there_twice() -> None:
    """Cases are told apart by their names, and some of either kind are there."""
    assert len({case["client"] for case in CASES}) == len(CASES)
    assert {case["expect"]["status"] for case in CASES} == {200, 400}
