"""Savings while serving: refined prompts, answers given both ways, and what is switched off when they get worse."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.control.test_controller import MODEL, Bench
from unmask.backend import Generation, Request
from unmask.control.admitted import Admitted
from unmask.control.asked import Asked
from unmask.control.attempt import AttemptReason
from unmask.control.bookings import attempts_of
from unmask.control.pairs import Pair, Pairs
from unmask.control.refiner import Refiner
from unmask.control.worst import most_steps
from unmask.errors import QueueFullError
from unmask.ledger.settlement import Purpose
from unmask.refine.refine import VERSION
from unmask.savings.standing import KnownSavings
from unmask.testing.builders import make_generation
from unmask.types import Message, Role

CARD = "# Kaloren\n- persona gruff\n- home Miven\nYou are Kaloren."
SAID = "안녕하세요.\nKaloren home Miven\nWhat is your town?"
ANSWER = "Hmph. I live in Miven."
MESSAGES = (Message(role=Role.SYSTEM, content=CARD), Message(role=Role.USER, content=SAID))


def lengths(messages: Any) -> int:  # noqa: ANN401 - any messages
    """Count letters for tokens."""
    return sum(len(message.content) for message in messages)


def serving(folder: Path, *, draw: float = 0.99, **changes: Any) -> Bench:  # noqa: ANN401 - any part
    """Return a controller that refines prompts and ends complete answers, and draws a pair below 0.5."""
    refiner = Refiner(
        pairs=Pairs(folder / "pairs", VERSION), count_tokens=lengths, control_share=0.5, draw=lambda: draw
    )
    known = KnownSavings(enabled={"confidence_stop": ("confidence_stop",), "prompt_refinement": ("p",)})
    parts: dict[str, Any] = {"refiner": refiner, "savings": known, "book": None}
    return Bench(folder / "records", **(parts | changes))


def admit(bench: Bench, task: str = "dialogue", **asked: Any) -> Admitted:  # noqa: ANN401 - any field of what was asked
    """Admit a request to a character."""
    model = replace(MODEL, tasks=("sort", "dialogue"))
    return bench.control.admit(Request(model="tiny", messages=MESSAGES), Asked(task=task, **asked), model)


async def no_sample(_: Request, __: AttemptReason) -> Generation:
    """Have no further attempt."""
    raise AssertionError


def test_a_prompt_is_refined_and_judged_as_it_was(tmp_path: Path) -> None:
    """The backend has the shorter one; verifiers read what the client has sent."""
    admitted = admit(serving(tmp_path))

    assert admitted.request.messages[-1].content == "What is your town?"
    assert admitted.tokens_saved == len(SAID) - len("What is your town?")
    assert admitted.check is not None
    assert admitted.check.messages == MESSAGES
    assert not admitted.is_paired


def test_what_nobody_can_judge_is_not_refined(tmp_path: Path) -> None:
    """A saving without a measure of quality is none; without the setting there is none either."""
    assert admit(serving(tmp_path), "default").request.messages == MESSAGES
    assert admit(serving(tmp_path, refiner=None)).request.messages == MESSAGES


async def test_a_control_is_answered_both_ways_and_gives_the_unrefined_answer(tmp_path: Path) -> None:
    """Both are booked, the comparison as verification, and what verifiers say of both is kept."""
    bench = serving(tmp_path, draw=0.1)
    admitted = admit(bench)
    refiner = bench.control._savings._refiner
    assert refiner is not None

    async def generate(request: Request, reason: AttemptReason) -> Generation:
        return make_generation(ANSWER if reason is AttemptReason.FIRST else "Hmph. I live in Velka.")

    begun = await bench.control.begin(admitted, generate)
    answered = await bench.control.conclude(admitted, begun, no_sample)
    bench.control.settle(admitted, answered, "r1")
    refiner.pairs.close()

    assert (answered.generation.text, admitted.tokens_saved) == (ANSWER, 0)
    assert [one.purpose for one in attempts_of(admitted, answered.attempts)] == [Purpose.ANSWER, Purpose.VERIFICATION]
    assert most_steps(admitted) == 2 * most_steps(replace(admitted, refined=None))
    watch = refiner.pairs.watch(MODEL.digest, "dialogue")
    assert (watch.n, watch.events) == (1, 1.0)
    assert bench.counted("unmask_refinement_pairs_total{model=tiny,passed=unrefined}") == 1


@pytest.mark.parametrize("asked", [{"may_wait": False}])
def test_no_pair_where_nobody_waits_for_the_whole_answer(tmp_path: Path, asked: dict[str, Any]) -> None:
    """A stream that has begun has no second answer beside it."""
    assert not admit(serving(tmp_path, draw=0.1), **asked).is_paired


async def test_a_comparison_that_cannot_be_run_costs_no_answer(tmp_path: Path) -> None:
    """And one whose answer cannot be run has none."""
    admitted = admit(serving(tmp_path, draw=0.1))
    bench = serving(tmp_path)

    async def refusing(request: Request, reason: AttemptReason) -> Generation:
        if reason is AttemptReason.REFINED:
            raise QueueFullError("full")
        return make_generation(ANSWER)

    async def failing(request: Request, reason: AttemptReason) -> Generation:
        raise QueueFullError("full")

    begun = await bench.control.begin(admitted, refusing)
    assert (begun.first.text, begun.beside) == (ANSWER, ())
    with pytest.raises(QueueFullError):
        await bench.control.begin(admitted, failing)


def test_a_task_type_that_loses_is_refined_no_more(tmp_path: Path) -> None:
    """From the pair on that shows it, after a restart too, and for these weights and this refinement alone."""
    pairs = Pairs(tmp_path, VERSION)
    worse = Pair(
        time=0.0, model_digest="d", version=VERSION, task="dialogue", passed=True, refined_passed=False
    )  # fmt: skip
    for _ in range(20):
        pairs.keep(worse)
        pairs.keep(replace(worse, task="sort", refined_passed=True))
    pairs.close()
    again = Pairs(tmp_path, VERSION)

    assert (pairs.suspended(), again.suspended()) == (("dialogue",), ("dialogue",))
    assert again.is_suspended("d", "dialogue")
    assert not again.is_suspended("other", "dialogue")
    assert Pairs(tmp_path, VERSION + 1).suspended() == ()
    assert admit_with(again, "d").request.messages == MESSAGES
    assert admit_with(again, "other").request.messages != MESSAGES


def admit_with(pairs: Pairs, digest: str) -> Admitted:
    """Admit a request with what is known of pairs."""
    refiner = Refiner(pairs=pairs, count_tokens=lengths, control_share=0.5, draw=lambda: 0.9)
    bench = Bench(pairs._journal.folder / "records", refiner=refiner, book=None)
    model = replace(MODEL, tasks=("dialogue",), digest=digest)
    return bench.control.admit(Request(model="tiny", messages=MESSAGES), Asked(task="dialogue"), model)


def test_an_answer_is_complete_by_its_task_types_verifier(tmp_path: Path) -> None:
    """Unless the client wants none stopped early, or settings do not enable it."""
    complete = admit(serving(tmp_path)).request.complete
    assert complete is not None

    assert complete(ANSWER)
    assert not complete("I live in Miven.")
    assert admit(serving(tmp_path), early_exit=False).request.complete is None
    assert admit(serving(tmp_path, savings=KnownSavings())).request.complete is None
    assert admit(serving(tmp_path), "sort").request.complete is None


def test_savings_say_who_enables_them(tmp_path: Path) -> None:
    """Settings, and policies with exits."""
    bench = serving(tmp_path)
    by_name = {one.saving.name: one.enabled_by for one in bench.control.savings([MODEL])}

    assert by_name["confidence_stop"] == ("confidence_stop",)
    assert [name.split()[0] for name in by_name["early_exit"]] == ["policy"]
    assert by_name["routing"] == ()
