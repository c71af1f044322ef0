"""Our engine as a backend: answers, streams, usage, traces, and the end of it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace

import pytest

from unmask.backend import (
    Alternative,
    CommitEvent,
    DoneEvent,
    Event,
    ExitRecord,
    Generation,
    Request,
    StepEvent,
    TokenLogprob,
)
from unmask.clock import Clock
from unmask.errors import ContextLengthError, DrainingError, InvalidRequestError, UnknownModelError
from unmask.local.backend import LocalBackend
from unmask.local.build import build_local_backend
from unmask.local.model import EMBEDDED_ADAPTER, ServedModel
from unmask.plan import PlanRunner
from unmask.sched.settings import SchedSettings
from unmask.testing.builders import make_model
from unmask.testing.cores import make_core
from unmask.testing.exits import make_plan, make_rule
from unmask.testing.fake_engine import FakeEngine
from unmask.testing.fixed_tokens import make_fixed
from unmask.testing.speaker import Speaker
from unmask.testing.waiting import LONGEST_S, until
from unmask.text.tokenizer import TextTokenizer, packaged_tokenizer
from unmask.types import (
    Draft,
    ExitAction,
    ExitReason,
    FinishReason,
    Message,
    Mode,
    Outcome,
    Role,
    Sampling,
    StepBudget,
)

TOKENIZER = packaged_tokenizer()
HANGUL = "안녕하세요, 세계! 한글 토큰은 바이트 셋입니다."
SETTINGS = SchedSettings(pages=128, page_size=8)
REQUEST = Request(
    model="tiny",
    messages=(Message(role=Role.USER, content="speak"),),
    max_tokens=128,
    canvas_length=8,
    budget=StepBudget(max_steps=4),
)


def served(engine: PlanRunner, name: str = "tiny", clock: Clock | None = None) -> ServedModel:
    """Return a model run by an engine of ours."""
    core = make_core(engine, SETTINGS, adapter=EMBEDDED_ADAPTER, token_bytes=TOKENIZER.token_bytes, clock=clock)
    return ServedModel(info=make_model(name), tokenizer=TOKENIZER, core=core)


def speaking(text: str) -> LocalBackend:
    """Return a backend whose model says a text."""
    return LocalBackend((served(Speaker(TOKENIZER.encode(text))),))


@pytest.fixture(name="backend")
async def _backend() -> AsyncIterator[LocalBackend]:
    backend = speaking(HANGUL)
    yield backend
    await backend.drain()


async def events_of(backend: LocalBackend, request: Request) -> list[Event]:
    """Return every event of a request."""
    return [event async for event in backend.stream(request)]


def joined(events: list[Event]) -> str:
    """Join the committed text of a stream."""
    return "".join(event.text for event in events if isinstance(event, CommitEvent))


def ended(events: list[Event]) -> Generation:
    """Return the generation that a stream ends with, and with which it ends once."""
    generations = [event.generation for event in events if isinstance(event, DoneEvent)]
    assert len(generations) == 1
    assert isinstance(events[-1], DoneEvent)
    return generations[0]


async def test_an_answer_of_many_canvases(backend: LocalBackend) -> None:
    """Text and tokens come back whole, the end token counted and not shown."""
    generation = await backend.generate(REQUEST)

    assert (generation.outcome, generation.finish_reason) == (Outcome.COMPLETED, FinishReason.STOP)
    assert generation.text == HANGUL
    assert generation.tokens == (*TOKENIZER.encode(HANGUL), EMBEDDED_ADAPTER.end)


@pytest.mark.parametrize("length", [8, 16, 32])
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("stop", [(), ("토큰",), ("셋입니다", "글 토"), ("없다",)])
async def test_committed_pieces_join_to_the_text(length: int, mode: Mode, stop: tuple[str, ...]) -> None:
    """Canvases that cut characters and stop sequences in two still stream exactly the final text."""
    backend = speaking(HANGUL)
    request = replace(REQUEST, canvas_length=length, mode=mode, stop=stop)
    if mode.is_causal:
        request = replace(request, budget=None)
    events = await events_of(backend, request)
    await backend.drain()

    expected = min(
        (HANGUL[: HANGUL.find(sequence)] for sequence in stop if sequence in HANGUL), key=len, default=HANGUL
    )
    assert joined(events) == ended(events).text == expected
    assert not any("\ufffd" in event.text for event in events if isinstance(event, CommitEvent))


async def test_a_text_cut_inside_a_character_is_streamed_as_it_is(backend: LocalBackend) -> None:
    """At ``max_tokens`` there is no rest of the character to wait for."""
    events = await events_of(backend, replace(REQUEST, max_tokens=2))

    assert joined(events) == ended(events).text == "\ufffd"
    assert ended(events).finish_reason is FinishReason.LENGTH


async def test_usage_is_exact(backend: LocalBackend) -> None:
    """Prompt, output, prefill, commits, steps and canvases are all accounted for."""
    generation = await backend.generate(REQUEST)
    usage = generation.usage
    prompt, output = TOKENIZER.encode_chat(REQUEST.messages), len(TOKENIZER.encode(HANGUL)) + 1
    canvases = -(-output // 8)

    assert (usage.prompt_tokens, usage.completion_tokens) == (len(prompt), output)
    assert (usage.cached_tokens, usage.prefill_tokens) == (0, len(prompt))
    assert usage.commit_tokens == 8 * (canvases - 1)
    assert (usage.canvases, usage.steps_used, usage.steps_allocated) == (canvases, 4 * canvases, 4 * 16)
    assert usage.exit_reason is ExitReason.MAX_STEPS


async def test_cached_and_run_tokens_make_the_prompt(backend: LocalBackend) -> None:
    """The second turn of a conversation runs only what the cache does not hold."""
    first = await backend.generate(REQUEST)
    answer = Message(role=Role.ASSISTANT, content=first.text)
    again = Message(role=Role.USER, content="again")
    usage = (await backend.generate(replace(REQUEST, messages=(*REQUEST.messages, answer, again)))).usage

    assert usage.cached_tokens >= 8 * (usage.canvases - 2)
    assert usage.cached_tokens + usage.prefill_tokens == usage.prompt_tokens


async def test_another_tenant_finds_nothing(backend: LocalBackend) -> None:
    """The cache is a tenant's own."""
    message = Message(role=Role.USER, content="the same long prompt twice")
    request = replace(REQUEST, messages=(message,))
    await backend.generate(replace(request, tenant="a"))

    assert (await backend.generate(replace(request, tenant="b"))).usage.cached_tokens == 0
    assert (await backend.generate(replace(request, tenant="a"))).usage.cached_tokens > 0


async def test_a_trace_holds_every_step(backend: LocalBackend) -> None:
    """One entry a step, numbered by canvas and step, each with the whole canvas."""
    generation = await backend.generate(replace(REQUEST, trace=True))

    assert len(generation.trace) == generation.usage.steps_used
    assert [(entry.canvas, entry.step) for entry in generation.trace] == [
        (canvas, step) for canvas in range(generation.usage.canvases) for step in range(4)
    ]
    for entry in generation.trace:
        assert len(entry.draft) == len(entry.fixed) == len(entry.confidence) == len(entry.entropy) == 8
    assert [entry.fixed.count(True) for entry in generation.trace[:4]] == [2, 4, 6, 8]
    assert (await backend.generate(REQUEST)).trace == ()


async def test_snapshots_show_every_step_before_its_text(backend: LocalBackend) -> None:
    """A step event a step, its pieces joining to the draft; the canvas's text follows its last step."""
    events = await events_of(backend, replace(REQUEST, snapshots=True))
    steps = [event for event in events if isinstance(event, StepEvent)]

    assert len(steps) == ended(events).usage.steps_used
    assert [(event.canvas, event.step, event.max_steps) for event in steps[:5]] == [
        (0, 1, 4), (0, 2, 4), (0, 3, 4), (0, 4, 4), (1, 1, 4),
    ]  # fmt: skip
    assert all(len(event.pieces) == 8 for event in steps)
    assert "".join(piece.text for piece in steps[0].pieces) == TOKENIZER.decode(TOKENIZER.encode(HANGUL)[:8])
    kinds = [type(event) for event in events]
    assert kinds[:4] == [StepEvent] * 4
    assert kinds[4] is CommitEvent
    assert not [event for event in await events_of(backend, REQUEST) if isinstance(event, StepEvent)]


async def test_a_snapshot_names_the_steps_the_canvas_has(backend: LocalBackend) -> None:
    """Where the total leaves a canvas fewer steps than the budget, the event says so."""
    request = replace(REQUEST, snapshots=True, budget=StepBudget(max_steps=4, max_total_steps=6))
    steps = [event for event in await events_of(backend, request) if isinstance(event, StepEvent)]

    assert [event.max_steps for event in steps] == [4, 4, 4, 4, 2, 2]


SMILES = "한글 😀 and 👨‍👩‍👧 ends"


def joined_bytes(logprobs: Sequence[TokenLogprob]) -> bytes:
    """Join the bytes of output tokens."""
    return b"".join(one.chosen.data for one in logprobs)


@pytest.mark.parametrize("length", [8, 32])
@pytest.mark.parametrize("mode", Mode)
async def test_log_probabilities_of_every_token_that_has_text(length: int, mode: Mode) -> None:
    """Their bytes are the text's, characters of several tokens included; the end token has none."""
    backend = speaking(SMILES)
    request = replace(REQUEST, canvas_length=length, mode=mode, budget=None, top_logprobs=2)
    generation = await backend.generate(request)
    await backend.drain()

    assert joined_bytes(generation.logprobs) == generation.text.encode() == SMILES.encode()
    assert generation.tokens[-1] == EMBEDDED_ADAPTER.end
    assert generation.logprobs == tuple(said_of(token, 2) for token in generation.tokens[:-1])


def said_of(token: int, count: int) -> TokenLogprob:
    """Return what the fakes say of a token, in bytes."""
    fixed = make_fixed(token, count)
    assert fixed is not None
    chosen, *top = (
        Alternative(data=TOKENIZER.token_bytes(said.token), logprob=said.logprob) for said in (fixed.chosen, *fixed.top)
    )
    return TokenLogprob(chosen=chosen, top=tuple(top))


@pytest.mark.parametrize("snapshots", [False, True])
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("stop", [(), ("토큰",), ("셋입니다", "글 토"), ("없다",), ("세계! 한",)])
async def test_committed_log_probabilities_join_like_the_text(
    mode: Mode, stop: tuple[str, ...], *, snapshots: bool
) -> None:
    """Over a stream they are those of the generation: of every token with text before the cut, and of no other."""
    backend = speaking(HANGUL)
    request = replace(REQUEST, mode=mode, budget=None, stop=stop, top_logprobs=0, snapshots=snapshots)
    events = await events_of(backend, request)
    await backend.drain()
    generation = ended(events)
    sent = [one for event in events if isinstance(event, CommitEvent) for one in event.logprobs]

    assert tuple(sent) == generation.logprobs
    text = generation.text.encode()
    assert joined_bytes(sent).startswith(text)
    assert len(joined_bytes(sent[:-1])) < len(text)


async def test_no_log_probabilities_unless_asked_for(backend: LocalBackend) -> None:
    """Nor events that carry them."""
    events = await events_of(backend, REQUEST)

    assert ended(events).logprobs == ()
    assert all(event.logprobs == () for event in events if isinstance(event, CommitEvent))


@pytest.mark.parametrize("cut", [1, 8, 9, 16])
@pytest.mark.parametrize("stop", [(), ("글 토",), ("세계",), ("셋입니다",)])
async def test_answer_goes_on_behind_what_stands(cut: int, stop: tuple[str, ...]) -> None:
    """Text, stop sequences and counts are those of the whole answer, though characters are cut where they fall."""
    tokens = tuple(TOKENIZER.encode(HANGUL))
    whole, rest = speaking(HANGUL), LocalBackend((served(Speaker(tokens[cut:])),))
    request = replace(REQUEST, stop=stop)
    expected = await whole.generate(request)
    events = await events_of(rest, replace(request, draft=Draft(tokens=(), before=tokens[:cut])))
    found = ended(events)
    await asyncio.gather(whole.drain(), rest.drain())

    if len(expected.tokens) > cut:
        assert (found.text, found.tokens, found.finish_reason) == (
            expected.text,
            expected.tokens,
            expected.finish_reason,
        )
        assert found.usage.completion_tokens == expected.usage.completion_tokens
    assert found.usage.prompt_tokens == expected.usage.prompt_tokens
    assert joined(events) == found.text


async def test_what_stands_has_no_log_probabilities() -> None:
    """Those of the tokens behind it are told, one each."""
    tokens = tuple(TOKENIZER.encode(HANGUL))
    backend = LocalBackend((served(Speaker(tokens[8:])),))
    found = await backend.generate(replace(REQUEST, top_logprobs=0, draft=Draft(tokens=(), before=tokens[:8])))
    await backend.drain()

    assert [token.chosen.data for token in found.logprobs] == [TOKENIZER.token_bytes(token) for token in tokens[8:]]


async def test_further_attempt_keeps_its_arrival(backend: LocalBackend) -> None:
    """That of a request that comes in now is now; none comes from the future."""
    earlier = await backend.generate(replace(REQUEST, arrived=-5.0))
    later = await backend.generate(replace(REQUEST, arrived=1e12))

    assert earlier.timing.arrived == -5.0
    assert later.timing.arrived <= later.timing.started


async def test_refusals_come_before_anything_runs(backend: LocalBackend) -> None:
    """An unknown model, a value out of range, a prompt too long and a draft of no text are typed errors."""
    long = Message(role=Role.USER, content="a b " * 400)
    for request, error in (
        (replace(REQUEST, model="huge"), UnknownModelError),
        (replace(REQUEST, sampling=Sampling(top_p=2.0)), InvalidRequestError),
        (replace(REQUEST, messages=(long,)), ContextLengthError),
        (replace(REQUEST, draft=Draft(tokens=(99_999,))), InvalidRequestError),
        (replace(REQUEST, draft=Draft(tokens=(), before=(99_999,))), InvalidRequestError),
        (replace(REQUEST, draft=Draft(tokens=(), before=(EMBEDDED_ADAPTER.end,))), InvalidRequestError),
        (replace(REQUEST, max_tokens=2, draft=Draft(tokens=(), before=(9, 9))), InvalidRequestError),
    ):
        with pytest.raises(error):
            await backend.generate(request)


async def test_a_text_far_too_long_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """More bytes than the context's tokens could stand for are refused without the seconds it takes to encode them."""
    backend = speaking(HANGUL)
    most = 256 * TOKENIZER.longest
    encoded: list[int] = []

    def encode_chat(self: TextTokenizer, messages: tuple[Message, ...]) -> list[int]:
        encoded.append(sum(len(message.content.encode()) for message in messages))
        return [9]

    monkeypatch.setattr(TextTokenizer, "encode_chat", encode_chat)
    fitting, long = (Message(role=Role.USER, content="a" * size) for size in (most, most + 1))
    await backend.generate(replace(REQUEST, messages=(fitting,)))
    with pytest.raises(ContextLengthError, match="257 prompt tokens"):
        await backend.generate(replace(REQUEST, messages=(long,)))
    await backend.drain()

    assert encoded == [most]


async def test_the_loop_goes_on_while_a_prompt_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoding waits for something that only the event loop can do."""
    backend = speaking(HANGUL)
    loop_ran = threading.Event()

    def encode_chat(self: TextTokenizer, messages: tuple[Message, ...]) -> list[int]:
        assert loop_ran.wait(10)
        return [9]

    monkeypatch.setattr(TextTokenizer, "encode_chat", encode_chat)
    call = asyncio.ensure_future(backend.generate(REQUEST))
    await asyncio.sleep(0.01)
    loop_ran.set()

    assert (await call).outcome is Outcome.COMPLETED
    await backend.drain()


async def test_closing_a_stream_lets_go(backend: LocalBackend) -> None:
    """A client that leaves takes its pages with it."""
    core = backend._models["tiny"].core
    async with aclosing(backend.stream(replace(REQUEST, snapshots=True))) as events:
        await anext(events)

    await until(lambda: core.is_idle and core.batcher.pool.used == 0)


async def test_a_cancelled_call_lets_go() -> None:
    """Cancelling ``generate`` aborts the request behind it."""
    model = served(FakeEngine())
    backend = LocalBackend((replace(model, info=make_model(max_steps=10**9)),))
    call = asyncio.ensure_future(backend.generate(replace(REQUEST, budget=StepBudget(max_steps=10**9))))
    await until(lambda: model.core.batcher.pool.used > 0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    await until(lambda: model.core.is_idle)
    await backend.drain()


async def test_a_call_that_is_left_tells_what_it_took() -> None:
    """By the time it has let go: once, with the steps that were executed."""
    model = served(FakeEngine())
    backend = LocalBackend((replace(model, info=make_model(max_steps=10**9)),))
    told: list[Generation] = []
    call = asyncio.ensure_future(
        backend.generate(replace(REQUEST, budget=StepBudget(max_steps=10**9), left=told.append))
    )
    await until(lambda: model.core.load.steps > 0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    (left,) = told
    assert (left.outcome, left.usage.exit_reason) == (Outcome.ABORTED, ExitReason.ABORTED)
    assert left.usage.steps_used == model.core.load.steps > 0
    await backend.drain()


async def test_a_stream_that_is_left_tells_what_it_took() -> None:
    """Amid snapshots that come as fast as an engine can tick: the first of them is there, and so is the end."""
    model = served(FakeEngine())
    backend = LocalBackend((replace(model, info=make_model(max_steps=10**9)),))
    told: list[Generation] = []
    request = replace(REQUEST, budget=StepBudget(max_steps=10**9), snapshots=True, left=told.append)
    async with aclosing(backend.stream(request)) as events, asyncio.timeout(LONGEST_S):
        first = await anext(events)

    assert isinstance(first, StepEvent)
    assert (first.step, [piece.fixed for piece in first.pieces]) == (1, [False] * 8)
    (left,) = told
    assert (left.outcome, left.usage.exit_reason) == (Outcome.ABORTED, ExitReason.ABORTED)
    assert left.usage.steps_used == model.core.load.steps > 0
    await backend.drain()


async def test_a_call_that_ends_by_itself_tells_nothing_beside(backend: LocalBackend) -> None:
    """Nor does one that was refused, or was left before it was submitted."""
    told: list[Generation] = []
    await backend.generate(replace(REQUEST, left=told.append))
    with pytest.raises(InvalidRequestError):
        await backend.generate(replace(REQUEST, left=told.append, canvas_length=7))
    call = asyncio.ensure_future(backend.generate(replace(REQUEST, left=told.append)))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert told == []


async def test_a_failure_is_an_outcome() -> None:
    """A failed forward gives a generation that says so, with what it cost until then."""
    backend = LocalBackend((served(FakeEngine(error=RuntimeError("no memory"))),))
    generation = await backend.generate(REQUEST)

    assert (generation.outcome, generation.finish_reason) == (Outcome.FAILED, None)
    assert generation.error == "RuntimeError: no memory"
    assert (generation.usage.exit_reason, generation.usage.steps_used) == (ExitReason.FAILED, 0)
    await backend.drain()


async def test_draining_stops_all_models_at_once() -> None:
    """While one model finishes its requests, the others take nothing new either."""
    quick, slow = served(FakeEngine(), "nano"), served(FakeEngine(), "tiny")
    slow = replace(slow, info=make_model("tiny", max_steps=10**9))
    backend = LocalBackend((slow, quick))
    call = asyncio.ensure_future(backend.generate(replace(REQUEST, budget=StepBudget(max_steps=10**9))))
    await until(lambda: slow.core.batcher.pool.used > 0)
    draining = asyncio.ensure_future(backend.drain())
    await asyncio.sleep(0.01)

    with pytest.raises(DrainingError):
        await backend.generate(replace(REQUEST, model="nano"))
    assert not draining.done()
    call.cancel()
    await draining


async def test_it_says_what_it_serves_and_what_is_wrong(backend: LocalBackend) -> None:
    """The models' descriptions, and no problem until an engine has stopped."""
    assert backend.models() == (make_model(),)
    assert backend.problems() == ()

    await backend.drain()
    assert backend.problems() == ("engine of tiny has stopped",)


def embedded() -> LocalBackend:
    """Return a backend over the smaller of the shipped models."""
    return build_local_backend(("nano",), SchedSettings(pages=64, page_size=16))


EASY = make_rule(flips=1.0, confidence=0.0, min_steps=2)
LOOKUP = Request(
    model="nano",
    messages=(Message(role=Role.USER, content="Sort: Bo, Al, Cy"),),
    max_tokens=64,
    canvas_length=16,
    budget=StepBudget(max_steps=8),
    exit=make_plan(rule=EASY),
)


async def test_a_real_model_goes_on_as_it_went_on_before() -> None:
    """Behind the same first canvas come the same others, from masks or from a draft that holds part of them."""
    backend = embedded()
    sum_of_three = (Message(role=Role.USER, content="add 12 + 30 + 45"),)
    request = replace(LOOKUP, messages=sum_of_three, exit=None, canvas_length=8, budget=StepBudget(max_steps=4))
    whole = await backend.generate(request)
    assert len(whole.tokens) > 8
    before, rest = whole.tokens[:8], whole.tokens[8:16]
    again = await backend.generate(replace(request, draft=Draft(tokens=(), before=before)))
    kept = Draft(tokens=(None, *rest[1:]), frozen=frozenset(range(1, len(rest))), before=before)
    reopened = await backend.generate(replace(request, draft=kept))
    await backend.drain()

    assert (again.text, again.tokens) == (whole.text, whole.tokens)
    assert again.usage.canvases == whole.usage.canvases - 1
    assert reopened.tokens[9 : 8 + len(rest)] == whole.tokens[9 : 8 + len(rest)]


async def test_a_real_model_stops_early_and_says_so() -> None:
    """Steps, text, reason and record agree; text goes out once, and its log-probabilities with it."""
    backend = embedded()
    events = await events_of(backend, replace(LOOKUP, top_logprobs=1, snapshots=True))
    await backend.drain()
    done = events[-1]
    assert isinstance(done, DoneEvent)
    answer = done.generation
    commits = [event for event in events if isinstance(event, CommitEvent)]

    assert answer.exit is not None
    assert answer.exit == ExitRecord(steps=answer.usage.steps_used, text=answer.text, signals=answer.exit.signals)
    assert {signal for signal, _ in answer.exit.signals} == EASY.signals
    assert answer.usage.exit_reason is ExitReason.EARLY_EXIT
    assert answer.usage.steps_used < answer.usage.steps_allocated
    assert "".join(commit.text for commit in commits) == answer.text
    assert sum((commit.logprobs for commit in commits), ()) == answer.logprobs
    assert b"".join(one.chosen.data for one in answer.logprobs).decode(errors="replace") == answer.text


async def test_a_control_run_of_a_real_model_gives_the_full_answer() -> None:
    """It is that of a request without any rule; the record holds what the exit would have been."""
    backend = embedded()
    observing = replace(LOOKUP, exit=make_plan(ExitAction.OBSERVE, EASY))
    noted, full = await asyncio.gather(backend.generate(observing), backend.generate(replace(LOOKUP, exit=None)))
    await backend.drain()

    assert (noted.text, noted.tokens, noted.usage.steps_used) == (full.text, full.tokens, full.usage.steps_used)
    assert full.exit is None
    assert noted.exit is not None
    assert noted.exit.steps < noted.usage.steps_used


async def test_a_check_is_asked_on_the_engines_thread_and_decides() -> None:
    """A draft that may not be the answer keeps the canvas going to its own end."""
    backend = embedded()
    seen: list[str] = []

    def never(text: str) -> bool:
        seen.append(text)
        return False

    request = replace(
        LOOKUP, max_tokens=16, exit=make_plan(rule=make_rule(flips=1.0, confidence=0.0, is_formatted=True))
    )
    refused = await backend.generate(replace(request, check=never))
    plain = await backend.generate(replace(request, exit=None))
    await backend.drain()

    assert seen
    assert (refused.text, refused.exit) == (plain.text, None)
