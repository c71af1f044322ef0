"""``--embeddings`` of commands that compare texts."""

from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.knowledge.test_endpoint_embedder import serving


def ask(*more: str) -> Ended:
    """Ask what no slot or name is recognised in, so that vectors have to tell."""
    return type_in("world", "ask", "tell me something nice", *more)


def test_a_server_of_ones_own_is_asked_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the question and for the world's statements."""
    monkeypatch.setenv("VECTORS_KEY", "secret")
    with serving() as (url, seen):
        ended = ask("--embeddings", f"small@{url}", "--embeddings-key-env", "VECTORS_KEY")

    assert ended.code == 0
    assert {(path, authorization, body["model"]) for path, authorization, body in seen} == {
        ("/v1/embeddings", "Bearer secret", "small")
    }
    assert ["tell me something nice"] in [body["input"] for _, _, body in seen]


def test_a_server_that_is_not_there_is_named() -> None:
    """It is no question of the world's."""
    ended = ask("--embeddings", "small@http://127.0.0.1:9/v1")

    assert ended.code == 3
    assert "http://127.0.0.1:9/v1/embeddings did not answer" in ended.err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("--embeddings", "http://host/v1"), "allowed: MODEL@URL"),
        (("--embeddings", "small@host"), "allowed: MODEL@URL"),
        (("--embeddings", "small@http://host", "--embeddings-key-env", "NO_SUCH_KEY"), "NO_SUCH_KEY"),
        (("--embeddings-key-env", "NO_SUCH_KEY"), "goes with --embeddings"),
    ],
)
def test_mistakes_are_usage_errors(argv: tuple[str, ...], says: str) -> None:
    """Each says what is allowed."""
    ended = ask(*argv)

    assert ended.code == 2
    assert says in ended.err


def test_a_gate_binds_its_run_to_the_server(tmp_path: Path) -> None:
    """Runs whose texts were compared otherwise are told apart; naive triples compare none."""
    asked = ("gate", "generate", "example", "--model", "tiny", "--seeds", "1", "--limit", "1", "--out")
    url = "http://127.0.0.1:9/v1"
    named = type_in(*asked, str(tmp_path / "run"), "--embeddings", f"small@{url}")
    naive = type_in(*asked, str(tmp_path / "naive"), "--embeddings", f"small@{url}", "--retrieval", "naive")

    assert named.code == 0
    assert f"vectors={url}/embeddings#small" in (tmp_path / "run" / "run.json").read_text(encoding="utf-8")
    assert (naive.code, "drawn by chance" in naive.err) == (3, True)
