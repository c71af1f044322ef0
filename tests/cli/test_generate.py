"""Behaviour of ``unmask generate``."""

import json
from itertools import chain

import pytest

from tests.cli.terminal import type_in
from unmask.backend import Request
from unmask.cli.watch import LineWatcher
from unmask.config import Settings
from unmask.errors import ContextLengthError, UnmaskError, WeightsError
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.builders import make_generation, make_usage
from unmask.testing.fake_backend import FakeBackend
from unmask.types import Message, Mode, Outcome, Precision, Role, Sampling, StepBudget

SUM = "012+030=0042: 42"


def test_text_alone_goes_to_stdout() -> None:
    """The answer can be piped; what it took is told beside it."""
    ended = type_in("generate", "add 12 + 30", backend=FakeBackend(SUM))

    assert (ended.code, ended.out) == (0, f"{SUM}\n")
    assert "4 of 16 steps" in ended.err
    assert "note:" not in ended.err


def test_every_option_reaches_the_request() -> None:
    """Options become the fields of the request that they name."""
    backend = FakeBackend()
    options = {
        "--system": "Hi",
        "--steps": "4",
        "--total-steps": "9",
        "--canvas-length": "8",
        "--strategy": "klass",
        "--threshold": "0.5",
        "--max-tokens": "20",
        "--temperature": "0.7",
        "--top-p": "0.9",
        "--seed": "5",
        "--model": "nano",
    }
    type_in("generate", "x", *chain.from_iterable(options.items()), backend=backend)

    assert backend.requests == [
        Request(
            model="nano",
            messages=(Message(role=Role.SYSTEM, content="Hi"), Message(role=Role.USER, content="x")),
            max_tokens=20,
            budget=StepBudget(max_steps=4, max_total_steps=9),
            canvas_length=8,
            strategy=StrategyChoice(name=StrategyName.KLASS, threshold=0.5),
            sampling=Sampling(temperature=0.7, top_p=0.9, seed=5),
        )
    ]


@pytest.mark.parametrize(("options", "precision"), [((), None), (("--precision", "bfloat16"), Precision.BFLOAT16)])
def test_model_and_precision_reach_the_engine(options: tuple[str, ...], precision: Precision | None) -> None:
    """The one model named is loaded, in the precision asked for, its own unless another is."""
    given: list[Settings] = []

    def make_backend(settings: Settings) -> FakeBackend:
        given.append(settings)
        return FakeBackend()

    type_in("generate", "x", "--model", "nano", *options, make_backend=make_backend)

    assert given == [Settings(models=("nano",), precision=precision)]


def test_model_decides_what_is_left_out() -> None:
    """Without options the request carries none."""
    backend = FakeBackend()
    type_in("generate", "x", backend=backend)

    assert backend.requests == [Request(model="tiny", messages=(Message(role=Role.USER, content="x"),))]


def test_autoregressive_mode() -> None:
    """``--ar`` asks for one token after the other."""
    backend = FakeBackend()
    type_in("generate", "x", "--ar", backend=backend)

    assert backend.requests[0].mode is Mode.AUTOREGRESSIVE


def test_speculative_mode() -> None:
    """``--speculative`` drafts on a canvas, whose length may be chosen; it says what was accepted."""
    usage = make_usage(drafted=12, accepted=9)
    backend = FakeBackend(generation=make_generation(usage=usage))
    ended = type_in("generate", "한글", "--speculative", "--canvas-length", "16", backend=backend)

    assert (backend.requests[0].mode, backend.requests[0].canvas_length) == (Mode.SPECULATIVE, 16)
    assert "9 of 12 drafted tokens accepted" in ended.err


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--ar",), "leave out one of the two"), (("--threshold", "0"), "--threshold"), (("--watch",), "--watch")],
)
def test_speculative_mode_takes_nothing_of_canvases_that_become_the_answer(options: tuple[str, ...], said: str) -> None:
    """Such options are refused and not ignored."""
    ended = type_in("generate", "x", "--speculative", *options)

    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize("option", ["--steps", "--total-steps", "--canvas-length", "--threshold"])
def test_autoregressive_mode_has_no_canvases(option: str) -> None:
    """Options of canvases do not go with ``--ar`` and are not ignored."""
    ended = type_in("generate", "x", "--ar", option, "1")

    assert ended.code == 2
    assert option in ended.err


def test_autoregressive_mode_takes_no_threshold_of_zero() -> None:
    """An option is given whatever its value."""
    ended = type_in("generate", "x", "--ar", "--threshold", "0")

    assert ended.code == 2
    assert "--threshold" in ended.err


def test_autoregressive_mode_has_nothing_to_watch() -> None:
    """A picture of the canvas is refused where there is none, with the reason."""
    ended = type_in("generate", "x", "--ar", "--watch")

    assert ended.code == 2
    assert "--watch shows a canvas after every step, and --ar has none" in ended.err


def test_total_alone_takes_no_more_steps_than_positions() -> None:
    """With a short canvas the cap on it is what it would be without the total."""
    backend = FakeBackend()
    type_in("generate", "x", "--total-steps", "30", "--canvas-length", "8", backend=backend)

    assert backend.requests[0].budget == StepBudget(max_steps=8, max_total_steps=30)


def test_prompt_outside_the_domain_is_noted() -> None:
    """The demonstration model answers anything; whoever asks is told when to expect no sense."""
    ended = type_in("generate", "write a poem")

    assert ended.code == 0
    assert "no task type that the demonstration model knows" in ended.err


def test_task_verifies_the_answer_to_a_prompt() -> None:
    """With PROMPT and ``--task`` the verifier judges, from the request alone."""
    right = type_in("generate", "add 12 + 30", "--task", "arithmetic", backend=FakeBackend(SUM))
    wrong = type_in("generate", "add 12 + 30", "--task", "arithmetic", backend=FakeBackend("43"))

    assert (right.code, right.err.splitlines()[-1]) == (0, "verifier: passed")
    assert wrong.code == 1
    assert "verifier: failed, " in wrong.err
    assert wrong.out == "43\n"


def test_task_alone_asks_an_example_and_checks() -> None:
    """Without PROMPT the truth is known, so the checker judges; a seed gives the same example again."""
    backends = [FakeBackend("no") for _ in range(3)]
    ended = [
        type_in("generate", "--task", "sort", "--seed", seed, backend=backend)
        for seed, backend in zip("112", backends, strict=True)
    ]
    first, again, other = (backend.requests[0].messages for backend in backends)

    assert [(end.code, end.out) for end in ended] == [(1, "no\n")] * 3
    assert "checker: failed, " in ended[0].err
    assert first[0].content in ended[0].err
    assert first == again != other


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "nothing to ask"),
        (("",), "PROMPT is empty"),
        (("x", "--task", "poem"), "allowed: lookup, dialogue"),
        (("--task", "sort", "--system", "x"), "--system goes with a PROMPT"),
    ],
)
def test_wrong_usage_is_told(argv: tuple[str, ...], said: str) -> None:
    """Arguments that do not fit together end with 2 and a sentence."""
    ended = type_in("generate", *argv)

    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


@pytest.mark.parametrize(
    "argv",
    [
        ("--steps", "0"),
        ("--steps", "8.0"),
        ("--steps", "many"),
        ("--steps", "٣"),
        ("--steps", "-"),
        ("--steps", "9" * 5000),
        ("--total-steps", str(10**20)),
        ("--max-tokens", str(1 << 63)),
        ("--seed", str(1 << 63)),
        ("--seed", str(-(1 << 63) - 1)),
        ("--temperature", "3"),
        ("--temperature", "nan"),
        ("--top-p", "-1"),
        ("--threshold", "inf"),
        ("--strategy", "magic"),
        ("--seed", "x"),
        ("--bogus",),
    ],
)
def test_bad_option_is_told(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """An option's value that is not allowed ends with 2, and the message names the option."""
    ended = type_in("generate", "x", *argv)

    assert ended.code == 2
    assert argv[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("backend", "code"),
    [
        (FakeBackend(error=ContextLengthError(500, 1, 256)), 2),
        (FakeBackend(error=WeightsError("damaged")), 4),
        (FakeBackend(generation=make_generation("", outcome=Outcome.FAILED, finish_reason=None, error="boom")), 3),
    ],
)
def test_errors_have_their_exit_codes(backend: FakeBackend, code: int) -> None:
    """A script tells an invalid request, damaged weights and a failure apart; the backend is drained in each case."""
    ended = type_in("generate", "x", backend=backend)

    assert ended.code == code
    assert backend.drained


def test_unknown_model_is_told() -> None:
    """A model that is not there ends with 2 and the names that are."""
    ended = type_in("generate", "x", "--model", "huge")

    assert ended.code == 2
    assert "tiny, nano" in ended.err


def test_json_is_one_object() -> None:
    """With ``--json`` stdout is one object with text, usage and check, whatever else is asked for."""
    ended = type_in("generate", "add 12 + 30", "--task", "arithmetic", "--json", "--watch", backend=FakeBackend(SUM))
    record = json.loads(ended.out)

    assert ended.code == 0
    assert record["text"] == SUM
    assert record["in_domain"] is True
    assert record["usage"]["steps_used"] == 4
    assert record["check"] == {"by": "verifier", "passed": True, "reason": "", "failure": None, "span": None}
    assert ended.err.count("canvas 1 step") == 4


def test_json_carries_hangul() -> None:
    """Text outside ASCII stays as it is."""
    ended = type_in("generate", "안녕", "--json", backend=FakeBackend("한글"))

    assert json.loads(ended.out)["text"] == "한글"
    assert "안녕" in ended.out


def test_json_carries_bytes_that_are_no_text() -> None:
    """What the shell passes and no UTF-8 holds is replaced before anyone writes it."""
    ended = type_in("generate", "a\udcff", "--system", "\ud800", "--json", backend=FakeBackend("42"))

    assert ended.code == 0
    assert [message["content"] for message in json.loads(ended.out)["messages"]] == ["\ufffd", "a\ufffd"]


@pytest.mark.parametrize("seed", [(1 << 63) - 1, -(1 << 63)])
def test_json_carries_the_largest_seeds(seed: int) -> None:
    """Every seed that is taken can be used."""
    backend = FakeBackend(SUM)
    ended = type_in(
        "generate",
        "--task",
        "sort",
        "--seed",
        str(seed),
        "--total-steps",
        str((1 << 63) - 1),
        "--json",
        backend=backend,
    )

    assert json.loads(ended.out)["check"] is not None
    assert backend.requests[0].sampling.seed == seed


def test_watch_writes_lines_where_there_is_no_terminal() -> None:
    """In a pipe every step is a line, and the text is the last."""
    ended = type_in("generate", "add 12 + 30", "--watch", backend=FakeBackend("a\nb]c"))

    assert ended.out.splitlines() == [
        "canvas 1 step   1/4 | a····",
        "canvas 1 step   2/4 | a\\n···",
        "canvas 1 step   3/4 | a\\nb··",
        "canvas 1 step   4/4 | a\\nb]c",
        "a",
        "b]c",
    ]
    assert "\x1b" not in ended.out


def test_watch_draws_a_panel_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the canvas is redrawn in place, with styles, and the text follows."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    ended = type_in("generate", "add 12 + 30", "--watch", backend=FakeBackend("[1]42"), terminal=True)

    assert "canvas 1, step 4 of 4" in ended.out
    assert "\x1b[" in ended.out
    assert ended.out.endswith("[1]42\n")


def test_watcher_that_fails_lets_the_request_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that leaves in the middle ends the command; the request does not keep it from stopping."""

    async def leave(*_: object) -> None:
        raise UnmaskError("gone")

    monkeypatch.setattr(LineWatcher, "show", leave)
    backend = FakeBackend()
    ended = type_in("generate", "add 12 + 30", "--watch", backend=backend)

    assert ended.code == 3
    assert len(backend.aborted) == 1
    assert backend.drained


def test_no_color_means_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under NO_COLOR there is no panel, not even on a terminal."""
    monkeypatch.setenv("NO_COLOR", "1")
    ended = type_in("generate", "add 12 + 30", "--watch", backend=FakeBackend("42"), terminal=True)

    assert "\x1b" not in ended.out
    assert ended.out.count("canvas 1 step") == 4


def test_interrupt_is_130() -> None:
    """Ctrl-C ends with the code that shells expect and without a traceback."""
    ended = type_in("generate", "x", backend=FakeBackend(error=None, answer=interrupt))

    assert (ended.code, ended.err.splitlines()[-1]) == (130, "interrupted")


def interrupt(_: Request) -> str:
    """Be interrupted."""
    raise KeyboardInterrupt
