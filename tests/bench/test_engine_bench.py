"""The arms of the engine bench differ in speed, never in tokens."""

import pytest
import torch

from tests.bench.small import TOKENIZER, small_model
from unmask.bench.arms import alternatives, make_arm, other
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.bench.engine_bench import run_engine_bench
from unmask.bench.meter import row_operations
from unmask.bench.quality import quality_figures
from unmask.bench.reference import ReferenceRunner
from unmask.bench.workload import MAX_PROMPT, MIN_PROMPT, mixed_requests, submissions
from unmask.clock import SystemClock
from unmask.local.model import model_info
from unmask.plan import DecodeTask, Row
from unmask.testing.canvas_tasks import make_canvas_task
from unmask.types import Precision, Sampling

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())


@pytest.mark.slow
def test_every_arm_gives_the_same_answers() -> None:
    """Reference, lockstep and every engine run the same steps to the same text."""
    work = submissions(mixed_requests(3, 12, "tiny", TOKENIZER), model_info(BENCH.model, BENCH.precision), TOKENIZER)
    outputs = {}
    for alternative in alternatives(Precision.FLOAT32):
        if alternative.precision is Precision.FLOAT32:
            run = drive(make_arm(alternative, BENCH).core, work, BENCH.clock)
            outputs[alternative.name] = [(sequence.text, sequence.steps) for sequence in run.sequences]

    assert len(outputs) == 9
    assert all(output == outputs["engine"] for output in outputs.values())


@pytest.mark.parametrize("precision", Precision)
def test_the_other_precision_is_compared_with_a_reference_of_its_own(precision: Precision) -> None:
    """Every arm runs in the bench's precision but two, an engine and a reference in the other."""
    beside = [alternative for alternative in alternatives(precision) if alternative.precision is not precision]

    assert [(alternative.name, alternative.is_reference) for alternative in beside] == [
        (str(other(precision)), False),
        (f"reference_{other(precision)}", True),
    ]


def test_the_reference_rounds_where_it_is_told_to() -> None:
    """In bfloat16 its logits are near those of single precision, and not the same."""
    canvas = make_canvas_task((0,) * 8)
    row = Row(sequence=1, start=0, append=tuple(range(9, 40)), pages=(0, 1, 2), task=canvas)
    exact, rounded = (
        ReferenceRunner(BENCH.model.network, pages=4, page_size=16, precision=precision).forward([row])
        for precision in (Precision.FLOAT32, Precision.BFLOAT16)
    )

    assert rounded.dtype is torch.float32
    assert 0 < (exact - rounded).abs().max() < 0.05 * exact.abs().max()


def test_quality_is_compared_item_by_item() -> None:
    """Both precisions answer the same final questions; weights that know nothing are right in neither."""
    figures = {figure.name: figure for figure in quality_figures(BENCH, seed=2, count=12)}
    final = sum(entry.final for entry in mixed_requests(2, 12, "tiny", TOKENIZER))

    assert set(figures) == {"float32.quality", "bfloat16.quality", "bfloat16_quality_vs_float32"}
    assert {(figure.value, figure.n) for figure in figures.values()} == {(0.0, final)}


def test_the_workload_is_as_described() -> None:
    """Prompts lie in the stated range, budgets are mixed, conversations come turn by turn."""
    entries = mixed_requests(0, 200, "tiny", TOKENIZER)
    lengths = [len(TOKENIZER.encode_chat(entry.request.messages)) for entry in entries if entry.final]

    assert len(entries) == 200
    assert MIN_PROMPT <= min(lengths) <= max(lengths) <= MAX_PROMPT
    assert len({entry.request.budget for entry in entries}) == 4
    assert any(not entry.final for entry in entries)
    assert entries == mixed_requests(0, 200, "tiny", TOKENIZER)
    assert entries != mixed_requests(1, 200, "tiny", TOKENIZER)


def test_operations_count_what_is_asked_for() -> None:
    """A decode step costs its weights twice and its attention; a canvas pays its last layer where asked."""
    network = BENCH.model.network
    shape = network.shape
    weights = sum(parameter.numel() for parameter in network.blocks.parameters() if parameter.shape[-1] > 1)
    one = Row(sequence=1, start=9, append=(5,), pages=(0,), task=DecodeTask(index=0, sampling=Sampling()))
    head = 2 * shape.width * shape.vocabulary

    assert row_operations(network, one) == 2 * weights + head + 4 * 10 * shape.width * shape.layers
    all_asked, one_asked = make_canvas_task((0,) * 8), make_canvas_task((0,) * 8, asked=(3,))
    rows = [Row(sequence=1, start=0, append=(), pages=(0,), task=task) for task in (all_asked, one_asked)]
    assert row_operations(network, rows[0]) - row_operations(network, rows[1]) > 7 * head


@pytest.mark.slow
def test_a_quick_run_reports_every_target() -> None:
    """The bench runs end to end and leaks no page; quick rounds are too few for intervals."""
    report = run_engine_bench(BENCH, seed=0, quick=True, progress=lambda _stage, _share: None)
    targets = {entry.name: entry for entry in report.must_reach}

    assert targets["page_pool_growth"].holds
    assert targets["requests_per_s_vs_reference"].bound is None
    assert {record.arm for record in report.records} >= {"engine", "lockstep", "reference", "autoregressive"}
    figures = {figure.name for figure in report.figures}
    assert figures >= {"bfloat16_requests_per_s_vs_float32", "bfloat16_quality_vs_float32"}
