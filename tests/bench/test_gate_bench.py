"""Behaviour of the gate bench as a whole: what is asked of whom, marks, a run from end to end, and its report."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.bench.gate_parts import BENCH, make_desk, make_key, make_setting, small_suite
from tests.bench.policies import store_policy
from tests.policy.places import promote
from unmask.bench.ar_load import LoadTest, run_ar_load
from unmask.bench.bench import Bench
from unmask.bench.gate_asking import ARMS, TEMPERATURE, ask_all, missing
from unmask.bench.gate_bench import GateBasis, run_gate_bench
from unmask.bench.gate_journal import JournalOf, Reply, open_gate_journal
from unmask.bench.gate_latency import LatencyPlan, of_middle_length
from unmask.bench.gate_marks import TRAP_ACCEPTED, marks_of, prompts_of
from unmask.bench.gate_report import write_gate_report
from unmask.bench.gate_sizes import FULL, QUICK, GateSizes
from unmask.bench.gate_stages import Stage
from unmask.bench.modes import BOTH_MODES
from unmask.bench.pictures import save_picture
from unmask.bench.report import BenchReport
from unmask.control.sources import ActivePolicy
from unmask.control.stored import StoredPolicies
from unmask.errors import UnmaskError
from unmask.gate.reading.phrases import load_phrases
from unmask.gate.scenario import CorrectsClaim, Scenario, ScenarioKind, StatesFact
from unmask.gate.scorer import Scorer
from unmask.knowledge.measures import measure, pooled
from unmask.policy.store import PolicyStore
from unmask.sequence import Submission
from unmask.strategy import StrategyName
from unmask.testing.networks import make_network
from unmask.types import Mode, Role, StepBudget

SUITE = small_suite()
SMALL = GateSizes(worlds=1, seeds=(0, 1), latency=LatencyPlan(questions=2, rounds=1), wave=2, scenarios=2)
OF = JournalOf(model_digest="m", precision="float32", suite="s", ways="w", policy="", temperature=TEMPERATURE)


def short_load(bench: Bench, work: Sequence[Submission], *, seed: int, quick: bool, **watch: object) -> LoadTest:
    """Run the load test with answers of eight tokens."""
    short = [
        replace(one, max_tokens=8, canvas_length=8, budget=StepBudget(max_steps=2, max_total_steps=2)) for one in work
    ]
    assert all(one.sampling.temperature == 0 for one in work)
    assert quick
    return run_ar_load(bench, short, seed=seed, quick=True, **watch)  # type: ignore[arg-type]


def run(folder: Path) -> tuple[BenchReport, str]:
    """Run the bench, and return its report with what it said."""
    said: list[str] = []
    report = run_gate_bench(
        BENCH,
        GateBasis(policy=None, folder=folder),
        seed=0,
        quick=True,
        progress=lambda _stage, _share: None,
        say=said.append,
        sizes=SMALL,
        load=short_load,
    )
    return report, "\n".join(said)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[BenchReport, Path]:
    """Return the report of a run, and where its journal is."""
    folder = tmp_path_factory.mktemp("gate")
    return run(folder)[0], folder


@pytest.fixture
def policy(tmp_path: Path) -> ActivePolicy:
    """Return a policy that is active for the small model."""
    store = PolicyStore(tmp_path / "policies")
    promote(store, store_policy(store, tmp_path, BENCH.model.digest))
    found = StoredPolicies(store).active_policy(BENCH.model.name, BENCH.model.digest)
    assert found is not None
    return found


def first(kind: ScenarioKind, *checks: type) -> Scenario:
    """Return the first scenario of a kind that has a check of some sort."""
    return next(
        scenario
        for scenario in SUITE.scenarios
        if scenario.kind is kind and (not checks or isinstance(scenario.turns[0].checks[0], checks))
    )


def make_reply(text: str, tokens: int = 10) -> Reply:
    """Return an answer."""
    return Reply(text=text, steps=4, tokens=tokens, seconds=0.1)


def test_a_full_run_is_what_was_asked_for() -> None:
    """At least 2,000 scenarios in 400 clusters, three seeds; a quick one is a small part of it."""
    assert FULL.worlds * 60 >= 2_000
    assert FULL.worlds * 12 >= 400
    assert len(FULL.seeds) == 3
    assert FULL.scenarios is None
    assert QUICK.worlds == len(QUICK.seeds) == 1
    assert len(ARMS) == 8


def test_every_arm_answers_every_scenario_and_seed(ran: tuple[BenchReport, Path]) -> None:
    """Once each; every figure has its own name, and targets without enough data are not met."""
    report, _ = ran

    assert len(report.records) == len(ARMS) * 2 * 2
    assert len({(one.item, one.arm, getattr(one, "seed", None)) for one in report.records}) == len(report.records)
    names = [figure.name for figure in report.figures]
    assert len(set(names)) == len(names)
    assert {"typed.autoregressive.hallucination", "batch_1.diffusion.latency_p50", "diffusion_64.requests_per_s"} < {
        *names
    }
    assert [entry.name for entry in report.must_reach][:2] == ["signal_density_vs_naive", "needed_fact_recall"]
    assert not any(entry.holds for entry in report.must_reach if entry.bound is None)
    assert (report.name, report.policy, report.quick) == ("gate", None, True)


def test_a_killed_run_asks_only_what_is_left(ran: tuple[BenchReport, Path], tmp_path: Path) -> None:
    """What was answered is read from the journal, and the answers asked again are the same."""
    report, folder = ran
    (journal,) = folder.iterdir()
    lines = journal.read_bytes().splitlines(keepends=True)
    (tmp_path / journal.name).write_bytes(b"".join(lines[:-3]) + lines[-1][:20])
    again, _ = run(tmp_path)
    found = (tmp_path / journal.name).read_bytes().splitlines(keepends=True)

    assert found[: len(lines) - 3] == lines[:-3]
    assert len(found) == len(lines)
    assert [record.correct for record in again.records] == [record.correct for record in report.records]
    assert [record.steps for record in again.records] == [record.steps for record in report.records]


def test_a_question_is_asked_as_a_server_would(policy: ActivePolicy) -> None:
    """The policy's strategy and exit for diffusion; a step a token, and no exit, for decoding; the same prompt."""
    desk = make_desk(policy)
    scenario = first(ScenarioKind.FACT)
    diffusion, decoding = (desk.submission(make_key(scenario, mode=mode, seed=2), scenario, ()) for mode in BOTH_MODES)

    assert diffusion.strategy.name is StrategyName.CONFIDENCE_THRESHOLD
    assert diffusion.exit is not None
    assert diffusion.check is not None
    assert (decoding.exit, decoding.budget.max_total_steps) == (None, decoding.max_tokens)
    assert diffusion.prompt == decoding.prompt
    assert diffusion.sampling == decoding.sampling
    assert (diffusion.sampling.seed, diffusion.sampling.temperature) == (2, TEMPERATURE)


def test_no_arm_or_seed_finds_anothers_prompt_in_the_cache() -> None:
    """Else whichever comes second would look faster."""
    desk = make_desk()
    scenario = first(ScenarioKind.FACT)
    keys = [make_key(scenario, stage, mode, seed) for stage in Stage for mode in BOTH_MODES for seed in (0, 1)]
    tenants = [desk.submission(key, scenario, ()).tenant for key in keys]

    assert len(set(tenants)) == len(keys)
    assert desk.submission(keys[0], scenario, (), lane="other").tenant != tenants[0]


def test_a_follow_up_follows_upon_what_was_answered() -> None:
    """Right or wrong; its facts are those of its own turn."""
    desk = make_desk()
    scenario = first(ScenarioKind.MULTI_TURN)
    messages = desk.messages(scenario, Stage.COMPLETED, [make_reply("My ally is Nobody.")])

    assert [message.role for message in messages] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]
    assert messages[2].content == "My ally is Nobody."
    assert messages[3].content == scenario.turns[1].question
    contexts = desk.setting.contexts[Stage.COMPLETED][scenario.id]
    assert messages[0].content.startswith(contexts[1].text)
    assert contexts[1].text != contexts[0].text


def test_waves_ask_turn_by_turn(tmp_path: Path) -> None:
    """All turns of all scenarios are answered, and it is said how many more there are."""
    talks = [scenario for scenario in SUITE.scenarios if len(scenario.turns) == 2][:1]
    suite = replace(SUITE, scenarios=tuple(talks))
    desk, told = make_desk(), list[int]()
    desk.setting = replace(desk.setting, suite=suite)
    with open_gate_journal(tmp_path, OF) as journal:
        assert missing(suite, journal, (0,)) == len(ARMS) * 2
        ask_all(BENCH, desk, journal, seeds=(0,), order=0, wave=8, done=told.append)
        assert missing(suite, journal, (0,)) == 0
        assert [len(journal[make_key(scenario)]) for scenario in suite.scenarios] == [2]

    assert told == [1] * len(ARMS) * 2


def test_an_engine_that_fails_ends_the_run(tmp_path: Path) -> None:
    """Its answer would be no model's; the scenario is named."""
    scenario = first(ScenarioKind.FACT)
    desk = make_desk()
    desk.setting = replace(desk.setting, suite=replace(SUITE, scenarios=(scenario,)))
    shape = BENCH.model.network.shape
    broken = replace(BENCH, model=replace(BENCH.model, network=make_network(replace(shape, vocabulary=8))))
    with open_gate_journal(tmp_path, OF) as journal, pytest.raises(UnmaskError, match=scenario.id):
        ask_all(broken, desk, journal, seeds=(0,), order=0, wave=1, done=lambda _: None)


@pytest.mark.parametrize("recorded", [True, False])
def test_a_trap_is_accepted_or_corrected(*, recorded: bool) -> None:
    """Who says the false claim accepts it, recorded as a misconception or not; who says what is true does not."""
    scenario = first(ScenarioKind.TRAP, CorrectsClaim if recorded else StatesFact)
    (turn,) = scenario.turns
    (claim,) = turn.forbidden
    world = SUITE.worlds[scenario.world]
    noun = claim.slot
    wrong = world.text_of(claim.subject, claim.slot, claim.value, "en")
    right = world.text_of(claim.subject, claim.slot, world.statements[f"{claim.subject}.{claim.slot}"].value, "en")
    scorer = Scorer(SUITE, load_phrases())
    contexts = make_setting(replace(SUITE, scenarios=(scenario,))).contexts[Stage.COMPLETED][scenario.id]
    fell, stood = (
        marks_of(scorer, scenario, make_key(scenario), [make_reply(text)], contexts)
        for text in (f"My {noun} is {wrong}.", f"No, not {wrong}. My {noun} is {right}.")
    )

    assert (fell[TRAP_ACCEPTED], fell["hallucination"], fell["factual_precision"]) == (1, 1, 0)
    assert (stood[TRAP_ACCEPTED], stood["hallucination"], stood["factual_precision"]) == (0, 0, 1)
    assert ("trap_corrected" in stood) is recorded


def test_prompts_are_counted_by_cluster() -> None:
    """The sum over a cluster's questions, held against the whole world."""
    setting = make_setting(SUITE)
    found = prompts_of(setting, Stage.HYBRID)
    cluster = SUITE.scenarios[0].cluster
    mine = [scenario for scenario in SUITE.scenarios if scenario.cluster == cluster]
    counts = [
        measure(SUITE.worlds[one.world], context, turn.needed)
        for one in mine
        for context, turn in zip(setting.contexts[Stage.HYBRID][one.id], one.turns, strict=True)
    ]

    assert len(found) == 12
    assert (found[cluster].questions, found[cluster].counts) == (len(counts), pooled(counts))


def test_latency_is_of_answers_of_middle_length(tmp_path: Path) -> None:
    """In both modes, and one a cluster."""
    lengths = {scenario.id: 40 for scenario in SUITE.scenarios}
    short, long = SUITE.scenarios[0].id, SUITE.scenarios[1].id
    with open_gate_journal(tmp_path, OF) as journal:
        for scenario in SUITE.scenarios:
            for mode in BOTH_MODES:
                only = 31 if scenario.id == short and mode is Mode.DIFFUSION else lengths[scenario.id]
                only = 97 if scenario.id == long and mode is Mode.AUTOREGRESSIVE else only
                journal.note(make_key(scenario, mode=mode), [make_reply("x", only)])
        found = of_middle_length(SUITE, journal, 0, 100)
        few = of_middle_length(SUITE, journal, 0, 5)

    assert len(found) == len({scenario.cluster for scenario in found}) == 12
    assert not {short, long} & {scenario.id for scenario in found}
    assert len(few) == 5


def test_report_is_written_for_people(ran: tuple[BenchReport, Path], tmp_path: Path) -> None:
    """A page that needs nothing else, Markdown, and pictures that are well-formed; names are text, never markup."""
    report, _ = ran
    nasty = replace(report.must_reach[0], name="<script>|`x`")
    page, text = write_gate_report(replace(report, must_reach=(nasty,)), tmp_path / "report")
    html, markdown = page.read_text(), text.read_text()

    assert "<script" not in html
    assert "&lt;script&gt;|`x`" in html
    assert "&lt;script&gt;\\|\\`x\\`" in markdown
    for heading in ("Injected facts and signal density", "Factual precision and hallucination", "Latency", "Load"):
        assert f"<h2>{heading}</h2>" in html
        assert f"## {heading}" in markdown
    assert "decide nothing" in markdown
    pictures = sorted(path.name for path in (tmp_path / "report").glob("*.svg"))
    assert pictures == ["hallucination.svg", "latency.svg", "load.svg", "precision.svg"]
    for name in pictures:
        root = ET.parse(tmp_path / "report" / name).getroot()  # noqa: S314 - written here
        assert root.tag.endswith("svg")
        assert len(root.findall(".//{*}circle/{*}title")) == 8
        assert f"]({name})" in markdown
    assert html.count('class="chart"') == 4


def test_report_that_cannot_be_written_says_where(ran: tuple[BenchReport, Path], tmp_path: Path) -> None:
    """A file is in its place."""
    (tmp_path / "taken").write_text("")

    with pytest.raises(UnmaskError, match="--report"):
        write_gate_report(ran[0], tmp_path / "taken")


def test_picture_of_a_run_can_be_drawn(ran: tuple[BenchReport, Path], tmp_path: Path) -> None:
    """Also without intervals."""
    pytest.importorskip("matplotlib")
    save_picture(ran[0], tmp_path / "gate.png")

    assert (tmp_path / "gate.png").stat().st_size > 1000
