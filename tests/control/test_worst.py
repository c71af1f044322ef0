"""Behaviour of `unmask.control.worst`."""

from dataclasses import replace

import pytest

from unmask.control.worst import most_steps, worst_of
from unmask.tasks.consistency import SelfConsistency
from unmask.testing.attempts import make_admitted, make_expansion
from unmask.types import Mode, StepBudget


def test_one_attempt_takes_its_steps_in_every_canvas() -> None:
    """Those that ``max_tokens`` allows."""
    admitted = make_admitted(expansion=None)

    assert most_steps(admitted) == 4 * 64 // 8
    assert most_steps(replace(admitted, request=replace(admitted.request, max_tokens=9))) == 4 * 2


def test_further_attempts_grow_up_to_their_cap() -> None:
    """Four steps, then eight, then sixteen, then the cap again."""
    admitted = make_admitted(expansion=make_expansion(limit=3))

    assert most_steps(admitted) == (4 + 8 + 16 + 16) * 8


def test_samples_count_for_every_attempt() -> None:
    """Each attempt that passes everything else is compared."""
    admitted = make_admitted(consistency=SelfConsistency(samples=2), expansion=make_expansion(limit=1))

    assert most_steps(admitted) == (4 + 8) * 8 * 3


def test_total_is_the_most_there_is() -> None:
    """Where client or class name one."""
    assert most_steps(make_admitted(max_total_steps=50)) == 50
    assert most_steps(make_admitted(max_total_steps=10_000)) == (4 + 8 + 16) * 8


@pytest.mark.parametrize(("mode", "width"), [(Mode.AUTOREGRESSIVE, 1), (Mode.SPECULATIVE, 16)])
def test_text_token_by_token_takes_a_step_a_token(mode: Mode, width: int) -> None:
    """Whatever the budget of a canvas; a speculative step forwards a draft and the canvas that drafts on."""
    admitted = make_admitted(expansion=None)
    request = replace(admitted.request, mode=mode, max_tokens=20, budget=StepBudget(max_steps=16))
    causal = replace(admitted, request=request)

    assert most_steps(causal) == 20
    assert worst_of(causal).token_steps == 20 * width
    assert worst_of(causal).prefill_tokens < worst_of(admitted).prefill_tokens + 20


def test_a_grid_may_take_a_canvas_more() -> None:
    """Where the first canvas may be short, one more is reserved, and so is what a chat template adds."""
    admitted = make_admitted(expansion=None)
    model = replace(admitted.model, on_grid=True, template_tokens=11)
    on_grid = replace(admitted, model=model)

    assert most_steps(on_grid) == most_steps(admitted) + 4
    assert worst_of(on_grid).prefill_tokens == worst_of(admitted).prefill_tokens + 8 + 11
