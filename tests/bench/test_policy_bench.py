"""Behaviour of the policy bench as a whole: what a policy gives items, splits, and a run from end to end."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.policies import store_policy
from tests.bench.small import TOKENIZER, small_model
from tests.policy.places import promote
from unmask.bench.bench import Bench
from unmask.bench.pace import Pace
from unmask.bench.pictures import save_picture
from unmask.bench.policy_bench import Basis, run_policy_bench
from unmask.bench.policy_items import look_items, tuning_items
from unmask.bench.policy_look import KeptRunner, distinct_trials, take_look
from unmask.bench.policy_sizes import Sizes, full_sizes, quick_sizes
from unmask.bench.policy_under_test import NoPolicyError, PolicyUnderTest, open_policy
from unmask.bench.policy_wall import WallPlan
from unmask.bench.report import BenchReport
from unmask.bench.trial import Answer, Setup, Trial, TrialRunner
from unmask.bench.tuning_journal import JournalOf, open_tuning_journal
from unmask.bench.tuning_run import measure_ways, uniform
from unmask.clock import SystemClock
from unmask.engine.weights import load_weights, packaged_weights
from unmask.errors import ConfigError, UnmaskError
from unmask.policy.digest import policy_digest
from unmask.policy.file import policy_text
from unmask.policy.store import PolicyStore
from unmask.tasks.item import Split, split_of_digest
from unmask.tasks.registry import all_tasks
from unmask.testing.budget_policies import signed
from unmask.testing.manual_clock import ManualClock
from unmask.types import ExitAction

MODEL = replace(small_model(), digest="0123456789abcdef")
BENCH = Bench(model=MODEL, tokenizer=TOKENIZER, clock=SystemClock())
OF = JournalOf(model_digest=BENCH.model.digest, precision="float32", seed=0)
SMALL = Sizes(
    tuning=2,
    test=1,
    drifted=2,
    wall=WallPlan(alone=2, rounds=1, round_items=2),
    few=True,
    factors=1,
    grid=(1, 4),
)


@pytest.fixture
def store(tmp_path: Path) -> PolicyStore:
    """Return an empty store."""
    return PolicyStore(tmp_path / "policies")


@pytest.fixture
def under(store: PolicyStore, tmp_path: Path) -> PolicyUnderTest:
    """Return the active policy of the small model."""
    promote(store, store_policy(store, tmp_path, BENCH.model.digest))
    return open_policy(BENCH, store)


def run(
    under: PolicyUnderTest, folder: Path, sizes: Sizes = SMALL, bench: Bench = BENCH, look_seed: int | None = None
) -> tuple[BenchReport, str]:
    """Run the bench, and return its report with what it said."""
    said: list[str] = []
    report = run_policy_bench(
        bench,
        Basis(under=under, folder=folder, look_seed=look_seed),
        seed=0,
        quick=True,
        progress=lambda _stage, _share: None,
        say=said.append,
        sizes=sizes,
    )
    return report, "\n".join(said)


def test_items_get_what_a_server_gives(under: PolicyUnderTest) -> None:
    """A bucket by the estimate, the policy's strategy, and an exit that stops; the truth is no part of it."""
    items = look_items(0, 6)
    given = [under.give(item, BENCH.clock) for item in items]

    for item, entry in zip(items, given, strict=True):
        long = len(TOKENIZER.encode_chat(item.messages)) > 120
        assert entry.hardness == (4.0 if long else 2.0)
        assert entry.ours.max_steps == (16 if long else 4)
        assert entry.ours.exit is not None
        assert entry.ours.exit.action is ExitAction.STOP
        assert entry.estimator == replace(entry.ours, exit=None)
        assert entry.control == under.active.policy.control.young_fraction
        assert entry.seconds > 0
        told = under.give(replace(item, answer="", accepted=()), BENCH.clock)
        assert told.assignment == entry.assignment
    assert {entry.hardness for entry in given} == {2.0, 4.0}


def test_fixed_policy_is_as_hard_as_its_budget(store: PolicyStore, tmp_path: Path) -> None:
    """Without an estimate there is nothing else to go by."""
    promote(store, store_policy(store, tmp_path, BENCH.model.digest, adaptive=False))
    given = open_policy(BENCH, store).give(look_items(0, 1)[0], BENCH.clock)

    assert (given.hardness, given.ours.max_steps) == (3.0, 8)


def test_policy_is_named_by_file_or_digest(store: PolicyStore, tmp_path: Path) -> None:
    """It need not be approved to be measured."""
    policy = store_policy(store, tmp_path, BENCH.model.digest)
    digest = store.propose(policy, signed("ann"))
    (tmp_path / "p.yaml").write_text(policy_text(policy))

    named = [open_policy(BENCH, store, name) for name in (str(tmp_path / "p.yaml"), digest[:8])]
    assert [entry.active.digest for entry in named] == [policy_digest(policy)] * 2
    assert all(entry.estimator is not None for entry in named)


def test_nothing_is_measured_without_a_policy(store: PolicyStore) -> None:
    """It says what is missing and what to do."""
    with pytest.raises(NoPolicyError, match=r"no approved policy.*--policy"):
        open_policy(BENCH, store)


def test_policy_of_other_weights_is_refused(store: PolicyStore, tmp_path: Path) -> None:
    """Both digests are named."""
    (tmp_path / "p.yaml").write_text(policy_text(store_policy(store, tmp_path, "fedcba9876543210")))

    with pytest.raises(ConfigError, match=r"fedcba9876543210.*0123456789abcdef"):
        open_policy(BENCH, store, str(tmp_path / "p.yaml"))


def test_policy_without_its_estimator_is_refused(store: PolicyStore, tmp_path: Path) -> None:
    """A server would go on with defaults; that would be another policy's figures."""
    policy = replace(store_policy(store, tmp_path, BENCH.model.digest), difficulty="0" * 16)
    (tmp_path / "p.yaml").write_text(policy_text(policy))

    with pytest.raises(NoPolicyError, match="0000000000000000"):
        open_policy(BENCH, store, str(tmp_path / "p.yaml"))


def test_tuning_refuses_items_of_other_splits(tmp_path: Path) -> None:
    """Before anything is answered; and the look refuses what may have been tuned on."""
    looked, tuning, runner = look_items(0, 1), tuning_items(0, 1), TrialRunner(BENCH)
    with open_tuning_journal(tmp_path, OF) as journal:
        with pytest.raises(UnmaskError, match="tuning split"):
            measure_ways(runner, journal, looked, [uniform("a", Setup(max_steps=1), looked)], lambda _: None)
        assert len(journal) == 0
    with pytest.raises(UnmaskError, match="test split"):
        take_look(runner, tuning, {"a": [Setup(max_steps=1)] * len(tuning)}, seed=0, done=lambda _: None)


def test_arms_that_decide_alike_share_a_run() -> None:
    """Each item is run once for every distinct way, and each arm has its answers in the order of the items."""
    items, done = look_items(0, 1)[:3], list[int]()
    one, two = Setup(max_steps=1), Setup(max_steps=2)
    arms = {"a": [one] * 3, "b": [two] * 3, "c": [one, two, one]}
    found = take_look(TrialRunner(BENCH), items, arms, seed=0, done=done.append)

    assert distinct_trials(arms, 3) == sum(done) == 6
    assert found["c"].steps.tolist() == [found["a"].steps[0], found["b"].steps[1], found["a"].steps[2]]
    assert (found["a"].steps <= found["b"].steps).all()


def test_a_shared_prefix_changes_no_answer() -> None:
    """Tuning may take the time it saves; the look may not, as it would make later arms look faster."""
    items = look_items(0, 1)[:2]
    trials = [Trial(item=item, setup=Setup(max_steps=steps)) for item in items for steps in (1, 2, 4)]
    alone, shared = (TrialRunner(BENCH, shares_prefixes=shares).run(trials) for shares in (False, True))

    assert [replace(answer, seconds=0.0) for answer in alone] == [replace(answer, seconds=0.0) for answer in shared]


def test_a_look_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    """What was answered is not asked again, whatever else is; its seconds are those it was measured with."""
    items, asked = look_items(0, 1)[:3], list[Trial]()
    trials = [Trial(item=item, setup=Setup(max_steps=steps)) for item in items for steps in (1, 2)]

    class Counting:
        def run(self, trials: Sequence[Trial]) -> list[Answer]:
            asked.extend(trials)
            return [Answer(steps=1, tokens=2, seconds=0.1 * len(asked), correct=True) for _ in trials]

    of = replace(OF, is_look=True)
    with open_tuning_journal(tmp_path, of) as journal:
        before = KeptRunner(Counting(), journal).run(trials[:4])
    with open_tuning_journal(tmp_path, of) as journal:
        after = KeptRunner(Counting(), journal).run(trials)

    assert after[:4] == before
    assert asked == trials
    assert not (tmp_path / OF.file_name).exists()


def test_pace_is_told_once_it_is_known() -> None:
    """Runs of two seconds, of which a thousand are left, take 33 minutes."""
    clock, said = ManualClock(), list[str]()
    pace = Pace(clock, lambda _stage, _share: None, said.append)
    pace.stage("tuning", 1200)
    pace.done(100)
    assert said == []
    clock.advance(400.0)
    pace.done(100)
    pace.done(100)

    assert said == ["tuning: 1000 runs to go, about 33 minutes at the pace so far"]


def test_full_run_is_as_large_as_promised() -> None:
    """The grid goes up to the canvas; a full run leaves the number of items to the pilot."""
    full, quick = full_sizes(32), quick_sizes(32)

    assert full.grid == (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
    assert (full.test, full.few) == (None, False)
    assert quick.grid[-1] == 32
    assert quick_sizes(4).grid == (1, 4)


def test_small_run_reports_every_arm_and_decides_nothing(under: PolicyUnderTest, tmp_path: Path) -> None:
    """One item a task type: all is measured, every target is inconclusive, and tuning has seen no test item."""
    report, said = run(under, tmp_path / "runs")

    assert len(report.must_reach) == 9
    assert not any(entry.holds for entry in report.must_reach)
    assert all(entry.bound is None for entry in report.must_reach)
    assert report.policy == under.active.digest
    arms = defaultdict[str, set[str]](set)
    for record in report.records:
        arms[record.arm].add(record.item)
    looked = arms["estimator_exit"]
    assert set(arms) >= {"fixed_saturation", "fixed_type_saturation", "fixed_knee", "estimator", "freed_steps"}
    assert set(arms) >= {"confidence_threshold", "entropy_bound", "klass", "prophet", "fixed_1", "fixed_4"}
    assert {split_of_digest(item) for item in looked} == {Split.TEST}
    with open_tuning_journal(tmp_path / "runs", OF) as journal:
        tuned = {key.item for key in journal.keys}
    assert {split_of_digest(item) for item in tuned} == {Split.TUNE}
    assert len(tuned) == 2 * len(all_tasks())
    assert not tuned & looked
    assert "measured on 2 tuning items a task type" in said
    save_picture(report, tmp_path / "policy.png")
    assert (tmp_path / "policy.png").stat().st_size > 10_000


def test_second_run_tunes_nothing_anew(under: PolicyUnderTest, tmp_path: Path) -> None:
    """Its journal has all answers, and what they settle is the same."""
    first, _ = run(under, tmp_path / "runs")
    journal = next((tmp_path / "runs").iterdir())
    kept = journal.read_bytes()
    second, _ = run(under, tmp_path / "runs")

    assert journal.read_bytes() == kept
    settled = [
        [figure for figure in report.figures if figure.name.endswith(".threshold")] for report in (first, second)
    ]
    assert settled[0] == settled[1] != []


def test_another_look_takes_other_test_items_and_tunes_nothing_anew(under: PolicyUnderTest, tmp_path: Path) -> None:
    """Two looks share the tuning journal and no test item, and the report says which look it was."""
    first, _ = run(under, tmp_path / "runs")
    tuned = next((tmp_path / "runs").glob("tuning-*.jsonl")).read_bytes()
    second, _ = run(under, tmp_path / "runs", look_seed=7)

    looked = [{record.item for record in report.records if record.arm == "estimator"} for report in (first, second)]
    assert not looked[0] & looked[1]
    assert next((tmp_path / "runs").glob("tuning-*.jsonl")).read_bytes() == tuned
    seeds = [
        next(figure.value for figure in report.figures if figure.name == "look_seed") for report in (first, second)
    ]
    assert seeds == [0, 7]


@pytest.mark.slow
@pytest.mark.bench
def test_packaged_model_runs_end_to_end(store: PolicyStore, tmp_path: Path) -> None:
    """Six test items and two tuning items a task type, two settings a rule."""
    bench = Bench(model=load_weights(packaged_weights("tiny")), tokenizer=TOKENIZER, clock=SystemClock())
    promote(store, store_policy(store, tmp_path, bench.model.digest))
    sizes = replace(SMALL, tuning=2, test=6, drifted=6, grid=(1, 8, 32))
    report, _ = run(open_policy(bench, store), tmp_path / "runs", sizes, bench)

    figures = {figure.name: figure for figure in report.figures}
    assert figures["fixed_32.quality"].value > figures["fixed_1.quality"].value
    assert figures["estimator_exit.mean_steps"].value < figures["fixed_32.mean_steps"].value
    assert {entry.name: entry.bound for entry in report.must_reach}["mean_steps_vs_best_published"] is None
