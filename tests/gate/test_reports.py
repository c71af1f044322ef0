"""Behaviour of the reports of `unmask.gate`, all written from one value."""

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, fromstring

import orjson
import pytest

from unmask.gate.answers import State, answers_of, state_of
from unmask.gate.decide import ScoredRun, decide
from unmask.gate.gate_file import Bound, Gate, Statistic
from unmask.gate.picture import drawn
from unmask.gate.report_html import report_html
from unmask.gate.report_json import report_record
from unmask.gate.report_junit import report_junit
from unmask.gate.report_markdown import plain, report_markdown
from unmask.gate.report_words import headline, system_text
from unmask.gate.response import SystemLabel
from unmask.gate.score import Mark, Metric, Vote
from unmask.gate.verdict import GateReport, Look, Verdict
from unmask.testing.gates import (
    make_clusters,
    make_gate,
    make_response,
    make_row,
    make_run_binding,
    make_scored,
    make_scored_run,
    make_system,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 12, 1, tzinfo=UTC)
NASTY = "<script>alert(1)</script>\x07 | **굵게** & 'x' \"y\""
P95 = make_row(name="p95", metric=Metric.SECONDS, statistic=Statistic.P95, bound=Bound.AT_MOST, threshold=2.0)
GATE = make_gate(
    make_row(name="good", threshold=0.5),
    make_row(name="bad", threshold=0.99, reason=NASTY),
    P95,
    make_row(name="open", threshold=0.9, margin=0.05),
)


def run_of() -> ScoredRun:
    """Return a run of two systems with a row of each verdict in `GATE`."""
    model: list[Sequence[float | None]] = [[1.0]] * 90 + [[0.0]] * 8 + [[None]]
    return make_scored_run(make_clusters(model) + make_clusters([[1.0]] * 99, system=SystemLabel.AGAINST), family=NASTY)


def reported(gate: Gate = GATE, *, exploratory: bool = False) -> GateReport:
    """Decide on it."""
    return decide(run_of(), gate, Look(number=0, exploratory=exploratory), NOW)


def parsed(text: str) -> Element:
    """Read XML of our own."""
    return fromstring(text)  # noqa: S314 - written by the code under test


def test_there_is_a_row_of_each_verdict() -> None:
    """Or the other tests would show little."""
    assert {result.verdict for result in reported().rows} == set(Verdict)


def test_json_has_every_figure_and_what_it_is_bound_to() -> None:
    """As one object that any reader of JSON takes; an end beyond all values is null."""
    record = json.loads(orjson.dumps(report_record(reported())))

    assert record["verdict"] == "FAIL"
    assert [row["name"] for row in record["rows"]] == ["good", "bad", "p95", "open"]
    assert record["rows"][0]["interval"]["low"] < record["rows"][0]["interval"]["estimate"]
    assert record["rows"][0]["unscored"] == 1
    assert set(record["rows"][0]["paired"]["mcnemar"]) == {"clusters", "scenarios"}
    assert record["rows"][2]["interval"] is None
    assert {"run", "model", "suite", "worlds", "revision", "seeds", "gate", "scoring"} <= set(record["bound_to"])


def test_junit_has_a_case_a_row() -> None:
    """FAIL and INCONCLUSIVE are failures of different types, and texts are what they were."""
    suite = parsed(report_junit(reported())).find("testsuite")
    assert suite is not None
    cases = {case.get("name"): case for case in suite.findall("testcase")}
    types = {name: case.find("failure").get("type") for name, case in cases.items() if case.find("failure") is not None}  # type: ignore[union-attr]

    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", str(len(types)), "0")
    assert (types["bad"], types["p95"]) == ("failure", "inconclusive")
    assert "good" not in types
    assert "1 unscored" in (cases["good"].findtext("system-out") or "")
    assert "<script>alert(1)</script>\N{REPLACEMENT CHARACTER}" in (cases["bad"].findtext("system-out") or "")


def test_junit_may_skip_what_is_inconclusive() -> None:
    """And skips all that decides nothing."""
    skipped = parsed(report_junit(reported(), skip_inconclusive=True)).find("testsuite")
    exploratory = parsed(report_junit(reported(exploratory=True))).find("testsuite")
    assert skipped is not None
    assert exploratory is not None

    assert int(skipped.get("skipped", "")) >= 1
    assert skipped.find("testcase[@name='p95']/skipped") is not None
    assert skipped.find("testcase[@name='bad']/failure") is not None
    assert (exploratory.get("failures"), exploratory.get("skipped")) == ("0", "4")


def test_markdown_shows_texts_as_they_are() -> None:
    """A table keeps its columns, and nothing in a reason or name is markup."""
    text = report_markdown(reported())
    rows = [line for line in text.splitlines() if re.match(r"\| (good|bad|p95|open) \|", line)]

    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows if "**" in line}) == 1
    assert "<script" not in text
    assert "**FAIL**" in text
    assert "굵게" in text
    assert plain("a|b_c\n<d>") == r"a\|b\_c &lt;d&gt;"


class _Tags(HTMLParser):
    """Collects what a browser would take for tags."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page() -> _Tags:
    """Parse the page of a run whose every text is nasty."""
    vote = Vote(judge=NASTY, value=0.0, reason=NASTY, raw=NASTY)
    mark = Mark(metric=Metric.FACTUAL_PRECISION, value=0.0, why=(NASTY,), votes=(vote,), borderline=True)
    scored = make_scored(NASTY, 0.0, cluster=NASTY, marks=(mark,))
    answers = answers_of(
        GATE,
        [make_response(NASTY, NASTY, question=NASTY), make_response("down", "", turns=(), fault=NASTY, attempts=3)],
        [scored],
    )
    tags = _Tags()
    tags.feed(report_html(reported(), answers))
    return tags


def test_html_never_takes_text_for_markup() -> None:
    """The only script is the page's own, and every nasty text is there to be read."""
    tags = page()

    assert [tag for tag, _ in tags.tags].count("script") == 1
    assert sum("<script>alert(1)</script>" in text for text in tags.texts) >= 8


def test_html_needs_nothing_from_elsewhere() -> None:
    """No address to load from, and a policy that forbids it; fit for a phone and the dark."""
    tags = page()
    loads = [attrs for _, attrs in tags.tags if {"src", "href", "action", "data"} & set(attrs)]
    policies = [attrs["content"] for _, attrs in tags.tags if attrs.get("http-equiv") == "Content-Security-Policy"]

    assert loads == []
    assert "default-src 'none'" in str(policies[0])
    assert any(attrs.get("name") == "viewport" for _, attrs in tags.tags)
    assert any("prefers-color-scheme: dark" in text for text in tags.texts)


def test_html_shows_verdict_rows_and_answers_in_this_order() -> None:
    """Each answer with prompt, facts, marks and votes, and what it may be filtered by."""
    text = report_html(reported(), answers_of(GATE, [make_response("s0000", "Ania does.")], run_of().scored))

    order = ['class="verdict FAIL"', "<svg", "<h2>Answers", "who keeps the harbour?", "Ania does.", "ania.role"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert text.count("<svg") == 3
    assert 'data-state="good" data-kind="fact" data-system="model"' in text


def test_pictures_show_interval_estimate_and_threshold() -> None:
    """In their order, within the width."""
    good, bad, none, _ = (drawn(result, 30) for result in reported().rows)

    assert re.fullmatch(r" *\| *\[-*o-*\] *", good)
    assert re.fullmatch(r" *\[-*o-*\] *\| *", bad)
    assert none.strip() == ""
    assert {len(good), len(bad), len(none)} == {30}


def test_a_headline_tells_looks_apart() -> None:
    """With as many digits as that takes, and one row is one row."""
    run = make_scored_run(make_clusters([[1.0]] * 100))
    words = [headline(decide(run, make_gate(), Look(number=look), NOW)) for look in (0, 1, 10)]

    assert words[0] == "PASS: 1 of 1 row PASS; look 0, intervals of 95 %"
    assert words[1].endswith("look 1, intervals of 97.5 %")
    assert words[2].endswith("look 10, intervals of 99.9951 %")
    assert "2 of 4 rows INCONCLUSIVE" in headline(reported())


def test_a_server_is_not_said_to_decode_in_a_way_that_nobody_asked_for() -> None:
    """An embedded model's mode is shown, and a server's address."""
    assert system_text(make_system(policy=None)) == "tiny (diffusion), weights 0123456789abcdef"
    assert system_text(make_system(policy=None, url="http://x/v1")) == "tiny at http://x/v1, weights 0123456789abcdef"


def test_an_open_end_is_drawn_open() -> None:
    """Of a percentile that no value is above for sure."""
    run = make_scored_run(make_clusters([[0.5]] * 40, metric=Metric.SECONDS))
    report = decide(run, make_gate(P95), Look(number=0), NOW)

    assert drawn(report.rows[0]).rstrip().endswith(">")
    assert "beyond" in report_markdown(report)
    assert "Infinity" not in orjson.dumps(report_record(report)).decode()


@pytest.mark.parametrize(
    ("value", "borderline", "fault", "state"),
    [
        (0.0, False, "503", State.FAULT),
        (0.0, True, None, State.FAILED),
        (1.0, True, None, State.BORDERLINE),
        (None, False, None, State.UNSCORED),
        (1.0, False, None, State.GOOD),
    ],
)
def test_answers_are_sorted_for_a_reader(
    value: float | None, borderline: bool, fault: str | None, state: State
) -> None:
    """By what a person would look for first."""
    mark = Mark(metric=Metric.FACTUAL_PRECISION, value=value, borderline=borderline)
    response = make_response("a", "b", fault=fault)

    assert state_of(GATE, response, make_scored("a", value, marks=(mark,))) is state
    assert state_of(GATE, make_response("a", "b"), None) is State.UNSCORED


def test_binding_is_told_whole() -> None:
    """Model, policy, suite, worlds, revision and seeds are in every report."""
    report = decide(make_scored_run(make_clusters([[1.0]] * 80)), make_gate(), Look(number=0), NOW)
    binding = make_run_binding()
    told = (binding.systems[0].digest, "a" * 64, binding.suite, "301d", binding.revision, report.gate.digest)

    for text in (report_markdown(report), report_junit(report), report_html(report, ()), str(report_record(report))):
        assert all(each in text for each in told)
