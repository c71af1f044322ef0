"""Behaviour of `unmask.app.banner`."""

import io
import json
import shlex
from dataclasses import replace

import pytest
from rich.console import Console

from unmask.app.banner import EXAMPLE_PROMPT, curl_line, print_banner
from unmask.control.sources import NoPolicies, PolicySource
from unmask.tasks.domain import recognise
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.policies import DIGEST, FakePolicies, make_active
from unmask.types import ApproximateCache, ApproximateKv, Message, Precision, Role


def banner(width: int = 60, policies: PolicySource | None = None, *, has_keys: bool = False) -> str:
    """Return what is printed on a terminal of some width."""
    console = Console(file=io.StringIO(), width=width)
    kept = ApproximateKv(cache=ApproximateCache.DUAL)
    nano = make_model("nano", parameters=180_000, precision=Precision.BFLOAT16, approximate=kept)
    models = (make_model("tiny"), nano)
    print_banner(console, "http://127.0.0.1:8000", models, policies or NoPolicies(), has_keys=has_keys)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_banner_says_where_what_and_how() -> None:
    """Address, models and the lack of a policy are told."""
    text = banner(200)

    assert "http://127.0.0.1:8000\n" in text
    assert "tiny: 2.00 M parameters in float32, context" in text
    assert "nano: 180 k parameters in bfloat16, context" in text
    assert text.count("approximate cache dual") == 1
    assert text.count("no approved policy: fixed budgets") == 2


def test_banner_names_the_policy() -> None:
    """Of each model by itself: what one has the other may lack."""
    text = banner(200, FakePolicies(make_active()))

    assert f"  tiny: approved policy {DIGEST[:12]}, service classes interactive, batch\n" in text
    assert "  nano: no approved policy: fixed budgets" in text
    assert "tiny: no approved policy" not in text


@pytest.mark.parametrize("width", [20, 60, 300])
def test_curl_line_can_be_pasted_from_any_terminal(width: int) -> None:
    """However narrow the terminal, the line is one line."""
    assert f"\n{curl_line('http://127.0.0.1:8000', 'tiny')}\n" in banner(width)


def test_curl_line_asks_what_the_model_knows() -> None:
    """The line is a valid command whose prompt is inside the demonstration model's domain."""
    words = shlex.split(curl_line("http://[::1]:8000", "tiny"))
    body = json.loads(words[words.index("-d") + 1])

    assert words[2] == "http://[::1]:8000/v1/chat/completions"
    assert body == {"model": "tiny", "messages": [{"role": "user", "content": EXAMPLE_PROMPT}]}
    assert recognise((Message(role=Role.USER, content=EXAMPLE_PROMPT),)) == "arithmetic"


def test_banner_says_that_keys_are_needed() -> None:
    """The line to try has a place for one; without keys nothing is said of them."""
    text = banner(200, has_keys=True)

    assert "  every request needs a key: unmask keys create\n" in text
    assert '-H "authorization: Bearer $KEY" -H' in text
    assert "key" not in banner(200)
    assert "$KEY" in curl_line("http://[::1]:8000", "tiny", has_keys=True)


def test_banner_says_what_pages_take() -> None:
    """Of models that run here; others do not tell."""
    console = Console(file=io.StringIO(), width=200)
    (load,) = FakeBackend(models=(make_model("tiny"),)).load()
    loads = (replace(load, kv_pages=1_024, page_tokens=32, page_bytes=245_760), replace(load, model="nano"))
    models = (make_model("tiny"), make_model("nano"))
    print_banner(console, "http://127.0.0.1:8000", models, NoPolicies(), loads=loads)
    assert isinstance(console.file, io.StringIO)

    assert console.file.getvalue().count("KV pages for 32768 tokens (240 MiB)\n") == 1
    assert console.file.getvalue().count("KV pages") == 1
