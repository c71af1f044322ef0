"""Asking a whole suite."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from unmask.backend import Backend, DoneEvent, Request
from unmask.errors import InvalidRequestError, QueueFullError
from unmask.gate.artefacts import RunFolder
from unmask.gate.patience import Patience, Trying
from unmask.gate.response import SystemLabel
from unmask.gate.retriever import Retriever
from unmask.gate.run import Asked, ask_all, binding_of
from unmask.gate.run_plan import Endpoint, Run, Way
from unmask.testing.builders import make_generation, make_usage
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.gate_answers import FixedRetriever, make_key, make_system, small_suite
from unmask.testing.manual_clock import ManualClock
from unmask.testing.scripted_backend import Line, ScriptedBackend
from unmask.types import Mode, Role


def make_run(*backends: Backend, retriever: Retriever | None = None, way: Way | None = None, **changes: object) -> Run:
    """Return a run of the small suite over one backend or two."""
    labels = (SystemLabel.MODEL, SystemLabel.AGAINST)
    fields: dict[str, object] = {
        "suite": small_suite(),
        "seeds": (0, 1),
        "endpoints": tuple(
            Endpoint(system=make_system(label), backend=backend)
            for label, backend in zip(labels, backends, strict=False)
        ),
        "retriever": retriever or FixedRetriever(),
        "way": way or Way(),
    }
    return Run(**(fields | changes))  # type: ignore[arg-type]


async def no_sleep(_: float) -> None:
    """Pass the turn, and no time."""
    await asyncio.sleep(0)


def make_trying() -> Trying:
    """Return what tries three times without waiting."""
    return Trying(clock=ManualClock(), rng=Random(0), patience=Patience(most_tries=3), sleep=no_sleep)


async def ask(run: Run, folder: RunFolder) -> Asked:
    """Ask a run."""
    return await ask_all(run, folder, make_trying(), lambda done, total: None)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Return a folder that is empty yet."""
    return RunFolder(str(tmp_path / "run"))


async def test_everything_is_asked_once_for_every_seed_and_system(folder: RunFolder) -> None:
    """Each key has one answer, and the count of progress ends at all of them."""
    told: list[tuple[int, int]] = []
    run = make_run(FakeBackend("하나"), FakeBackend("둘"))
    asked = await ask_all(run, folder, make_trying(), lambda done, total: told.append((done, total)))

    responses = {response.key: response for response in folder.responses()}
    assert set(responses) == set(run.keys())
    assert len(responses) == 3 * 2 * 2 == asked.answered
    assert told == [(number, 12) for number in range(1, 13)]
    assert responses[make_key("home", 1)].turns[0].text == "하나"
    assert responses[make_key("home", 1, SystemLabel.AGAINST)].turns[0].text == "둘"


async def test_both_systems_get_the_same_prompts(folder: RunFolder) -> None:
    """Context, messages and settings are the same; the first prompt's facts are looked for once."""
    model, against, retriever = FakeBackend("x"), FakeBackend("x"), FixedRetriever()
    await ask(make_run(model, against, retriever=retriever), folder)

    def prompts(backend: FakeBackend) -> list[tuple[str, int]]:
        return sorted((str(request.messages), request.sampling.seed) for request in backend.requests)

    assert prompts(model) == prompts(against)
    assert len([turn for _, turn, _ in retriever.seen if turn == 0]) == 3


async def test_a_prompt_is_facts_speaker_and_question(folder: RunFolder) -> None:
    """The system message has the facts and who speaks, in the scenario's language, as in training."""
    backend = FakeBackend("x")
    await ask(make_run(backend, seeds=(0,)), folder)

    messages = next(
        request.messages for request in backend.requests if request.messages[-1].content == "집이 어디예요?"
    )
    assert [message.role for message in messages] == [Role.SYSTEM, Role.USER]
    assert messages[0].content == "# 정우\n- home 미벤\nYou are 정우."


async def test_a_conversation_keeps_the_models_own_answers(folder: RunFolder) -> None:
    """What was answered, right or wrong, is what the next question follows upon."""
    backend = FakeBackend(lambda request: f"answer {len(request.messages)}")
    await ask(make_run(backend, seeds=(0,)), folder)

    last = next(request for request in backend.requests if request.messages[-1].content == "And their role?")
    assert [message.content for message in last.messages[1:]] == ["Who is your ally?", "answer 2", "And their role?"]
    response = next(response for response in folder.responses() if response.key.scenario == "ally")
    assert [turn.text for turn in response.turns] == ["answer 2", "answer 4"]
    assert response.turns[1].messages == last.messages


@pytest.mark.parametrize("sees", [False, True])
async def test_retrieval_never_sees_what_is_needed(folder: RunFolder, sees: bool) -> None:
    """Needed facts, checks and forbidden claims reach the naive baseline only; earlier turns reach both."""
    retriever = FixedRetriever(sees_needed=sees)
    await ask(make_run(FakeBackend("x"), retriever=retriever, seeds=(0,)), folder)

    for scenario, turn, earlier in retriever.seen:
        assert earlier == turn
        for shown in scenario.turns:
            assert bool(shown.needed or shown.checks) is sees


async def test_requests_carry_the_settings_of_the_run(folder: RunFolder) -> None:
    """Seed, temperature, tokens and steps are asked for; steps not of a system that decodes token by token."""
    model, against = FakeBackend("x"), FakeBackend("x")
    run = make_run(model, against, way=Way(temperature=0.5, steps=7, max_tokens=9), seeds=(4,))
    run = make_run(
        model,
        against,
        way=run.way,
        seeds=(4,),
        endpoints=(
            run.endpoints[0],
            Endpoint(system=make_system(SystemLabel.AGAINST, mode=Mode.AUTOREGRESSIVE), backend=against),
        ),
    )
    await ask(run, folder)

    (first, *_), (other, *_) = model.requests, against.requests
    assert (first.sampling.seed, first.sampling.temperature, first.max_tokens) == (4, 0.5, 9)
    assert first.budget is not None
    assert first.budget.max_steps == 7
    assert (other.budget, other.mode) == (None, Mode.AUTOREGRESSIVE)


async def test_what_is_answered_is_not_asked_again(folder: RunFolder) -> None:
    """Going on asks only what has no answer, and the progress begins where it stood."""
    await ask(make_run(FakeBackend("first"), seeds=(0,)), folder)
    backend, told = FakeBackend("second"), []
    run = make_run(backend, seeds=(0, 1))
    asked = await ask_all(run, folder, make_trying(), lambda done, total: told.append(done))

    assert {request.sampling.seed for request in backend.requests} == {1}
    assert asked.answered == 6
    assert told == [3, 4, 5, 6]


async def test_a_limit_asks_the_first_scenarios(folder: RunFolder) -> None:
    """The rest can be asked later: the binding is that of the whole suite."""
    backend = FakeBackend("x")
    await ask(make_run(backend, seeds=(0,), limit=1), folder)

    assert [response.key.scenario for response in folder.responses()] == ["home"]


async def test_a_fault_is_kept_and_is_no_answer(folder: RunFolder) -> None:
    """After all tries the reason stands where the answer would; the rest of the run goes on."""

    def script(request: Request, before: int) -> list[Line]:
        if "rival" in request.messages[-1].content:
            return [QueueFullError("full up")]
        return [DoneEvent(generation=make_generation("x"))]

    asked = await ask(make_run(ScriptedBackend(script), seeds=(0,)), folder)

    (fault,) = asked.faults
    assert (fault.key, fault.turns, fault.attempts) == (make_key("rival"), (), 3)
    assert fault.fault == "QueueFullError: full up"
    assert asked.answered == 2
    assert {response.key.scenario: response.fault is None for response in folder.responses()} == {
        "home": True,
        "rival": False,
        "ally": True,
    }


async def test_faults_are_asked_again_when_a_run_goes_on(folder: RunFolder) -> None:
    """A fault is nothing finished."""
    down = ScriptedBackend(lambda request, before: [ConnectionRefusedError("down")])
    asked = await ask(make_run(down, seeds=(0,)), folder)
    assert len(asked.faults) == 3

    backend = FakeBackend("up")
    asked = await ask(make_run(backend, seeds=(0,)), folder)
    assert (asked.answered, asked.faults) == (3, ())
    assert all(response.fault is None for response in folder.responses())


async def test_a_fault_in_a_later_turn_is_one_of_the_whole(folder: RunFolder) -> None:
    """A conversation broken off is unscored, though its first answer is kept to be read."""

    def script(request: Request, before: int) -> list[Line]:
        if len(request.messages) > 2:
            return [TimeoutError("slow")]
        return [DoneEvent(generation=make_generation("one"))]

    await ask(make_run(ScriptedBackend(script), seeds=(0,)), folder)

    (broken,) = [response for response in folder.responses() if response.fault is not None]
    assert (broken.key.scenario, [turn.text for turn in broken.turns], broken.attempts) == ("ally", ["one"], 4)


async def test_a_mistake_ends_the_run_and_keeps_what_there_is(folder: RunFolder) -> None:
    """A value that no request may have is the caller's to put right, not the model's failure."""

    def script(request: Request, before: int) -> list[Line]:
        if request.messages[-1].content == "Who is your ally?":
            return [InvalidRequestError("temperature", 9, "0 to 2", "Lower it.")]
        return [DoneEvent(generation=make_generation("x"))]

    with pytest.raises(InvalidRequestError, match="temperature"):
        await ask(make_run(ScriptedBackend(script), seeds=(0,), way=Way(concurrency=1)), folder)
    assert [response.key.scenario for response in folder.responses()] == ["home", "rival"]


@pytest.mark.parametrize("most", [1, 2, 5])
async def test_no_more_requests_run_than_may(folder: RunFolder, most: int) -> None:
    """Concurrency is bounded, and used."""
    running = [0]

    class Counting(ScriptedBackend):
        async def generate(self, request: Request):  # type: ignore[no-untyped-def]  # noqa: ANN202
            running.append(self.open + 1)
            return await super().generate(request)

    backend = Counting(lambda request, before: [0.0, 0.0, DoneEvent(generation=make_generation("x"))])
    await ask(make_run(backend, way=Way(concurrency=most)), folder)

    assert max(running) == most


async def test_interrupted_a_run_keeps_every_answer_and_goes_on(folder: RunFolder) -> None:
    """Cancelled at any time it loses only what is under way; going on asks just that."""
    done, never = asyncio.Event(), asyncio.Event()

    def script(request: Request, before: int) -> list[Line]:
        return [DoneEvent(generation=make_generation("x"))] if before < 2 else [never]

    run = make_run(ScriptedBackend(script), seeds=(0, 1), way=Way(concurrency=2))
    task = asyncio.create_task(
        ask_all(run, folder, make_trying(), lambda count, total: done.set() if count == 2 else None)
    )
    await done.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(folder.responses()) == 2

    left = FakeBackend("y")
    asked = await ask(make_run(left, seeds=(0, 1)), folder)
    assert asked.answered == 6
    assert sum(turn.text == "y" for response in folder.responses() for turn in response.turns) == len(left.requests)


async def test_steps_are_unknown_where_a_server_does_not_say(folder: RunFolder) -> None:
    """A number that nobody told is none, rather than 0."""
    unknown = make_generation("x", usage=make_usage(steps_used=0, steps_known=False))
    await ask(make_run(FakeBackend(generation=unknown), seeds=(0,), limit=1), folder)

    assert folder.responses()[0].turns[0].steps is None


def test_a_binding_says_all_that_makes_answers_comparable() -> None:
    """Suite, worlds, way of retrieval, revision, seeds and systems with their settings."""
    run = make_run(FakeBackend())
    binding = binding_of(run, name="r", revision="abc", started="now")

    assert binding.suite == run.suite.digest
    assert binding.worlds == (("small", run.suite.worlds["small"].digest),)
    assert (binding.retrieval, binding.revision, binding.seeds) == ("fixed", "abc", (0, 1))
    assert binding.systems == (make_system(),)


def test_settings_tell_ways_apart() -> None:
    """Whatever changes a request changes what its system says; steps are no matter of token by token."""
    settings = {
        Way().settings(Mode.DIFFUSION),
        Way(steps=3).settings(Mode.DIFFUSION),
        Way(temperature=0.5).settings(Mode.DIFFUSION),
        Way(max_tokens=3).settings(Mode.DIFFUSION),
        Way(concurrency=1).settings(Mode.DIFFUSION),
    }

    assert len(settings) == 5
    assert Way(steps=3).settings(Mode.AUTOREGRESSIVE) == Way().settings(Mode.AUTOREGRESSIVE)


async def test_a_run_goes_on_where_files_cannot_be_appended_to() -> None:
    """In an object store each answer is an object, and going on asks what has none."""
    url = "memory://gate-run-that-goes-on/run"
    await ask(make_run(FakeBackend("x"), limit=2), RunFolder(url))
    backend = FakeBackend("y")
    asked = await ask(make_run(backend), RunFolder(url))

    assert asked.answered == 6
    assert {request.messages[1].content for request in backend.requests} == {"Who is your ally?"}
