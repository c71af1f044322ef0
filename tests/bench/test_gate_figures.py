"""Behaviour of `unmask.bench.gate_figures` and `unmask.bench.gate_targets`, on answers written down."""

from collections.abc import Sequence

import numpy as np
import pytest

from unmask.bench.gate_figures import (
    arm_figures,
    density,
    difference,
    mode_differences,
    quotient,
    stage_differences,
    stage_figures,
)
from unmask.bench.gate_journal import Arm
from unmask.bench.gate_marks import QUALITIES, ArmMarks, Prompts
from unmask.bench.gate_stages import Stage
from unmask.bench.gate_targets import BASELINE, OURS, judge, less_hallucination
from unmask.bench.modes import BOTH_MODES
from unmask.bench.report import Figure, MustReach, Op
from unmask.knowledge.measures import QueryMeasures
from unmask.stats import Interval, NotEnoughData

CLUSTERS = [f"c{number:02d}" for number in range(40)]
LATENCY = Figure(name="ar_p50_vs_diffusion", value=2.5, low=2.1, high=3.0)
LOAD = MustReach(name="ar_speed_vs_bare_loop", value=0.95, bound=0.93, op=Op.AT_LEAST, target=0.9)


def make_prompts(injected: int, signal: int, needed: int = 6) -> dict[str, Prompts]:
    """Return clusters of three questions each; every other one has a fact more."""
    return {
        cluster: Prompts(
            questions=3,
            counts=QueryMeasures(
                injected=injected + number % 2, signal=signal, needed=needed, entities=4, covered=min(4, signal)
            ),
        )
        for number, cluster in enumerate(CLUSTERS)
    }


def make_marks(arm: Arm, precision: float, hallucination: float) -> ArmMarks:
    """Return answers of which some clusters lie a tenth off."""
    off = np.where(np.arange(len(CLUSTERS)) % 4 == 0, 0.1, 0.0)
    means = {name: dict.fromkeys(CLUSTERS, 0.5) for name in QUALITIES}
    means["factual_precision"] = dict(zip(CLUSTERS, (precision - off).tolist(), strict=True))
    means["hallucination"] = dict(zip(CLUSTERS, (hallucination + off).tolist(), strict=True))
    return ArmMarks(arm=arm, means=means, steps=8 + off, seconds=0.1 + off, records=())


def make_marked(precisions: Sequence[float] = (0.7, 0.8, 0.9, 0.95)) -> dict[Arm, ArmMarks]:
    """Return all arms; both modes are as good as one another."""
    return {
        arm: make_marks(arm, precision, 0.9 - precision * 0.9)
        for stage, precision in zip(Stage, precisions, strict=True)
        for arm in (Arm(stage=stage, mode=mode) for mode in BOTH_MODES)
    }


PROMPTS = {
    Stage.NAIVE: make_prompts(150, 6),
    Stage.TYPED: make_prompts(6, 4),
    Stage.HYBRID: make_prompts(9, 5),
    Stage.COMPLETED: make_prompts(11, 6),
}


def figures(marked: dict[Arm, ArmMarks]) -> dict[str, Figure]:
    """Return all figures by name."""
    found = [
        *(figure for stage in Stage for figure in stage_figures(stage, PROMPTS[stage], 0)),
        *(figure for marks in marked.values() for figure in arm_figures(marks, 0)),
        *mode_differences(marked, 0),
        *stage_differences(marked, 0),
    ]
    assert len({figure.name for figure in found}) == len(found)
    return {figure.name: figure for figure in found}


def test_a_cluster_is_one_value() -> None:
    """Each figure rests on clusters, and its interval holds its value."""
    found = figures(make_marked())

    assert {figure.n for figure in found.values()} == {len(CLUSTERS)}
    for figure in found.values():
        if figure.low is not None and figure.high is not None:
            assert figure.low <= figure.value <= figure.high
    precision = found["completed.diffusion.factual_precision"]
    assert precision.value == pytest.approx(0.925)
    assert found["completed.injected_facts"].value == pytest.approx(11.5 / 3)
    assert found["completed.signal_density"].value == pytest.approx(6 / 11.5)
    assert found["hybrid.needed_fact_recall"].value == pytest.approx(5 / 6)
    assert found["completed.autoregressive.latency_p50"].value == pytest.approx(0.1)


def test_what_is_always_there_has_no_certain_recall() -> None:
    """Forty clusters without a miss do not show that there is none."""
    recall = figures(make_marked())["completed.needed_fact_recall"]

    assert recall.value == 1
    assert recall.low is not None
    assert 0.8 < recall.low < 1


def test_differences_go_cluster_by_cluster() -> None:
    """What both share is no uncertainty; clusters that one lacks are left out."""
    left = {"a": 0.9, "b": 0.4, "c": 1.0, **{f"d{number}": number / 20 for number in range(20)}}
    right = {name: value - 0.1 for name, value in left.items() if name != "c"}
    found = difference("d", left, right, 0)

    assert found.value == pytest.approx(0.1)
    assert found.n == 22
    assert found.low is None or found.low > 0
    stages = figures(make_marked())
    assert stages["hybrid_vs_typed.diffusion.factual_precision"].value == pytest.approx(0.1)


def test_quotient_has_the_worst_ends() -> None:
    """And none where what is divided by may be zero, or where there is no interval."""
    top, bottom = Interval(estimate=4, low=3, high=5), Interval(estimate=2, low=1, high=4)

    assert quotient(top, bottom) == Interval(estimate=2, low=0.75, high=5)
    assert isinstance(quotient(top, Interval(estimate=2, low=0, high=4)), NotEnoughData)
    missing = NotEnoughData(n=0, reason="nothing")
    assert quotient(missing, top) == quotient(top, missing) == missing


def test_every_target_is_judged_by_its_unfavourable_end() -> None:
    """Six of them, each with the end that speaks against it."""
    found = figures(make_marked())
    further, targets = judge(list(found.values()), PROMPTS, LATENCY, (LOAD,), 0)
    by_name = {entry.name: entry for entry in targets}
    named = {figure.name: figure for figure in further}

    assert [(entry.name, entry.op, entry.target) for entry in targets] == [
        ("signal_density_vs_naive", Op.AT_LEAST, 5.0),
        ("needed_fact_recall", Op.AT_LEAST, 0.97),
        ("hallucination_naive_lower_minus_ours_upper", Op.ABOVE, 0.0),
        ("ar_p50_vs_diffusion", Op.AT_LEAST, 2.0),
        ("ar_speed_vs_bare_loop", Op.AT_LEAST, 0.9),
        ("precision_diff_lower_bound", Op.AT_LEAST, -0.02),
    ]
    assert by_name["signal_density_vs_naive"].value == pytest.approx((6 / 11.5) / (6 / 150.5))
    assert by_name["signal_density_vs_naive"].bound == named["signal_density_vs_naive"].low
    assert by_name["needed_fact_recall"].bound == found["completed.needed_fact_recall"].low
    assert by_name["precision_diff_lower_bound"].value == pytest.approx(0)
    naive, ours = (found[f"{arm.name}.hallucination"] for arm in (BASELINE, OURS))
    assert naive.low is not None
    assert ours.high is not None
    assert by_name["hallucination_naive_lower_minus_ours_upper"].bound == naive.low - ours.high


def test_without_an_interval_no_target_is_met() -> None:
    """Hallucination has no bound where one of the two ends is missing."""
    bare = {
        f"{BASELINE.name}.hallucination": Figure(name="naive", value=0.3),
        f"{OURS.name}.hallucination": Figure(name="ours", value=0.1, low=0.0, high=0.2),
    }

    assert less_hallucination(bare).low is None
    assert isinstance(density(dict(list(PROMPTS[Stage.NAIVE].items())[:3]), 0), NotEnoughData)
