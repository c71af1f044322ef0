"""Speculative decoding writes what autoregressive decoding writes, in fewer steps."""

from dataclasses import replace
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.workload import ALONE, cases, draw_prompt
from unmask.engine.engine import Engine
from unmask.engine.runner import RowRunner
from unmask.engine.weights import load_weights, packaged_weights
from unmask.local.model import serve_model
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.testing.cores import make_core, make_engine, run_all
from unmask.testing.listeners import RecordingListener
from unmask.testing.manual_clock import ManualClock
from unmask.testing.networks import TINY_ADAPTER, TINY_SHAPE, make_network
from unmask.testing.submissions import make_submission
from unmask.testing.table_runner import TableRunner
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import ExitReason, FinishReason, Message, Mode, Outcome, Role

NETWORK = make_network(sharpness=12.0)
"""So sure that it drafts much, and is accepted now and then."""
WAY = SchedSettings(pages=64, page_size=8, max_rows=4)
CYCLE = tuple((token + 1) % TINY_SHAPE.vocabulary if token + 1 < TINY_SHAPE.vocabulary else 2 for token in range(64))
"""A language that counts, without an end."""


def causal(submission: Submission, mode: Mode) -> Submission:
    """Return a request in a mode, with as many steps as it may have tokens."""
    budget = replace(submission.budget, max_total_steps=submission.max_tokens)
    return replace(submission, mode=mode, budget=budget)


def answer(sequence: Sequence) -> tuple[object, ...]:
    """Return what a client could see of an answer, its steps aside."""
    return sequence.outcome, sequence.finish_reason, sequence.exit_reason, sequence.output, sequence.text


def effort(sequence: Sequence) -> tuple[int, ...]:
    """Return what an answer took."""
    return sequence.steps, sequence.drafted, sequence.accepted


def scores(sequence: Sequence) -> torch.Tensor:
    """Return every log-probability in one line."""
    return torch.tensor([said.logprob for one in sequence.logprobs for said in (one.fixed.chosen, *one.fixed.top)])


def both(engine: Engine, way: SchedSettings, submissions: list[Submission]) -> tuple[list[Sequence], list[Sequence]]:
    """Run requests autoregressively, then speculatively on a core of their own."""
    return (
        run_all(make_core(engine, way), [causal(one, Mode.AUTOREGRESSIVE) for one in submissions]),
        run_all(make_core(engine, way), [causal(one, Mode.SPECULATIVE) for one in submissions]),
    )


def speak(runner: RowRunner, submission: Submission, way: SchedSettings = WAY) -> Sequence:
    """Run one request speculatively on a runner."""
    (sequence,) = run_all(make_core(Engine(runner, TINY_ADAPTER), way), [causal(submission, Mode.SPECULATIVE)])
    return sequence


@st.composite
def requests(draw: st.DrawFn) -> Submission:
    """Draw a request that can be decoded."""
    prompt = draw_prompt(Random(draw(st.integers(0, 2**32))))
    return make_submission(
        prompt,
        max_tokens=draw(st.integers(1, min(24, TINY_SHAPE.context_length - len(prompt)))),
        canvas_length=draw(st.sampled_from(TINY_SHAPE.canvas_lengths)),
        stop=draw(st.sampled_from(((), ("%",), ("')", "0")))),
        top_logprobs=draw(st.sampled_from((None, 0, 3))),
    )


@settings(max_examples=8)
@given(st.lists(requests(), min_size=1, max_size=4), cases())
def test_the_answer_is_the_autoregressive_one_whatever_is_rejected(
    submissions: list[Submission], case: tuple[object, SchedSettings]
) -> None:
    """Tokens, text and ends are equal, log-probabilities within 1e-5; and company does not change what is drafted."""
    way = replace(case[1], pages=400)
    engine = make_engine(NETWORK, way)
    plain, drafted = both(engine, way, submissions)
    alone = [sequence for one in submissions for sequence in both(make_engine(NETWORK, ALONE), ALONE, [one])[1]]

    assert list(map(answer, drafted)) == list(map(answer, plain))
    assert list(map(effort, drafted)) == list(map(effort, alone))
    for one, other in zip(drafted, plain, strict=True):
        assert torch.allclose(scores(one), scores(other), rtol=0, atol=1e-5)
        assert one.steps <= other.steps


@settings(max_examples=30)
@given(
    st.lists(st.integers(1, 63), min_size=64, max_size=64),
    st.lists(requests(), min_size=1, max_size=4),
    st.sets(st.integers(0, 255)),
    st.sets(st.integers(0, 255)),
)
def test_the_answer_is_the_autoregressive_one_whatever_is_accepted(
    following: list[int], submissions: list[Submission], wrong: set[int], unsure: set[int]
) -> None:
    """Answers are equal wherever a drafter errs or is unsure; each step writes what it accepts and one token more."""
    way = replace(WAY, pages=400)
    plain, drafted = both(Engine(TableRunner(following, wrong=wrong, unsure=unsure), TINY_ADAPTER), way, submissions)

    assert list(map(answer, drafted)) == list(map(answer, plain))
    for one, other in zip(drafted, plain, strict=True):
        assert one.steps + one.accepted >= len(other.output)
        assert one.accepted <= one.drafted
        assert one.committed <= len(one.submission.prompt) + len(one.output)


def test_a_drafter_that_never_errs_saves_most_steps() -> None:
    """Of a canvas of eight, seven tokens are drafted and accepted: eight tokens a step, after the one of the prompt."""
    sequence = speak(TableRunner(CYCLE), make_submission(max_tokens=33))

    assert len(sequence.output) == 33
    assert (sequence.steps, sequence.drafted, sequence.accepted) == (5, 28, 28)
    assert (sequence.prefill_tokens, sequence.commit_tokens) == (3, 32)
    assert (sequence.finish_reason, sequence.exit_reason) == (FinishReason.LENGTH, ExitReason.MAX_TOTAL_STEPS)


def test_after_a_rejection_a_step_only_drafts() -> None:
    """What a canvas drafted behind a wrong token is not used: the next step appends one token, and drafts anew."""
    runner = TableRunner(CYCLE, wrong={6})
    sequence = speak(runner, make_submission(max_tokens=12))

    # Prompt at 0 to 2, the first token drawn at 3, drafts at 4 to 10, of which the third is wrong.
    assert [(row.start, len(row.append)) for row in runner.rows] == [(0, 3), (3, 8), (6, 1), (7, 7)]
    assert (sequence.drafted, sequence.accepted) == (7 + 6, 2 + 6)


def test_nothing_unsure_is_drafted() -> None:
    """A draft ends before the first token that its canvas is not sure of."""
    runner = TableRunner(CYCLE, unsure={6})
    speak(runner, make_submission(max_tokens=12))

    assert [len(row.append) for row in runner.rows][:2] == [3, 3]


def test_nothing_is_drafted_behind_an_end() -> None:
    """A draft goes up to the end token, which ends the answer when it is accepted."""
    runner = TableRunner((*CYCLE[:9], TINY_ADAPTER.end, *CYCLE[10:]))
    sequence = speak(runner, make_submission(max_tokens=30))

    assert sequence.output == [8, 9, TINY_ADAPTER.end]
    assert (sequence.steps, sequence.drafted, sequence.accepted) == (2, 2, 2)
    assert sequence.exit_reason is ExitReason.CONVERGED


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_total_is_hard(steps: int) -> None:
    """With the total spent the answer is cut; the last step drafts nothing that nobody would verify."""
    runner = TableRunner(CYCLE)
    budget = replace(make_submission().budget, max_total_steps=steps)
    submission = replace(make_submission(max_tokens=40, mode=Mode.SPECULATIVE), budget=budget)
    (sequence,) = run_all(make_core(Engine(runner, TINY_ADAPTER), WAY), [submission])

    assert sequence.steps == steps == len(runner.rows)
    assert len(sequence.output) == 1 + 8 * (steps - 1)
    assert sequence.exit_reason is ExitReason.MAX_TOTAL_STEPS
    assert runner.rows[-1].tokens == len(runner.rows[-1].append)


def test_an_abort_returns_the_pages_of_a_draft() -> None:
    """Aborted between a draft and its verification a request ends in the next tick and holds nothing."""
    core = make_core(make_engine(NETWORK, WAY), WAY)
    listener = RecordingListener()
    number = core.submit(causal(make_submission(max_tokens=40), Mode.SPECULATIVE), listener)
    core.tick()
    core.abort(number)
    core.tick()

    assert listener.endings[0].outcome is Outcome.ABORTED
    assert core.batcher.pool.used == 0


def test_pages_of_a_speculative_answer_serve_later_prompts() -> None:
    """What a draft was rejected for is not in the prefix cache: a prompt that repeats the answer goes on the same."""
    engine = make_engine(NETWORK, WAY)
    core = make_core(engine, WAY)
    (first,) = run_all(core, [causal(make_submission((5, 6, 7), max_tokens=40), Mode.SPECULATIVE)])
    again = causal(make_submission((5, 6, 7, *first.output[:30]), max_tokens=10), Mode.AUTOREGRESSIVE)
    (cached,) = run_all(core, [again])
    (fresh,) = run_all(make_core(engine, replace(WAY, prefix_cache=False)), [again])

    assert first.drafted > first.accepted
    assert cached.cached_tokens >= 24
    assert cached.output == fresh.output == first.output[30:]


def test_shipped_weights_draft_for_themselves() -> None:
    """On real questions `tiny` writes its autoregressive answers in less than half the steps, many at once."""
    loaded = load_weights(packaged_weights("tiny"))
    tokenizer, rng = packaged_tokenizer(), Random(3)
    chats = [all_tasks()[task].generate(rng, Split.TRAIN).messages for task in ("dialogue", "lookup", "extract") * 2]
    chats.append((Message(role=Role.USER, content="한글로 답해 줘: 3 + 4 = ?"),))
    submissions = [
        make_submission(
            tuple(tokenizer.encode_chat(messages)),
            max_tokens=48,
            canvas_length=8,
            context_length=loaded.network.shape.context_length,
        )
        for messages in chats
    ]
    way = SchedSettings(pages=256, max_rows=8)
    plain, drafted = (
        run_all(serve_model(loaded, tokenizer, way, ManualClock()).core, [causal(one, mode) for one in submissions])
        for mode in (Mode.AUTOREGRESSIVE, Mode.SPECULATIVE)
    )

    assert list(map(answer, drafted)) == list(map(answer, plain))
    assert 2 * sum(one.steps for one in drafted[:-1]) < sum(one.steps for one in plain[:-1])
