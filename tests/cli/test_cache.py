"""Behaviour of ``unmask cache``."""

import json
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.cli.terminal import type_in
from unmask.cache.cache import Match
from unmask.control.cache_audits import AuditBook, AuditResult, CacheAudit

AUDIT = CacheAudit(
    time=1.0,
    request_id="r",
    entry="entry-1",
    model="tiny",
    tenant="acme",
    match=Match.SEMANTIC,
    similarity=0.9,
    age_s=3.0,
    result=AuditResult.SAME,
    asked="고향이 뭐야?",
    kept_question="고향을 알려줘.",
    answer="Velka",
    kept_answer="Velka",
)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    book = AuditBook(tmp_path)
    for result in (AuditResult.SAME,) * 8 + (AuditResult.ACCEPTED, AuditResult.FALSE):
        book.keep(replace(AUDIT, result=result, kept_answer="Velka" if result is AuditResult.SAME else "Dorasen"))
    book.close()
    return tmp_path


def test_report_says_how_many_hits_were_false(folder: Path) -> None:
    """With an interval; of a kind that nobody compared nothing is known."""
    ended = type_in("cache", "report", "--folder", str(folder), "--json")
    exact, semantic = json.loads(ended.out)["hits"]

    assert ended.code == 0
    assert (semantic["compared"], semantic["accepted"], semantic["false"]) == (10, 1, 1)
    assert semantic["rate"]["estimate"] == pytest.approx(0.1)
    assert semantic["rate"]["low"] < 0.1 < semantic["rate"]["high"]
    assert "not_enough_data" in exact["rate"]


def test_report_lists_false_ones_where_asked_to(folder: Path) -> None:
    """With both questions and both texts."""
    table = type_in("cache", "report", "--folder", str(folder))
    listed = type_in("cache", "report", "--folder", str(folder), "--false")

    assert "10.00" in table.out
    assert "Dorasen" not in table.out
    assert all(text in listed.out for text in ("entry-1", "고향이 뭐야?", "고향을 알려줘.", "Dorasen"))


def test_report_of_nothing_says_what_would_make_one(tmp_path: Path) -> None:
    """And lines that mean nothing are counted, not hidden."""
    assert "cache_audit_share" in type_in("cache", "report", "--folder", str(tmp_path)).err
    (tmp_path / "audits.jsonl").write_text("torn\n", encoding="utf-8")
    ended = type_in("cache", "report", "--folder", str(tmp_path), "--json")

    assert json.loads(ended.out)["unreadable"] == 1


def test_forget_asks_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the key of a file; what the server refuses is told."""
    seen: list[tuple[str, dict[str, str]]] = []
    key = tmp_path / "key"
    key.write_text("secret\n", encoding="utf-8")

    def delete(url: str, *, headers: dict[str, str], timeout: float) -> httpx.Response:
        seen.append((url, headers))
        if url.endswith("gone"):
            return httpx.Response(404, json={"error": {"message": "it is gone"}})
        return httpx.Response(200, json={"object": "cache.forgotten", "entries": 3})

    monkeypatch.setattr(httpx, "delete", delete)
    one = type_in("cache", "forget", "a/b", "--key-file", str(key), "--url", "http://host:1/")
    everything = type_in("cache", "forget", "--all")
    gone = type_in("cache", "forget", "gone")

    assert [ended.code for ended in (one, everything)] == [0, 0]
    assert "3" in one.err
    assert seen[0] == ("http://host:1/v1/cache/a%2Fb", {"authorization": "Bearer secret"})
    assert seen[1] == ("http://127.0.0.1:8000/v1/cache", {})
    assert gone.code != 0
    assert "it is gone" in gone.err


def test_forget_of_a_server_that_is_down_says_so() -> None:
    """Without a traceback."""
    ended = type_in("cache", "forget", "--all", "--url", "http://127.0.0.1:9")

    assert ended.code != 0
    assert "is it up?" in ended.err


def test_calibrate_finds_a_threshold_for_each_embedder() -> None:
    """And says what it is worth on pairs of another split."""
    ended = type_in("cache", "calibrate", "--pairs", "8", "--json")
    found = json.loads(ended.out)

    assert ended.code == 0
    assert all(0 < least < 1 for least in found["thresholds"].values())
    assert all(one["guarded"]["false"]["estimate"] == 0 for one in found["figures"])
