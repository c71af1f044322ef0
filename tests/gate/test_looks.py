"""Behaviour of `unmask.gate.looks` and of the confidence of later looks."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unmask.gate.decide import ScoredRun
from unmask.gate.decide_errors import LookLogError, SeenScenariosError
from unmask.gate.gate_file import Gate
from unmask.gate.kept import chained
from unmask.gate.looks import LookLog, system_digest
from unmask.gate.rows import mean_of
from unmask.gate.verdict import Verdict, confidence_at
from unmask.testing.gates import (
    make_clusters,
    make_gate,
    make_rates,
    make_row,
    make_scored,
    make_scored_run,
    make_system,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
GATE = make_gate(make_row(threshold=0.9))


@pytest.fixture(name="log")
def _log(tmp_path: Path) -> LookLog:
    return LookLog(tmp_path / "looks")


def run_named(name: str, **changes: Any) -> ScoredRun:  # noqa: ANN401 - any field of the binding
    """Return a run that passes `GATE` at its first looks."""
    return make_scored_run(make_rates(200, 0), run=name, **changes)


def looked(log: LookLog, run: ScoredRun, gate: Gate = GATE, *, exploratory: bool = False) -> int:
    """Decide on a run, and return which look that was."""
    return log.record(run, gate, NOW, exploratory=exploratory).look.number


def test_each_run_of_a_system_is_a_look(log: LookLog) -> None:
    """On one suite family; deciding once more on the same run is none."""
    assert [looked(log, run_named(name)) for name in ("a", "b", "a", "c", "b")] == [0, 1, 0, 2, 1]
    assert [entry.run for entry in log.read().entries] == ["a", "b", "c"]


def test_a_folder_filled_anew_is_another_look(log: LookLog) -> None:
    """Though the run in it has the name of the one before."""
    looked(log, run_named("a"))

    assert looked(log, run_named("a", started="2026-12-02T00:00:00+00:00")) == 1
    assert looked(log, run_named("a")) == 0


def test_other_systems_and_families_are_counted_apart(log: LookLog) -> None:
    """A system is its weights, policy and mode, however it is named, set and wherever it runs."""
    looked(log, run_named("a"))

    assert looked(log, run_named("b", systems=(make_system(model="same", url="http://x"),))) == 1
    assert looked(log, run_named("c", systems=(make_system(digest="f" * 16),))) == 0
    assert looked(log, run_named("d", systems=(make_system(policy="b" * 64),))) == 0
    assert looked(log, run_named("e", systems=(make_system(settings=("concurrency=7",)),))) == 2
    assert looked(log, run_named("f", family="other")) == 0
    assert system_digest(make_system()) == system_digest(make_system(model="same"))


def test_later_looks_are_surer() -> None:
    """Each at half the error of the one before."""
    assert [1 - confidence_at(k) for k in range(4)] == pytest.approx([0.05, 0.025, 0.0125, 0.00625])


def test_a_later_look_asks_for_more(log: LookLog) -> None:
    """What passes at the first look may not at the fifth."""
    runs = [make_scored_run(make_rates(36, 0), run=str(k)) for k in range(5)]
    verdicts = [log.record(run, GATE, NOW).verdict for run in runs]

    assert verdicts[0] is Verdict.PASS
    assert verdicts[-1] is Verdict.INCONCLUSIVE


def allowed_misses(n: int, threshold: float, confidence: float) -> int:
    """Return with how many misses among ``n`` clusters a row still passes, by the interval that decides; else -1."""

    def passes(misses: int) -> bool:
        values = np.array([1.0] * (n - misses) + [0.0] * misses)
        interval = mean_of(values, values, values, confidence)
        return interval is not None and interval.low >= threshold

    return next(misses for misses in range(n) if not passes(misses)) - 1


@pytest.mark.parametrize(("n", "threshold"), [(192, 0.95), (73, 0.95), (400, 0.9), (1000, 0.98)])
def test_running_until_lucky_does_not_pass(n: int, threshold: float) -> None:
    """A system at its threshold passes in 2.5 % of first looks at most, and in 5 % of ten looks.

    Four thousand systems, each run afresh ten times; allowed for is what chance does to a count.
    """
    rng = np.random.default_rng(n)
    misses = rng.binomial(n, 1 - threshold, size=(4000, 10))
    allowed = np.array([allowed_misses(n, threshold, confidence_at(look)) for look in range(10)])
    passed = misses <= allowed

    assert passed[:, 0].mean() <= 0.025 + 3 * math.sqrt(0.025 / 4000)
    assert passed.any(axis=1).mean() <= 0.05 + 3 * math.sqrt(0.05 / 4000)


def test_running_until_lucky_by_the_log_itself(log: LookLog) -> None:
    """What passes as the first look of a system does not as any later one."""
    lucky = make_rates(73, 0)
    gate = make_gate()
    verdicts = [log.record(make_scored_run(lucky, run=str(k)), gate, NOW).verdict for k in range(10)]

    assert verdicts == [Verdict.PASS] + [Verdict.INCONCLUSIVE] * 9


@pytest.mark.parametrize("what", ["threshold", "scoring"])
def test_a_change_after_answers_were_seen_is_refused(log: LookLog, what: str) -> None:
    """Whichever run, and whatever is said of reasons; nothing is put on record then."""
    looked(log, run_named("a"))
    gate = make_gate(make_row(threshold=0.8)) if what == "threshold" else GATE
    run = make_scored_run(make_rates(200, 0), run="b", scorer="6" * 64 if what == "scoring" else "5" * 64)

    with pytest.raises(SeenScenariosError, match=r"200 of 200 scenarios .* fresh scenarios"):
        log.record(run, gate, NOW)
    assert len(log.read().entries) == 1
    assert looked(log, run_named("c"), make_gate(make_row(threshold=0.9, reason="the same in other words"))) == 1


def test_fresh_scenarios_may_be_judged_anew(log: LookLog) -> None:
    """And the gate that saw scenarios first may go on to judge them."""
    looked(log, run_named("a"))
    changed = make_gate(make_row(threshold=0.8))
    fresh = make_scored_run([make_scored(f"new{n}", 1.0) for n in range(200)], run="b")

    assert looked(log, fresh, changed) == 1
    assert looked(log, run_named("c")) == 2
    with pytest.raises(SeenScenariosError, match="1 of 201"):
        log.record(make_scored_run([*fresh.scored, make_scored("s0000", 1.0)], run="d"), changed, NOW)


def test_what_has_no_answer_was_not_seen(log: LookLog) -> None:
    """A first try with a few scenarios leaves the others fresh for a gate that is changed after it."""
    rest = [make_scored(f"s{n}", None) for n in range(4, 200)]
    looked(log, make_scored_run([*(make_scored(f"s{n}", 1.0) for n in range(4)), *rest], run="a"))
    changed = make_gate(make_row(threshold=0.8))

    assert log.read().entries[0].scenarios == ("s0", "s1", "s2", "s3")
    assert looked(log, make_scored_run([make_scored(f"s{n}", 1.0) for n in range(4, 200)], run="b"), changed) == 1
    with pytest.raises(SeenScenariosError, match="1 of 2"):
        log.record(make_scored_run([make_scored("s3", 1.0), make_scored("s4", 1.0)], run="c"), changed, NOW)


def test_an_exploratory_look_decides_nothing_and_counts(log: LookLog) -> None:
    """Who has seen a run has looked at it, and what was seen under a changed gate is not fresh for another."""
    looked(log, run_named("a"))
    report = log.record(run_named("b"), make_gate(make_row(threshold=0.8)), NOW, exploratory=True)

    assert report.look.exploratory
    assert looked(log, run_named("c")) == 2
    assert log.read().passed(run_named("b").binding, "a" * 64) is None


def test_only_a_deciding_pass_under_the_policy_counts(log: LookLog) -> None:
    """For a promotion: of this run and this policy."""
    looked(log, run_named("a"))
    log.record(make_scored_run(make_rates(100, 100), run="bad"), GATE, NOW)
    looks = log.read()

    assert looks.passed(run_named("a").binding, "a" * 64) is not None
    assert looks.passed(run_named("a").binding, "b" * 64) is None
    assert looks.passed(run_named("a", started="another day").binding, "a" * 64) is None
    assert looks.passed(run_named("bad").binding, "a" * 64) is None
    assert looks.passed(run_named("none").binding, "a" * 64) is None


def test_a_changed_or_removed_line_is_found(log: LookLog) -> None:
    """With its number."""
    for name in ("a", "b", "c"):
        looked(log, run_named(name))
    lines = log.path.read_bytes().splitlines(keepends=True)

    log.path.write_bytes(lines[0] + lines[1].replace(b'"PASS"', b'"FAIL"') + lines[2])
    with pytest.raises(LookLogError, match=r"line 2 .* was changed"):
        log.read()
    log.path.write_bytes(lines[0] + lines[2])
    with pytest.raises(LookLogError, match=r"line 2 .* does not follow"):
        log.read()
    log.path.write_bytes(lines[0] + b"{}\n")
    with pytest.raises(LookLogError, match=r"line 2 .* is not an entry"):
        log.read()
    log.path.write_bytes(lines[0] + lines[1][:40])
    with pytest.raises(LookLogError, match="half a line"):
        log.read()


def test_a_run_that_goes_on_is_the_same_look(log: LookLog) -> None:
    """Answers after a fault, and votes of a judge that was stopped, are added behind those that were there."""
    heads = chained([b"one", b"two", b"three"])
    run = run_named("a")

    assert looked(log, replace(run, answers=heads[:2])) == 0
    assert looked(log, replace(run, answers=heads, votes=heads[:1])) == 0
    assert looked(log, replace(run, answers=heads, votes=heads)) == 0
    assert looked(log, run_named("b")) == 1


@pytest.mark.parametrize("file", ["answers", "votes"])
def test_asking_again_until_it_suits_is_another_look(log: LookLog, file: str) -> None:
    """Whoever takes out answers or votes and has them given again has seen those before, under one run's name."""
    run, first, second = run_named("a"), chained([b"one", b"two"]), chained([b"one", b"other"])

    def with_lines(heads: tuple[str, ...]) -> ScoredRun:
        return replace(run, answers=heads) if file == "answers" else replace(run, votes=heads)

    looks = [looked(log, with_lines(heads)) for heads in (first, second, second, first, ())]

    assert looks == [0, 1, 1, 0, 2]


def test_a_folder_that_cannot_be_written_is_told_with_its_option(tmp_path: Path) -> None:
    """Not with that of policies, whose lock it shares."""
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(LookLogError, match="--looks"):
        LookLog(tmp_path / "file" / "looks").record(run_named("a"), GATE, NOW)


def test_a_new_decision_on_a_run_is_put_on_record(log: LookLog) -> None:
    """As where its scores were corrected; the look stays the same, and the last decision holds."""
    looked(log, run_named("a"))
    log.record(make_scored_run(make_clusters([[1.0]] * 100 + [[0.0]] * 100), run="a"), GATE, NOW + timedelta(days=1))
    looks = log.read()

    assert [entry.verdict for entry in looks.entries] == [Verdict.PASS, Verdict.FAIL]
    assert looks.passed(run_named("a").binding, "a" * 64) is None
