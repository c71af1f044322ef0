"""The engine's five laws, over random requests run in random ways."""

from dataclasses import replace
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.core.workload import ALONE, Arrival, Case, Run, alone, cases, draw_arrivals, is_of_one_line, run
from unmask.core.core import Core
from unmask.errors import ContextLengthError
from unmask.plan import CanvasResult, CanvasTask, DecodeTask, SpeculativeResult, SpeculativeTask, TokenResult
from unmask.sched.admission import pages_needed
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.strategy import StrategyName
from unmask.testing.cores import make_core, make_engine, run_all
from unmask.testing.learned import make_choice
from unmask.testing.listeners import RecordingListener
from unmask.testing.networks import TINY_ADAPTER, make_network
from unmask.testing.submissions import make_submission
from unmask.types import ExitReason, FinishReason, Outcome, Sampling

NETWORK = make_network()
TOLERANCE = 1e-5


def essence(sequence: Sequence) -> tuple[object, ...]:
    """Return what a client could see of an ended sequence, its timing and cache hits aside."""
    traced = [
        (entry.canvas, entry.step, entry.max_steps, entry.draft, entry.fixed, entry.progress)
        for entry in sequence.trace
    ]
    control = sequence.control
    return (
        *(sequence.exited, control and (control.steps, control.output, control.text)),
        *(sequence.outcome, sequence.finish_reason, sequence.exit_reason),
        *(sequence.output, sequence.text, sequence.steps, sequence.canvases, traced),
    )


def likelihoods(sequence: Sequence) -> Tensor:
    """Return every log-probability of a sequence in one line: each output token's, then those of its alternatives."""
    return torch.tensor(
        [said.logprob for token in sequence.logprobs for said in (token.fixed.chosen, *token.fixed.top)]
    )


def worked_out(done: Run, index: int) -> Tensor:
    """Return the log-probabilities of a request's text, from the logits of the last step to fix each token."""
    sequence, logits = done.sequences[index], done.logits(index)
    said: dict[tuple[int, int], float] = {}
    for step in done.engine.steps:
        task, result = step.row.task, step.result
        if step.row.sequence != done.ids[index]:
            continue
        if isinstance(task, DecodeTask) and isinstance(result, TokenResult):
            said[task.index, 0] = float(undisturbed(logits[-1, task.index])[0, result.token])
        if isinstance(task, SpeculativeTask) and isinstance(result, SpeculativeResult):
            logs = undisturbed(logits[-1, task.index])
            said |= {(task.index + place, 0): float(logs[place, token]) for place, token in enumerate(result.tokens)}
        if isinstance(task, CanvasTask) and isinstance(result, CanvasResult):
            logs = undisturbed(logits[task.index, task.step])
            tokens = filled(done, index, task, result)
            for row, place in enumerate(task.asked):
                if task.tokens[place] == TINY_ADAPTER.mask or task.step == 0:
                    said[task.index, place] = float(logs[row, tokens[place]])
    text = sum(token != TINY_ADAPTER.end for token in sequence.output)
    return torch.tensor([said[key] for key in sorted(said)][:text])


def filled(done: Run, index: int, task: CanvasTask, result: CanvasResult) -> tuple[int, ...]:
    """Return a canvas after a step: as the engine left it, or as its exit filled it if the step was its last."""
    later = (task.index, task.step + 1) in done.logits(index)
    if later or result.finished or result.offer is None:
        return result.tokens
    return result.offer.tokens


def undisturbed(logits: Tensor) -> Tensor:
    """Return the distribution over what may be drawn."""
    return logits.index_fill(-1, torch.tensor(TINY_ADAPTER.forbidden), -float("inf")).log_softmax(-1)


# Law 1: the same tokens whatever the peers, padding, page layout, chunk size or arrival order.


@given(cases())
def test_tokens_and_logits_do_not_depend_on_company(case: Case) -> None:
    """Every request ends as it does alone, uncached, unchunked and unfused, and no logit is off by more than 1e-5."""
    arrived, way = case
    together = run(NETWORK, arrived, way)
    for index, sequence in enumerate(together.sequences):
        if sequence.outcome is Outcome.ABORTED:
            continue
        expected = alone(NETWORK, arrived[index].submission)
        assert essence(sequence) == essence(*expected.sequences)
        found = together.logits(index)
        assert found.keys() == expected.logits(0).keys()
        for key, logits in expected.logits(0).items():
            assert torch.allclose(logits, found[key], rtol=0, atol=TOLERANCE)
        told = likelihoods(*expected.sequences)
        assert torch.allclose(likelihoods(sequence), told, rtol=0, atol=TOLERANCE)


@settings(max_examples=15)
@given(cases(), st.integers(0, 20))
def test_asking_for_log_probabilities_changes_nothing_else(case: Case, count: int) -> None:
    """Where everybody asks, all ends as where nobody does; and each log-probability is that of the fixing step."""
    arrived, way = case
    plain, asking = (
        run(NETWORK, [replace(one, submission=replace(one.submission, top_logprobs=wish)) for one in arrived], way)
        for wish in (None, count)
    )

    assert list(map(essence, asking.sequences)) == list(map(essence, plain.sequences))
    assert not any(sequence.logprobs for sequence in plain.sequences)
    for index, sequence in enumerate(asking.sequences):
        if sequence.outcome is Outcome.ABORTED:
            continue
        told = torch.tensor([token.fixed.chosen.logprob for token in sequence.logprobs])
        assert torch.allclose(told, worked_out(asking, index), rtol=0, atol=TOLERANCE)
        assert [token.fixed.chosen.token for token in sequence.logprobs] == [
            token for token in sequence.output if token != TINY_ADAPTER.end
        ]
        for token in sequence.logprobs:
            ranked = [-said.logprob for said in token.fixed.top]
            assert len(ranked) == count
            assert ranked == sorted(ranked)


# Law 2: the budget is hard, and no mask is left in a canvas that ends.


@settings(max_examples=30)
@given(cases())
def test_the_budget_is_hard(case: Case) -> None:
    """No canvas takes more than ``max_steps``, no request more than its total, and no output holds a mask."""
    arrived, way = case
    done = run(NETWORK, arrived, way)
    for index, sequence in enumerate(done.sequences):
        budget = sequence.submission.budget
        taken: dict[int, int] = {}
        for step in done.engine.steps:
            task, result = step.row.task, step.result
            if step.row.sequence != done.ids[index] or not isinstance(task, CanvasTask):
                continue
            taken[task.index] = taken.get(task.index, 0) + 1
            assert isinstance(result, CanvasResult)
            assert result.finished == (TINY_ADAPTER.mask not in result.tokens)
            assert len(result.tokens) == len(task.tokens)
        assert max(taken.values(), default=0) <= budget.max_steps
        assert sequence.steps <= (budget.max_total_steps or 0)
        assert sequence.submission.mode.is_causal or sequence.steps == sum(taken.values())
        assert TINY_ADAPTER.mask not in sequence.output
        assert len(sequence.output) <= sequence.submission.max_tokens


@pytest.mark.parametrize("name", StrategyName)
@pytest.mark.parametrize("threshold", [None, 0.0, 0.5, 100.0])
def test_every_strategy_keeps_the_budget(name: StrategyName, threshold: float | None) -> None:
    """Whatever its threshold, a strategy ends every canvas within its steps."""
    choice = make_choice(name, threshold)
    way = replace(ALONE, max_rows=8, pages=128)
    submissions = [
        make_submission((3, 4, 5), max_tokens=20, max_steps=steps, strategy=choice) for steps in (1, 2, 3, 5, 8, 20)
    ]
    for sequence in run_all(make_core(make_engine(NETWORK, way), way), submissions):
        assert sequence.outcome is Outcome.COMPLETED
        assert sequence.steps <= 3 * sequence.submission.budget.max_steps
        assert TINY_ADAPTER.mask not in sequence.output


# Law 3: every sequence ends in exactly one outcome, its pages returned, within one tick of an abort.


@settings(max_examples=30)
@given(cases())
def test_every_sequence_ends_once_and_returns_its_pages(case: Case) -> None:
    """One outcome, told once; no page in use afterwards; an abort takes effect in the next tick."""
    arrived, way = case
    done = run(NETWORK, arrived, way)

    assert [len(listener.endings) for listener in done.listeners] == [1] * len(arrived)
    assert done.late_aborts == []
    for arrival, sequence in zip(arrived, done.sequences, strict=True):
        expected = {Outcome.COMPLETED} if arrival.aborted_at is None else {Outcome.COMPLETED, Outcome.ABORTED}
        assert sequence.outcome in expected
        assert (sequence.finish_reason is None) == (sequence.outcome is Outcome.ABORTED)
        assert sequence.pages == []
        if sequence.outcome is Outcome.COMPLETED:
            assert sequence.prefill_tokens + sequence.cached_tokens == len(arrival.submission.prompt)
    pool = done.core.batcher.pool
    assert (pool.used, sum(pool._references)) == (0, 0)


@pytest.mark.parametrize("fused", [True, False])
def test_an_abort_at_any_point_of_a_life_harms_nobody(fused: bool) -> None:
    """Before each tick in turn one of two requests is aborted; the other is served as if it had been alone."""
    way = SchedSettings(pages=40, page_size=8, prefill_tokens=16, max_rows=2, fused_prefill=fused, fused_commit=fused)
    long = make_submission(tuple(range(2, 42)), max_tokens=24, max_steps=3, snapshots=True)
    other = make_submission(tuple(range(2, 40)), max_tokens=16, max_steps=3, sampling=Sampling(temperature=1.0))
    (expected,) = alone(NETWORK, other).sequences
    last = 0
    for tick in range(40):
        done = run(
            NETWORK,
            [Arrival(submission=long, tick=0, aborted_at=tick), Arrival(submission=other, tick=1, aborted_at=None)],
            way,
        )
        aborted, served = done.sequences
        assert essence(served) == essence(expected)
        assert done.core.batcher.pool.used == 0
        if aborted.outcome is Outcome.COMPLETED:
            break
        assert done.late_aborts == []
        last = tick

    # Two whole chunks and the last one, then steps in every canvas: there were many points to abort at.
    assert 6 < last < 39


# Law 4: no out-of-memory. What cannot run yet waits, what can never run is refused, what runs is not dropped.


@settings(max_examples=30)
@given(cases())
def test_memory_never_runs_out(case: Case) -> None:
    """At every tick what runs owns the pages of its worst case, and requests of one line start as they came."""
    arrived, way = case
    classes = {arrival.submission.terms.name for arrival in arrived}
    # A class starts beyond the rows no more than its part, and others pause.
    most = way.max_rows if len(classes) == 1 else 2 * way.max_rows + len(classes)

    def check(core: Core) -> None:
        running = core.batcher.running.values()
        assert len(running) <= most
        held = {page for sequence in running for page in sequence.pages}
        assert core.batcher.pool.used == len(held)
        for sequence in running:
            assert len(sequence.pages) == pages_needed(sequence.submission, way.page_size)
            canvas = 0 if sequence.canvas is None else len(sequence.canvas.tokens)
            assert sequence.committed + len(sequence.pending) + canvas <= len(sequence.pages) * way.page_size

    done = run(NETWORK, arrived, way, check)
    first_steps = [step.row.sequence for step in done.engine.steps]
    begun = list(dict.fromkeys(first_steps))
    assert way.chunked_prefill or not is_of_one_line(arrived) or begun == sorted(begun)


def test_what_can_never_fit_is_refused_and_nothing_else() -> None:
    """A request one token too large is a typed error at once; the one that just fits waits its turn and runs."""
    way = SchedSettings(pages=4, page_size=8, max_rows=4)
    core = make_core(make_engine(NETWORK, way), way)
    exact = make_submission(tuple(range(2, 26)), max_tokens=8)
    with pytest.raises(ContextLengthError):
        core.submit(make_submission(tuple(range(2, 27)), max_tokens=8), RecordingListener())
    sequences = run_all(core, [make_submission((3,)), exact, exact, make_submission((4,))])

    assert {sequence.outcome for sequence in sequences} == {Outcome.COMPLETED}


# Law 5: seeds reproduce, alone or in a batch.


def drawn(seed: int, temperature: float = 1.0) -> Submission:
    """Return a request that draws its tokens."""
    sampling = Sampling(temperature=temperature, seed=seed)
    return make_submission((9, 8, 7), max_tokens=32, canvas_length=16, max_steps=8, sampling=sampling)


def test_seeds_reproduce_and_differ() -> None:
    """A seed gives the same tokens alone, in a batch and twice in one batch; other seeds give others."""
    way = SchedSettings(pages=64, page_size=16)
    batch = run_all(make_core(make_engine(NETWORK, way), way), [drawn(seed) for seed in (1, 2, 3, 1, 2**64 - 1, -5)])
    outputs = [sequence.output for sequence in batch]

    assert [alone(NETWORK, drawn(seed)).sequences[0].output for seed in (1, 2, 3)] == outputs[:3]
    assert outputs[0] == outputs[3]
    assert len({tuple(output) for output in outputs}) == 5


def test_seeds_do_not_matter_without_a_temperature() -> None:
    """At temperature 0 the likeliest token is taken, whatever the seed."""
    first, second = (alone(NETWORK, drawn(seed, 0.0)).sequences[0] for seed in (1, 2))

    assert first.output == second.output


def test_the_workload_reaches_what_it_should() -> None:
    """Among the random requests are all kinds of ends, texts of several canvases, and prompts found in the cache."""
    way = SchedSettings(pages=200, page_size=8, max_rows=6)
    ended = [sequence for seed in range(8) for sequence in run(NETWORK, draw_arrivals(Random(seed), 6), way).sequences]

    assert {sequence.exit_reason for sequence in ended} == set(ExitReason) - {ExitReason.FAILED, ExitReason.COMPLETE}
    assert {sequence.finish_reason for sequence in ended} == {None, *FinishReason}
    assert {sequence.canvases for sequence in ended} >= {0, 1, 2, 3}
    assert {sequence.submission.strategy.name for sequence in ended} == set(StrategyName)
    assert any(sequence.cached_tokens for sequence in ended)
    assert any(sequence.control is not None for sequence in ended)
    assert any(sequence.exited for sequence in ended)
