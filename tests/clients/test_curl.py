"""curl, as people use it: printed commands, streams, HEAD, offers of HTTP/2, and uploads without a length."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.api.sse_events import parse_stream
from tests.app.site import BODY, CHAT, Site
from tests.clients.process import MODEL, Served
from tests.clients.server import eventually, serving, tell
from unmask.errors import QueueFullError
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.scripted_backend import ScriptedBackend
from unmask.testing.speech import speak

LONGEST_S = 10
JSON = ("-H", "content-type: application/json")
TEXT = "안녕하세요 🙂"
ASKED = json.dumps(BODY)
STREAMED = json.dumps(BODY | {"stream": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What curl has written and how it has ended."""

    code: int
    body: bytes
    status: int
    version: str
    headers: dict[str, list[str]]


def curl(*args: str, given: bytes | None = None) -> Fetched:
    """Run curl without the settings of whoever runs the tests."""
    # What comes behind the body goes to the other stream, whatever the body holds.
    note = "%{stderr}%{http_code} %{http_version} %{header_json}"
    ended = subprocess.run(
        ["curl", "-q", "-s", "--max-time", str(LONGEST_S), "-w", note, *args],
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        check=False,
    )
    status, version, headers = ended.stderr.decode().split(" ", 2)
    return Fetched(
        code=ended.returncode, body=ended.stdout, status=int(status), version=version, headers=json.loads(headers)
    )


@pytest.fixture(name="site", scope="module")
def _site() -> Iterator[Site]:
    with serving(FakeBackend(TEXT)) as site:
        yield site


def content_of(fetched: Fetched) -> str:
    """Return the text of an answer."""
    return str(json.loads(fetched.body)["choices"][0]["message"]["content"])


def text_of(fetched: Fetched, body: str) -> str:
    """Return the text of an answer, whole or streamed as the body asked."""
    return content_of(fetched) if body == ASKED else parse_stream(fetched.body).text()


def test_printed_command_works_in_a_shell(process: Served) -> None:
    """Pasted as it is, the line that `unmask serve` prints gets an answer."""
    ended = subprocess.run(["sh", "-c", process.command], capture_output=True, check=True, timeout=60)

    answer = json.loads(ended.stdout)
    assert (answer["object"], answer["model"]) == ("chat.completion", MODEL)
    assert answer["usage"]["diffusion"]["steps_used"] > 0
    assert ended.stderr == b""


def test_stream_of_the_process(process: Served) -> None:
    """Events of the model in the package come as curl reads them."""
    body = json.dumps(BODY | {"model": MODEL, "stream": True, "stream_options": {"include_usage": True}})
    fetched = curl("-N", f"{process.url}{CHAT}", *JSON, "-d", body)
    found = parse_stream(fetched.body)

    assert (fetched.code, fetched.status) == (0, 200)
    assert found.done
    assert found.text()
    assert found.chunks[-1]["usage"]["diffusion"]["steps_used"] > 0


def test_event_is_there_before_the_next() -> None:
    """With `-N` each event is read while the stream goes on."""
    gate = asyncio.Event()
    backend = ScriptedBackend(lambda request, _: [*speak(request, TEXT)[:1], gate, *speak(request, TEXT)[1:]])
    with serving(backend) as site:
        command = ["curl", "-q", "-sN", f"{site.url}{CHAT}", *JSON, "-d", STREAMED]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            early = b"".join(process.stdout.readline() for _ in range(4))
            still_open = backend.open
            tell(site, gate.set)
            rest = process.stdout.read()

    assert still_open == 1
    assert parse_stream(early).text() == TEXT[:1]
    assert parse_stream(early + rest).text() == TEXT
    assert process.returncode == 0


@pytest.mark.parametrize("path", ["/health", "/metrics", "/v1/models", "/v1/models/tiny", "/openapi.json"])
def test_head_is_what_get_would_say(site: Site, path: str) -> None:
    """Status and headers are those of GET, no body follows, and the connection goes on."""
    get = curl(f"{site.url}{path}")
    # Were there a body, the next answer on this connection would begin in the middle of it.
    both = curl("-I", f"{site.url}{path}", "--next", "-s", "-w", " new: %{num_connects}", f"{site.url}/health")
    head, _, rest = both.body.partition(b"\r\n\r\n")

    assert (both.code, both.status, get.status) == (0, 200, 200)
    assert both.headers.keys() == get.headers.keys()
    assert both.headers["content-type"] == get.headers["content-type"]
    assert head.startswith(b"HTTP/1.1 200 ")
    body, _, opened = rest.rpartition(b" new: ")
    assert json.loads(body)["ready"] is True
    assert opened == b"0"


def test_head_of_what_only_posts(site: Site) -> None:
    """HEAD is refused where GET is, with the method that is taken and without a body."""
    head = curl("-I", f"{site.url}{CHAT}")

    assert (head.code, head.status, head.headers["allow"]) == (0, 405, ["POST"])
    assert b"error" not in head.body


@pytest.mark.parametrize("body", [ASKED, STREAMED])
def test_offer_of_http2_is_declined(site: Site, body: str) -> None:
    """A client that offers HTTP/2 with its request is answered by HTTP/1.1, its body included."""
    fetched = curl("--http2", f"{site.url}{CHAT}", *JSON, "-d", body)

    assert (fetched.code, fetched.status, fetched.version) == (0, 200, "1.1")
    assert text_of(fetched, body) == TEXT


def test_http2_from_the_start_is_refused(site: Site) -> None:
    """A client that speaks HTTP/2 without asking is turned away, and others are served."""
    assert curl("--http2-prior-knowledge", f"{site.url}/health").code != 0
    assert curl(f"{site.url}/health").status == 200


@pytest.mark.parametrize("body", [ASKED, STREAMED])
def test_http_1_0(site: Site, body: str) -> None:
    """An old client gets its answer, and a stream that ends with the connection."""
    fetched = curl("-0", f"{site.url}{CHAT}", *JSON, "-d", body)

    assert (fetched.code, fetched.status) == (0, 200)
    assert "transfer-encoding" not in fetched.headers
    assert text_of(fetched, body) == TEXT


@pytest.mark.parametrize("body", [ASKED, STREAMED])
def test_compression_may_be_asked_for(site: Site, body: str) -> None:
    """A client that would unpack an answer reads one that is not packed."""
    fetched = curl("--compressed", f"{site.url}{CHAT}", *JSON, "-d", body)

    assert (fetched.code, fetched.status) == (0, 200)
    assert "content-encoding" not in fetched.headers
    assert text_of(fetched, body) == TEXT


def upload(site: Site, body: bytes, *args: str) -> Fetched:
    """Send a body from a pipe, so that nobody knows its length."""
    return curl("-T", "-", "-X", "POST", *JSON, *args, f"{site.url}{CHAT}", given=body)


@pytest.mark.parametrize("expect", ["expect: 100-continue", "expect:"])
def test_upload_without_a_length(site: Site, expect: str) -> None:
    """A chunked body is read, whether or not the client asks first."""
    fetched = upload(site, ASKED.encode(), "-H", expect)

    assert (fetched.code, fetched.status) == (0, 200)
    assert content_of(fetched) == TEXT


@pytest.mark.parametrize("expect", ["expect: 100-continue", "expect:"])
def test_upload_that_is_too_long(site: Site, expect: str) -> None:
    """The refusal is read although the body was not sent to its end."""
    fetched = upload(site, b" " * (4 << 20), "-H", expect)

    assert (fetched.status, json.loads(fetched.body)["error"]["code"]) == (413, "body_too_large")


def test_file_that_is_too_long(site: Site, tmp_path: Path) -> None:
    """With a length, too."""
    file = tmp_path / "body"
    file.write_bytes(b" " * (4 << 20))
    fetched = curl("--data-binary", f"@{file}", *JSON, f"{site.url}{CHAT}")

    assert (fetched.status, json.loads(fetched.body)["error"]["code"]) == (413, "body_too_large")


def test_packed_body_is_refused(site: Site) -> None:
    """A body that says it is packed is not unpacked."""
    fetched = curl("-H", "content-encoding: gzip", *JSON, "-d", ASKED, f"{site.url}{CHAT}")

    assert (fetched.status, json.loads(fetched.body)["error"]["code"]) == (415, "unsupported_encoding")


def test_failure_can_be_told_by_a_script(site: Site) -> None:
    """A refusal is an exit code, and says why."""
    body = json.dumps(BODY | {"diffusion": {"max_steps": 0}})
    fetched = curl("--fail-with-body", *JSON, "-d", body, f"{site.url}{CHAT}")

    assert (fetched.code, fetched.status) == (22, 400)
    assert json.loads(fetched.body)["error"]["param"] == "diffusion.max_steps"


def test_body_needs_no_content_type(site: Site) -> None:
    """Unless told otherwise curl calls a body a form, and people forget to."""
    fetched = curl("-d", ASKED, f"{site.url}{CHAT}")

    assert (fetched.status, content_of(fetched)) == (200, TEXT)


def test_other_name_of_this_machine(site: Site) -> None:
    """Only by its own names is the server called."""
    port = site.url.rsplit(":", 1)[-1]

    assert curl(f"http://localhost:{port}/health", "--resolve", f"localhost:{port}:127.0.0.1").status == 200
    assert curl(f"http://rebound.example:{port}/health", "--resolve", f"rebound.example:{port}:127.0.0.1").status == 403


def test_curl_comes_back_when_it_is_told() -> None:
    """`--retry` reads `retry-after`, a second here, and no longer pause of its own."""
    backend = ScriptedBackend(
        lambda request, earlier: speak(request, TEXT) if earlier else [QueueFullError("full", retry_after_s=0.5)]
    )
    with serving(backend) as site:
        fetched = curl("--retry", "1", "--retry-max-time", "5", *JSON, "-d", ASKED, f"{site.url}{CHAT}")

    assert len(backend.requests) == 2
    assert (fetched.code, fetched.status) == (0, 200)


@contextmanager
def held() -> Iterator[tuple[Site, ScriptedBackend]]:
    """Run a server whose answers have no end."""
    backend = ScriptedBackend(lambda request, _: [*speak(request, TEXT)[:1], asyncio.Event()])
    with serving(backend) as site:
        yield site, backend


@pytest.mark.parametrize("body", [ASKED, STREAMED])
def test_leaving_stops_the_steps(body: str) -> None:
    """Ctrl-C, or a time limit, ends the generation."""
    with held() as (site, backend):
        fetched = curl("--max-time", "0.2", "-N", *JSON, "-d", body, f"{site.url}{CHAT}")
        eventually(lambda: backend.aborted == 1 and site.running.count == 0)

    assert fetched.code == 28
