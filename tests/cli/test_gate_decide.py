"""``unmask gate decide``, ``plan``, ``compare`` and ``run``, and promotions that need a gate."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from rich.console import Console

from tests.cli.terminal import Ended, type_in
from unmask.cli.gate_tables import rows_table
from unmask.gate.artefacts import RunFolder
from unmask.gate.decide import decide
from unmask.gate.deterministic import can_have
from unmask.gate.gate_file import gate_of
from unmask.gate.looks import LookLog
from unmask.gate.response import ResponseKey, SystemLabel
from unmask.gate.scenario import Scenario
from unmask.gate.score import Mark, Metric, Scored
from unmask.gate.scored_run import write_scorer
from unmask.gate.suite_named import suite_named
from unmask.gate.verdict import Look, Verdict
from unmask.policy.digest import policy_digest
from unmask.policy.file import policy_text
from unmask.policy.log import Signature
from unmask.policy.store import PolicyStore
from unmask.testing.budget_policies import make_policy
from unmask.testing.gates import (
    make_response,
    make_row,
    make_run_binding,
    make_scored,
    make_scored_run,
    make_system,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)
GATE = """\
rows:
  - name: facts
    metric: factual_precision
    statistic: rate
    at_least: {threshold}
    reason: wrong facts cost the trust of players
"""
Judge = Callable[[int, Scenario], float | None]


class Desk:
    """A folder of runs of the example suite, gates and looks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.suite = suite_named("example")

    def gate(self, threshold: float = 0.5, name: str = "gate.yaml") -> str:
        """Write a gate file."""
        path = self.folder / name
        path.write_text(GATE.format(threshold=threshold), encoding="utf-8")
        return str(path)

    def run(self, name: str = "run", judge: Judge = lambda *_: 1.0, **changes: object) -> str:
        """Write a scored run; ``judge`` gives each scenario a mark, and ``None`` leaves it unscored."""
        asked = changes.pop("asked", len(self.suite.scenarios))
        scorer = changes.pop("scorer", "5" * 64)
        assert isinstance(asked, int)
        folder = RunFolder(str(self.folder / name))
        bound = {"run": name, "suite": self.suite.digest, "family": self.suite.family}
        folder.begin(make_run_binding(**(bound | changes)))
        scenarios = self.suite.scenarios[:asked]
        keys = [ResponseKey(scenario=each.id, seed=0, system=SystemLabel.MODEL) for each in scenarios]
        folder.append_responses([make_response("", "Ania <b>does</b>.", key=key) for key in keys])
        marks = [Mark(metric=Metric.FACTUAL_PRECISION, value=judge(n, each)) for n, each in enumerate(scenarios)]
        folder.write_scores(
            Scored(key=key, kind=each.kind, cluster=each.cluster, marks=(mark,))
            for key, each, mark in zip(keys, scenarios, marks, strict=True)
        )
        write_scorer(folder, str(scorer))
        return folder.url

    def decide(self, run: str, *more: str, gate: str | None = None) -> Ended:
        """Run the command."""
        looks = ("--looks", str(self.folder / "looks"))
        return type_in("gate", "decide", run, "--gate", gate or self.gate(), *looks, *more, now=lambda: NOW)


@pytest.fixture(name="desk")
def _desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("judge", "threshold", "code", "verdict"),
    [
        (lambda n, each: 1.0, 0.5, 0, "PASS"),
        (lambda n, each: 0.0, 0.5, 1, "FAIL"),
        (lambda n, each: 1.0, 0.95, 2, "INCONCLUSIVE"),
        (lambda n, each: None if n % 4 == 0 else 1.0, 0.5, 2, "INCONCLUSIVE"),
    ],
)
def test_the_exit_code_is_the_verdict(desk: Desk, judge: Judge, threshold: float, code: int, verdict: str) -> None:
    """0, 1 or 2, and the same in JSON; what the folder keeps is what was said."""
    run = desk.run(judge=judge)
    ended = desk.decide(run, "--json", gate=desk.gate(threshold))

    assert ended.code == code
    assert json.loads(ended.out)["verdict"] == verdict
    assert RunFolder(run).read_text("decision.json") == ended.out


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("decide", "{run}", "--gate", "/nowhere.yaml"), "cannot be read"),
        (("decide", "{folder}/none", "--gate", "{gate}"), "holds no gate run"),
        (("decide", "{run}"), ""),
        (("decide", "{run}", "--gate", "{gate}", "--suite", "example-ko"), "is of suite"),
        (("plan", "example", "--rates", "facts=much"), "much"),
        (("plan", "example", "--rates", "/nowhere.yaml"), "nowhere.yaml"),
        (("plan", "example", "--look", "-1"), ""),
    ],
)
def test_what_could_not_be_decided_exits_with_3(desk: Desk, argv: tuple[str, ...], says: str) -> None:
    """Wrong usage too: a pipeline must not take it for INCONCLUSIVE."""
    names = {"run": desk.run(), "folder": str(desk.folder), "gate": desk.gate()}
    ended = type_in("gate", *(each.format(**names) for each in argv))

    assert ended.code == 3
    assert says in ended.err


def test_a_run_without_any_answer_exits_with_3(desk: Desk) -> None:
    """Its faults are the infrastructure's; no look is taken."""
    ended = desk.decide(desk.run(judge=lambda *_: None))

    assert ended.code == 3
    assert "fault of the infrastructure" in ended.err
    assert LookLog(desk.folder / "looks").read().entries == ()


def test_scenarios_that_were_never_asked_are_unscored(desk: Desk) -> None:
    """Or whoever stops a run while it looks good would choose its scenarios."""
    ended = desk.decide(desk.run(asked=40), "--json")

    assert ended.code == 2
    assert json.loads(ended.out)["rows"][0]["unscored"] == 24


def test_what_was_never_asked_counts_in_the_metrics_that_it_would_have(tmp_path: Path) -> None:
    """By its checks and not by its kind: 12 of the example's scenarios ask for names, whatever was asked so far."""
    desk, coverage = Desk(tmp_path), tmp_path / "coverage.yaml"
    coverage.write_text(GATE.format(threshold=0.5).replace("factual_precision", "entity_coverage"), encoding="utf-8")
    row = json.loads(desk.decide(desk.run(asked=6), "--json", gate=str(coverage)).out)["rows"][0]

    asking = [one for one in desk.suite.scenarios if can_have(Metric.ENTITY_COVERAGE, one)]
    assert row["answers"] == row["unscored"] == len(asking) == 12


def test_a_row_of_naturalness_without_a_judge_says_what_it_lacks(desk: Desk) -> None:
    """It is INCONCLUSIVE, as nothing but a judge marks it."""
    gate = desk.folder / "natural.yaml"
    gate.write_text(GATE.format(threshold=0.5).replace("factual_precision", "naturalness"), encoding="utf-8")
    ended = desk.decide(desk.run(), "--json", gate=str(gate))

    assert ended.code == 2
    assert json.loads(ended.out)["rows"][0]["why"] == "code has no mark for naturalness: score with --judge"


def test_the_table_is_whole_in_80_columns() -> None:
    """Nothing is cut off at the edge of a narrow terminal."""
    run = make_scored_run([make_scored(f"s{n}", 1.0) for n in range(40)])
    row = make_row(name="factual_precision", threshold=0.95)
    out = Console(file=StringIO(), width=80)
    out.print(rows_table(decide(run, gate_of((row,)), Look(number=0), NOW)))
    assert isinstance(out.file, StringIO)

    lines = out.file.getvalue().splitlines()
    assert {line[-1] for line in lines} <= set("┓┃┩│┘")
    assert "the threshold is inside the interval" in " ".join(
        line.split("│")[-2].strip() for line in lines if line.startswith("│")
    )


def test_the_table_shows_verdicts_pictures_and_warnings(desk: Desk) -> None:
    """Rows on stdout, warnings beside them."""
    ended = desk.decide(desk.run(), gate=desk.gate(0.95))

    assert "INCONCLUSIVE: 1 of 1 row INCONCLUSIVE; look 0, intervals of 95 %" in ended.out
    assert "facts" in ended.out
    assert "o" in ended.out
    assert "can never pass with 23 clusters" in ended.err


def test_reports_are_written_where_they_are_asked_for(desk: Desk) -> None:
    """All from one decision; answers are in the page, as text."""
    files = [desk.folder / "out" / name for name in ("a.html", "a.xml", "a.md")]
    ended = desk.decide(
        desk.run(judge=lambda *_: 0.0), "--html", str(files[0]), "--junit", str(files[1]), "--markdown", str(files[2])
    )
    page, junit, markdown = (file.read_text(encoding="utf-8") for file in files)

    assert ended.code == 1
    assert page.count("Ania &lt;b&gt;does&lt;/b&gt;.") == len(desk.suite.scenarios)
    assert fromstring(junit).find("testsuite/testcase/failure") is not None  # noqa: S314 - written by us
    assert markdown.startswith("## Gate: FAIL")


def test_a_changed_gate_needs_fresh_scenarios(desk: Desk) -> None:
    """It is refused with 3; exploratory verdicts are shown, exit with 2 and are not kept."""
    run = desk.run(judge=lambda n, _: float(n % 3 > 0))
    first = desk.decide(run, gate=desk.gate(0.9))
    refused = desk.decide(run, gate=desk.gate(0.2, "easy.yaml"))
    looked = desk.decide(run, "--exploratory", gate=desk.gate(0.2, "easy.yaml"))

    assert (first.code, refused.code, looked.code) == (1, 3, 2)
    assert "fresh scenarios" in refused.err
    assert "decide nothing" in looked.out
    assert json.loads(RunFolder(run).read_text("decision.json") or "")["verdict"] == "FAIL"


def test_running_again_is_a_later_look(desk: Desk) -> None:
    """At the third, what passed at the first is no longer enough."""
    gate = desk.gate(0.84)
    codes = [desk.decide(desk.run(f"run-{n}"), gate=gate).code for n in range(3)]
    again = desk.decide(str(desk.folder / "run-0"), "--json", gate=gate)

    assert codes == [0, 2, 2]
    assert json.loads(again.out)["look"] == 0


def test_plan_says_that_64_clusters_never_pass(desk: Desk) -> None:
    """And how many would, at the rate that is expected."""
    argv = ("gate", "plan", "example", "--rates", "factual_precision=0.984", "--clusters", "64", "--json")
    rows = {row["name"]: row for row in json.loads(type_in(*argv).out)["rows"]}
    table = type_in("gate", "plan", "example", "--clusters", "64")

    assert rows["factual_precision"]["needed"] == 257
    assert rows["factual_precision"]["can_pass"] is False
    assert rows["factual_precision"]["chance"] == 0.0
    assert "can never pass" in table.out
    assert table.code == 0


def test_plan_counts_a_suite_and_reads_rates_from_a_file(desk: Desk) -> None:
    """Rows may be about some of its scenarios only."""
    rates = desk.folder / "rates.yaml"
    rates.write_text("multi_turn: 0.97\n", encoding="utf-8")
    ended = type_in("gate", "plan", "example", "--suite", "example", "--rates", str(rates), "--json")
    rows = {row["name"]: row for row in json.loads(ended.out)["rows"]}

    assert rows["factual_precision"]["units"] == 23
    assert rows["latency_p95"]["units"] == 64
    assert rows["multi_turn"]["expected"] == 0.97


def test_compare_splits_measurement_from_quality(desk: Desk) -> None:
    """Old answers under both scorings, new ones under the new."""
    old = desk.run("old", lambda n, _: float(n % 2))
    rescored = desk.run("copy", lambda *_: 1.0, run="old", scorer="6" * 64)
    new = desk.run("new", lambda *_: 1.0, scorer="6" * 64)
    ended = type_in("gate", "compare", old, new, "--rescored", rescored, "--gate", desk.gate(), "--json")
    table = type_in("gate", "compare", old, new, "--rescored", rescored, "--gate", desk.gate())
    refused = type_in("gate", "compare", old, new, "--gate", desk.gate())
    (row,) = json.loads(ended.out)["rows"]

    assert row["measurement"]["low"] > 0
    assert row["quality"]["estimate"] == 0
    assert "facts" in table.out
    assert (ended.code, refused.code) == (0, 3)


def test_run_asks_scores_and_decides(desk: Desk) -> None:
    """In one go, into one folder; a fake model's answers do not pass."""
    out = str(desk.folder / "all")
    argv = ("--seeds", "1", "--out", out, "--looks", str(desk.folder / "looks"), "--retrieval", "naive")
    ended = type_in("gate", "run", "example", "--model", "tiny", "--gate", desk.gate(0.95), *argv, "--json")

    assert ended.code in {1, 2}, ended.err
    assert json.loads(ended.out)["rows"][0]["answers"] > 0
    assert "facts can never pass with this suite" in ended.err
    assert len(LookLog(desk.folder / "looks").read().entries) == 1


def test_run_reads_the_gate_before_it_asks(desk: Desk) -> None:
    """A mistake in it would else be told an hour later."""
    ended = type_in("gate", "run", "example", "--model", "tiny", "--gate", "/nowhere.yaml", "--out", str(desk.folder))

    assert ended.code == 3
    assert RunFolder(str(desk.folder)).binding() is None


def test_run_refuses_before_it_asks(desk: Desk) -> None:
    """A changed gate, and a judge without its key, would else be told when all is answered."""
    out = desk.folder / "later"
    argv = ("--seeds", "1", "--retrieval", "naive", "--looks", str(desk.folder / "looks"), "--limit", "2", "--out")
    first = type_in(
        "gate", "run", "example", "--model", "tiny", "--gate", desk.gate(0.95), *argv, str(desk.folder / "a")
    )
    changed = type_in("gate", "run", "example", "--model", "tiny", "--gate", desk.gate(0.5), *argv, str(out))
    judge = desk.folder / "judge.yaml"
    judge.write_text(
        'judges: [{name: a, api: openai, model: m, url: "http://127.0.0.1:9", key_env: NO_SUCH_KEY}]', encoding="utf-8"
    )
    keyless = type_in(
        "gate", "run", "example", "--model", "tiny", "--gate", desk.gate(0.95), *argv, str(out), "--judge", str(judge)
    )

    assert (first.code, changed.code, keyless.code) == (2, 3, 3)
    assert "first seen under another gate" in changed.err
    assert "NO_SUCH_KEY" in keyless.err
    assert not out.exists()


@pytest.fixture(name="approved")
def _approved(tmp_path: Path) -> str:
    """A policy that is approved, in the folder ``policies``; its digest."""
    store, signature = PolicyStore(tmp_path / "policies"), Signature(actor="ada", time=NOW)
    digest = store.propose(make_policy(), signature)
    store.submit(digest, signature)
    store.approve(digest, Signature(actor="bo", time=NOW))
    return digest


def promote(desk: Desk, digest: str, *more: str) -> Ended:
    """Run the command."""
    where = ("--policy-dir", str(desk.folder / "policies"), "--looks", str(desk.folder / "looks"), "--as", "ada")
    return type_in("policy", "promote", digest, *where, *more)


def test_a_policy_is_promoted_with_a_gate_run_that_passed_under_it(desk: Desk, approved: str) -> None:
    """Not with one that passed under another, nor with one that did not pass, nor with one not on record."""
    others = desk.run("others")
    failed = desk.run("failed", lambda *_: 0.0, systems=(make_system(policy=approved),))
    passed = desk.run("passed", systems=(make_system(policy=approved, settings=("temperature=1",)),))
    assert [desk.decide(run).code for run in (others, failed)] == [0, 1]

    for run in (others, failed, passed, str(desk.folder / "none")):
        refused = promote(desk, approved, "--gate", run)
        assert (refused.code, "gate" in refused.err) == (2, True)
    assert desk.decide(passed).code == 0
    assert promote(desk, approved, "--gate", passed).code == 0


def test_the_setting_makes_a_gate_run_needed(desk: Desk, approved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it a promotion takes an approval and nothing else."""
    monkeypatch.setenv("UNMASK_PROMOTION_GATE", desk.gate())
    refused = promote(desk, approved)
    monkeypatch.delenv("UNMASK_PROMOTION_GATE")

    assert refused.code == 2
    assert "--gate RUN" in refused.err
    assert promote(desk, approved).code == 0


def test_only_the_gate_of_the_setting_counts(desk: Desk, approved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PASS of a gate that asks for less promotes nothing; that of the right one is noted in the log of policies."""
    run = desk.run("passed", systems=(make_system(policy=approved),))
    assert desk.decide(run, gate=desk.gate(0.5, "우리.yaml")).code == 0
    monkeypatch.setenv("UNMASK_PROMOTION_GATE", desk.gate(0.6, "strict.yaml"))
    refused = promote(desk, approved, "--gate", run)
    monkeypatch.setenv("UNMASK_PROMOTION_GATE", desk.gate(0.5, "우리.yaml"))
    promoted = promote(desk, approved, "--gate", run)

    assert (refused.code, promoted.code) == (2, 0)
    assert "strict.yaml. Run that gate" in refused.err
    assert "run passed passed gate" in PolicyStore(desk.folder / "policies").log().entries[-1].signature.note


def test_a_run_under_a_policy_is_bound_to_its_digest(desk: Desk) -> None:
    """A file's or one of the folder; a policy for other weights is refused before anything is asked."""
    policy = make_policy(model="tiny", model_digest="0123456789abcdef")
    path = desk.folder / "policy.yaml"
    path.write_text(policy_text(policy), encoding="utf-8")
    other = desk.folder / "other.yaml"
    other.write_text(policy_text(make_policy(model="tiny", model_digest="f" * 16)), encoding="utf-8")
    argv = ("gate", "generate", "example", "--model", "tiny", "--seeds", "1", "--limit", "2", "--retrieval", "naive")

    ended = type_in(*argv, "--out", str(desk.folder / "a"), "--policy", str(path))
    refused = type_in(*argv, "--out", str(desk.folder / "b"), "--policy", str(other))
    binding = RunFolder(str(desk.folder / "a")).binding()

    assert ended.code == 0, ended.err
    assert binding is not None
    assert binding.systems[0].policy == policy_digest(policy)
    assert refused.code == 3
    assert "is for tiny with weights ffff" in refused.err


def test_verdicts_are_words_that_pipelines_know() -> None:
    """They are read by machines."""
    assert [verdict.value for verdict in Verdict] == ["PASS", "FAIL", "INCONCLUSIVE"]
