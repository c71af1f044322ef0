"""Exits over random requests: what a control run notes, and that noting changes nothing."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.workload import ALONE, Case, alone, cases, draw_plan, draw_submission, is_of_even_length, run
from unmask.policy.exit_replay import replay
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.service import Batching
from unmask.testing.cores import make_core, make_engine, run_all
from unmask.testing.exits import make_plan, make_rule
from unmask.testing.networks import TINY_ADAPTER, make_network
from unmask.testing.submissions import make_submission
from unmask.types import ExitAction, ExitPlan, ExitReason, ExitRule, Mode, Outcome, ProgressSignal, StepTrace

NETWORK = make_network()
MASK = TINY_ADAPTER.mask


def bare(sequence: Sequence) -> tuple[object, ...]:
    """Return what a client sees of an ended sequence, its exits aside; a trace without its progress."""
    trace = [replace(entry, progress=None) for entry in sequence.trace]
    logprobs = [token.fixed for token in sequence.logprobs]
    return (
        *(sequence.outcome, sequence.finish_reason, sequence.exit_reason, sequence.output, sequence.text),
        *(sequence.steps, sequence.canvases, trace, logprobs),
    )


def with_plan(submission: Submission, plan: ExitPlan | None) -> Submission:
    """Return a request with another plan; decoding has none."""
    return replace(submission, exit=None if submission.mode is Mode.AUTOREGRESSIVE else plan)


def drawn(seed: int) -> Submission:
    """Return a random request whose drafts are judged, denoised and traced."""
    rng = Random(seed)
    while True:
        submission = draw_submission(rng)
        if submission.mode is Mode.DIFFUSION:
            return replace(submission, trace=True, check=is_of_even_length, exit=draw_plan(rng))


def observed(submission: Submission) -> Submission:
    """Return a request as a control run."""
    assert submission.exit is not None
    return replace(submission, exit=replace(submission.exit, action=ExitAction.OBSERVE))


@settings(max_examples=12)
@given(cases(), st.integers(0, 2**32))
def test_observing_changes_no_token(case: Case, seed: int) -> None:
    """Bit for bit: a request that only notes its exits ends like one that has no exit rule at all."""
    arrived, way = case
    rng = Random(seed)
    plans = [replace(draw_plan(rng), action=ExitAction.OBSERVE) for _ in arrived]
    noting, plain = (
        run(
            NETWORK,
            [
                replace(one, submission=with_plan(one.submission, plan if wish else None))
                for one, plan in zip(arrived, plans, strict=True)
            ],
            way,
        )
        for wish in (True, False)
    )

    assert list(map(bare, noting.sequences)) == list(map(bare, plain.sequences))
    assert not any(sequence.exited for sequence in noting.sequences)
    assert noting.runner.logits.keys() == plain.runner.logits.keys()


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_a_trace_tells_what_any_rule_would_have_noted(seed: int) -> None:
    """Replaying a rule over a trace gives the steps and text that its control run gives."""
    submission = observed(drawn(seed))
    assert submission.exit is not None
    (sequence,) = alone(NETWORK, submission).sequences
    found = replay(submission.exit.rule, tuple(sequence.trace), stop=submission.stop)
    control = sequence.control

    assert (None if found is None else (found.steps, found.text)) == (
        None if control is None else (control.steps, control.text)
    )


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_a_request_of_one_canvas_stops_where_its_control_run_says(seed: int) -> None:
    """Same steps, same text; and where nothing was noted nothing stops."""
    submission = drawn(seed)
    submission = replace(submission, max_tokens=min(submission.max_tokens, submission.canvas_length))
    assert submission.exit is not None
    stopping = replace(submission, exit=replace(submission.exit, action=ExitAction.STOP))
    (stopped,) = alone(NETWORK, stopping).sequences
    (noting,) = alone(NETWORK, observed(submission)).sequences
    control = noting.control

    assert stopped.exited == (control is not None)
    expected = noting if control is None else control
    assert (stopped.output, stopped.text, stopped.steps) == (expected.output, expected.text, expected.steps)
    assert stopped.outcome is Outcome.COMPLETED
    assert MASK not in stopped.output


@pytest.mark.parametrize("seed", range(6))
def test_a_trace_measures_what_serving_measures(seed: int) -> None:
    """Signals that only a rule asks for are those that a trace has: tracing moves no exit."""
    submission = replace(drawn(seed), trace=False)
    (plain,) = alone(NETWORK, submission).sequences
    (traced,) = alone(NETWORK, replace(submission, trace=True)).sequences

    assert replace(plain, id=0).output == traced.output
    assert (plain.exited, plain.exit_reason, plain.steps) == (traced.exited, traced.exit_reason, traced.steps)


def both_ways(rule: ExitRule, *, max_steps: int = 12) -> list[Sequence]:
    """Run one canvas with a rule and without."""
    way = replace(ALONE, max_rows=2, pages=32)
    submission = make_submission((3, 4, 5), max_tokens=16, canvas_length=16, max_steps=max_steps, trace=True)
    return run_all(
        make_core(make_engine(NETWORK, way), way),
        [replace(submission, exit=make_plan(ExitAction.STOP, rule)), submission],
    )


def test_an_exit_fills_the_canvas_in_its_own_tick() -> None:
    """The answer is the draft of the step that met the rule, closed; the trace ends there, and the reason says so."""
    stopped, full = both_ways(make_rule(flips=1.0, confidence=0.0, min_steps=3))

    assert (stopped.steps, stopped.exit_reason, stopped.exited) == (3, ExitReason.EARLY_EXIT, True)
    drafts: list[StepTrace] = full.trace
    assert drafts[2].draft[: len(stopped.output)] == tuple(stopped.output)
    assert [entry.draft for entry in stopped.trace] == [entry.draft for entry in drafts[:3]]
    assert stopped.trace[-1].fixed == (True,) * 16
    assert full.steps > 3


@pytest.mark.parametrize(("patience", "min_steps", "steps"), [(1, 1, 2), (3, 1, 4), (1, 5, 5), (2, 2, 3)])
def test_patience_and_fewest_steps_are_kept(patience: int, min_steps: int, steps: int) -> None:
    """A rule on change is first met at the second step, and then in a row."""
    stopped, _ = both_ways(make_rule(flips=1.0, confidence=0.0, patience=patience, min_steps=min_steps))

    assert stopped.steps == steps


@pytest.mark.parametrize("steps", [1, 2])
def test_the_last_step_is_no_exit(steps: int) -> None:
    """A rule that is met when nothing is left to save says nothing: the reason is the budget."""
    stopped, _ = both_ways(make_rule(flips=1.0, confidence=0.0, min_steps=2), max_steps=steps)

    assert (stopped.steps, stopped.exit_reason, stopped.exited) == (steps, ExitReason.MAX_STEPS, False)


def test_an_aligned_batch_lets_go_of_a_canvas_that_stopped() -> None:
    """A row that stopped early waits like one that converged, and its request ends with the same text."""
    way = SchedSettings(pages=32, page_size=8, max_rows=2, batching=Batching.ALIGNED)
    plan = make_plan(rule=make_rule(flips=1.0, confidence=0.0))
    submissions = [
        make_submission((3, 4, 5), max_tokens=24, max_steps=6, exit=plan),
        make_submission((6, 7, 8), max_tokens=24, max_steps=6),
    ]
    together = run_all(make_core(make_engine(NETWORK, way), way), submissions)

    for sequence, submission in zip(together, submissions, strict=True):
        assert bare(sequence) == bare(*alone(NETWORK, submission).sequences)


def test_all_signals_are_told_in_a_trace_and_no_format_without_a_check() -> None:
    """At a first step changes are unknown; afterwards every signal of logits has a value as long as any is open."""
    _, full = both_ways(make_rule())
    first, second = full.trace[0].progress, full.trace[1].progress
    assert first is not None
    assert second is not None

    assert {signal for signal in ProgressSignal if first[signal] is None} == {
        ProgressSignal.FLIPS,
        ProgressSignal.KL,
        ProgressSignal.FORMAT,
    }
    assert {signal for signal in ProgressSignal if second[signal] is None} == {ProgressSignal.FORMAT}
    assert full.trace[-1].progress is not None
    assert full.trace[-1].progress.filled == 0
