"""The layers bench: rows side by side, each alone, from a journal, and shown with its quality and its reason."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.bench.small import SHAPE, TOKENIZER, small_model
from unmask.bench import layers_routing, layers_speculation
from unmask.bench.bench import Bench
from unmask.bench.journal import JournalError
from unmask.bench.layer_row import Finding, Ground, Layer, LayerRow, Reading, Round, Sample, Terms
from unmask.bench.layers_arms import record_of
from unmask.bench.layers_bench import LayersBasis, run_layers_bench
from unmask.bench.layers_cache import CacheSaving
from unmask.bench.layers_rows import rows_for, rows_named
from unmask.bench.layers_workload import load_workload_spec
from unmask.bench.pictures import save_picture
from unmask.bench.readme import figures_text, load
from unmask.bench.report import BenchReport, Figure, to_json
from unmask.clock import SystemClock
from unmask.errors import UnmaskError
from unmask.savings.registry import ROUTING
from unmask.savings.result import figures_of
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())
SPEC = load_workload_spec()
SMALL = SPEC.model_copy(
    update={
        "requests": SPEC.requests.model_copy(update={"full": 6, "quick": 6}),
        "further": SPEC.further.model_copy(update={"full": 0, "quick": 8}),
        "max_steps": (1, 8),
    }
)
ROWS = rows_for(SHAPE)
RESULTS = Path(__file__).parents[2] / "bench" / "results"


class Scripted:
    """A row that measures nothing: its figure is the mean of what each round reads, and it can be killed."""

    layer = Layer.SERVICE
    off, on = "nothing", "something"

    def __init__(self, target: float | None = 0.5, *, dies_at: int = -1, terms: Terms | None = None) -> None:
        self.name = "scripted"
        self.terms = terms or Terms(target=target)
        self.measured: list[int] = []
        self._dies_at = dies_at

    def measure(self, ground: Ground, number: int) -> Round:
        """Read the number of the round; half the answers are right with the layer on, all of them off."""
        if number == self._dies_at:
            raise KeyboardInterrupt
        self.measured.append(number)
        answers = tuple(
            record_of(ask.item, steps=1, seconds=0.0, correct=place % 2 == 0)
            for place, ask in enumerate(() if number and self.terms.saving is None else ground.workload.asks)
        )
        off = Sample(readings=(), answers=tuple(replace(answer, correct=True) for answer in answers))
        return Round(off=off, on=Sample(readings=(Reading(name="r", values=(float(number),)),), answers=answers))

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the mean, as surely as can be."""
        mean = sum(one.on.value("r") for one in rounds) / len(rounds)
        figure = Figure(name=self.name, value=mean, low=mean - seed, high=mean + seed)
        return Finding(figure=figure, beside=(), reason="it is scripted")


def run(folder: Path, *rows: LayerRow, seed: int = 0, quick: bool = False) -> BenchReport:
    """Measure rows on a model that knows nothing."""
    return run_layers_bench(
        BENCH,
        LayersBasis(rows=rows, folder=folder),
        seed=seed,
        quick=quick,
        progress=lambda _stage, _share: None,
        spec=SMALL,
    )


def make_item() -> Item:
    """Return an item."""
    return all_tasks()["sort"].generate(Random(0), Split.TEST)


def test_rows_stand_in_the_order_of_layers() -> None:
    """Engine, service, model, business, then all; no name twice, and each may be asked for alone."""
    layers = list(Layer)
    assert [layers.index(row.layer) for row in ROWS] == sorted(layers.index(row.layer) for row in ROWS)
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert [row.name for row in rows_named(None, SHAPE)] == [row.name for row in ROWS]
    assert [one.name for row in ROWS for one in rows_named(row.name, SHAPE)] == [row.name for row in ROWS]
    with pytest.raises(UnmaskError, match=r"--row is '메모리', allowed: engine_busy_share"):
        rows_named("메모리", SHAPE)
    # Four bits take widths that this network does not have.
    with pytest.raises(UnmaskError, match=r"--row is 'int4_time_saving', allowed: .*int8_time_saving"):
        rows_named("int4_time_saving", SHAPE)


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """Rounds in the journal are not measured again, and half a line is cut off."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Scripted(dies_at=4))
    (path,) = tmp_path.iterdir()
    with path.open("ab") as file:
        file.write(b'{"off":')
    second = Scripted()
    report = run(tmp_path, second)

    assert second.measured == [4, 5, 6, 7, 8, 9]
    assert report.must_reach[0].value == 4.5
    assert to_json(report) == to_json(run(tmp_path, third := Scripted()))
    assert third.measured == []


def test_a_journal_of_something_else_is_refused(tmp_path: Path) -> None:
    """Damaged, or renamed from another measurement."""
    run(tmp_path / "one", Scripted(), quick=True)
    run(tmp_path, Scripted(), seed=3, quick=True)
    (path,), (other,) = (tmp_path / "one").iterdir(), tmp_path.glob("*.jsonl")
    other.write_bytes(path.read_bytes())
    with pytest.raises(JournalError, match="seed=0"):
        run(tmp_path, Scripted(), seed=3, quick=True)
    other.write_bytes(b"{}\n")
    with pytest.raises(JournalError, match="is damaged"):
        run(tmp_path, Scripted(), seed=3, quick=True)


@pytest.mark.parametrize(
    ("target", "seed", "said"),
    [(5.0, 0, "missed: it is scripted"), (4.0, 0, None), (None, 0, None), (4.0, 1, "missed")],
)
def test_a_missed_row_says_why(tmp_path: Path, target: float | None, seed: int, said: str | None) -> None:
    """By the lower end of its interval; a row without a target misses nothing."""
    report = run(tmp_path, Scripted(target), seed=seed)
    figure, quality = report.figures

    assert figure.note.startswith("service: nothing → something")
    assert ("missed" in figure.note) == (said is not None)
    assert (said or "") in figure.note
    assert [entry.holds for entry in report.must_reach] == ([] if target is None else [said is None])
    assert (quality.name, quality.value, quality.n) == ("scripted.quality_difference", -0.5, 6)


def test_a_saving_is_kept_with_its_quality_and_held_to_it(tmp_path: Path) -> None:
    """Answers of all rounds count; a saving large enough that costs too much is missed, and its figure is kept."""
    row = Scripted(terms=Terms(target=4.0, least_quality=-0.01, saving=ROUTING))
    report = run(tmp_path, row)
    (kept,) = figures_of(to_json(report), measured="2026-12-01")

    assert [(entry.name, entry.holds) for entry in report.must_reach] == [
        ("scripted", True),
        ("scripted.quality_difference", False),
    ]
    assert "missed: it is scripted" in report.figures[0].note
    assert (kept.saving, kept.saved.value, kept.quality.value, kept.items) == (ROUTING, 4.5, -0.5, 60)
    assert {record.arm for record in report.records} == {"scripted.off", "scripted.on"}


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_row_says_how_often_it_is_measured(tmp_path: Path, rounds: int) -> None:
    """In a full run; a quick one has a round of each."""
    row = Scripted(terms=Terms(rounds=rounds))
    run(tmp_path / "full", row)
    run(tmp_path / "quick", row, quick=True)
    assert row.measured == [*range(rounds), 0]


def test_what_hits_are_is_told_by_kind() -> None:
    """False ones among those that were found, and not among all; what is saved is requests, and forward seconds."""
    wrong, right = (record_of(make_item(), steps=1, seconds=0.0, correct=one) for one in (False, True))

    def flags(name: str, *places: int) -> Reading:
        return Reading(name=name, values=tuple(float(place in places) for place in range(20)))

    held = (
        flags("exact", 0, 1, 2, 3),
        flags("semantic", 4, 5),
        flags("repeated", 0, 1, 2, 3, 6),
        flags("paraphrased", 4, 5, 7, 8),
        flags("false", 5),
    )
    seconds = [Reading(name="seconds", values=tuple(values)) for values in ([1.0] * 20, [0.0] * 6 + [1.0] * 14)]
    off = Sample(readings=(seconds[0],), answers=(right,) * 20)
    on = Sample(readings=(seconds[1], *held), answers=(*(right,) * 5, wrong, *(right,) * 14))
    finding = CacheSaving().judge([Round(off=off, on=on)], 0)
    values = {figure.name.removeprefix("cache_saving."): (figure.value, figure.n) for figure in finding.beside}

    assert finding.figure.value == pytest.approx(0.3)
    assert finding.saved is not None
    assert finding.saved.value == pytest.approx(0.3)
    assert values["exact.false_hit_rate"] == (0.0, 4)
    assert values["semantic.false_hit_rate"] == (0.5, 2)
    assert values["worse_hit_rate"] == values["false_hit_rate"] == (1 / 6, 6)
    assert (values["repeated.found"], values["paraphrased.found"]) == ((0.8, 5), (0.5, 4))


def test_the_readme_has_a_line_a_row() -> None:
    """With arms, quality and the reason."""
    figures = [
        {"name": "f", "value": 0.5, "low": 0.4, "high": 0.6, "note": "engine: a → b; missed: slow"},
        {"name": "f.quality_difference", "value": 0.01, "low": None, "high": None, "note": ""},
    ]
    kept = {"bench": "layers", "machine": "m", "model_digest": "d", "workload": "w" * 64, "must_reach": []}
    text = figures_text(load("engine", RESULTS), load("model", RESULTS), None, [kept | {"figures": figures}])

    assert "| `f` | engine: a → b | 0.5 (0.4 to 0.6) | 0.01 | missed: slow |" in text
    assert "Workload `wwwwwwwwwwww`." in text


@pytest.mark.bench
def test_a_run_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row has its figure, its quality and records of both arms; a round is too few to decide anything."""
    monkeypatch.setattr(layers_routing, "QUICK", (1, 1))
    monkeypatch.setattr(layers_routing, "load_weights", lambda _: small_model())
    monkeypatch.setattr(layers_speculation, "MOST", 1)
    report = run(tmp_path / "runs", *ROWS, quick=True)
    figures = {figure.name: figure for figure in report.figures}
    targets = [row.name for row in ROWS if row.terms.target is not None]
    targets.insert(4, "routing_cost_saving.quality_difference")

    assert [entry.name for entry in report.must_reach] == targets
    assert not any(entry.holds for entry in report.must_reach)
    assert {f"{row.name}.quality_difference" for row in ROWS} <= set(figures)
    for row in ROWS:
        off, on = ([one.item for one in report.records if one.arm == f"{row.name}.{arm}"] for arm in ("off", "on"))
        assert off == on != []
    assert report.workload is not None
    for saving in ("routing", "semantic_cache", "int8", "speculation"):
        assert figures[f"{saving}.quality_difference"].n is not None
        assert f"{saving}.saved" in figures
    assert figures["engine_busy_share.off.moving"].value < figures["engine_busy_share.on.moving"].value == 1
    assert figures["memory_saving.off.kv"].value > figures["memory_saving.on.kv"].value
    assert figures["speculation_speedup.different_answers"].value == 0
    # Steps join and leave, drafts are verified, and it does not matter where: no answer differs.
    for name in ("engine_busy_share", "ttft_p99_vs_static_batches", "speculation_speedup", "prefix_hit_rate_vs_random"):
        assert figures[f"{name}.quality_difference"].value == 0
    save_picture(report, tmp_path / "layers.png")
    assert (tmp_path / "layers.png").stat().st_size > 10_000
