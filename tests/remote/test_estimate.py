"""Laws of estimates from counters, and what is read out of a page of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from unmask.remote.allowance import Allowance
from unmask.remote.counters import Counters, CountersError, read_counters
from unmask.remote.estimate import Asked, estimated

ZERO = Counters(passes=0, positions=0, committed=0, busy=0)
WIDTHS = some.sampled_from([4, 32, 256])
COUNTS = some.integers(1, 64)


def after(steps: int, canvases: int, width: int, before: Counters = ZERO) -> Counters:
    """Return counters once so many steps were taken, and each canvas committed by a pass of its own."""
    passes = steps + canvases
    return Counters(
        passes=before.passes + passes,
        positions=before.positions + passes * width,
        committed=before.committed + canvases * width,
        busy=before.busy,
    )


def asked(steps: int, canvases: int, width: int) -> Asked:
    """Return a request for an answer that fills so many canvases."""
    return Asked(allowance=Allowance(steps=steps, width=width), tokens=canvases * width, may_begin_more=False)


@given(steps=COUNTS, canvases=COUNTS, width=WIDTHS, cap=COUNTS, earlier=COUNTS)
def test_alone_it_is_exact(steps: int, canvases: int, width: int, cap: int, earlier: int) -> None:
    """Passes that commit are no steps, whatever was counted before; and a cap is ignored from one step above it."""
    before = after(earlier, earlier, width)
    found = estimated(before, after(steps, canvases, width, before), asked(cap, canvases, width), is_alone=True)

    assert found is not None
    assert (found.steps, found.is_alone, found.ignores_cap) == (steps, True, steps > cap * canvases)


@given(steps=COUNTS, others=COUNTS, canvases=COUNTS, more=COUNTS, width=WIDTHS, cap=COUNTS)
def test_others_never_make_it_dearer_than_its_cap(
    steps: int, others: int, canvases: int, more: int, width: int, cap: int
) -> None:
    """In company it has its tokens' share, at most its cap, and no cap is said to be ignored."""
    own = after(steps, canvases, width)
    found = estimated(ZERO, after(others, more, width, own), asked(cap, canvases, width), is_alone=True)

    assert found is not None
    share = (steps + others) * canvases / (canvases + more)
    assert abs(found.steps - min(share, cap * canvases)) <= 0.5
    assert (found.is_alone, found.ignores_cap) == (False, False)


@pytest.mark.parametrize("busy", [0, 1])
def test_a_busy_server_is_not_alone(busy: int) -> None:
    """Whoever else is there may have been counted without having committed."""
    found = estimated(ZERO, replace(after(9, 1, 32), busy=busy), asked(4, 1, 32), is_alone=True)

    assert found is not None
    assert (found.steps, found.ignores_cap) == ((4, False) if busy else (9, True))


def test_bench_figures_of_vllm() -> None:
    """Its published run has 15,978 steps by its bench, where its log, which counts commits, comes to 16,978."""
    found = estimated(
        ZERO,
        Counters(passes=16_978, positions=4_346_368, committed=256_000, busy=0),
        asked(48, 1_000, 256),
        is_alone=True,
    )

    assert found is not None
    assert found.steps == 15_978


@pytest.mark.parametrize(
    "counted",
    [ZERO, after(9, 0, 32), after(9, 1, 16), Counters(passes=1, positions=0, committed=32, busy=0)],
)
def test_counts_that_make_no_sense(counted: Counters) -> None:
    """Fewer tokens than the answer has, or fewer positions than tokens, say nothing."""
    assert estimated(ZERO, counted, asked(4, 1, 32), is_alone=True) is None


@pytest.mark.parametrize(("steps", "is_held_against"), [(8, False), (9, True)])
def test_a_canvas_may_have_been_begun_behind_a_stop_sequence(steps: int, *, is_held_against: bool) -> None:
    """Its steps count, and the server may take as many for it as for any other."""
    stopped = replace(asked(4, 1, 32), may_begin_more=True)
    found = estimated(ZERO, after(steps, 1, 32), stopped, is_alone=True)

    assert found is not None
    assert (found.steps, found.ignores_cap) == (steps, is_held_against)


PAGE = """# HELP vllm:diffusion_num_denoising_steps_total Number of denoising steps.
vllm:diffusion_num_denoising_steps_total{engine="0",model_name="한글, {\\"m\\"}"} 2.0
vllm:diffusion_num_denoising_steps_total{engine="1",model_name="m"} 3.0
vllm:diffusion_num_denoising_steps_created{engine="0",model_name="m"} 1.7e+09
vllm:diffusion_num_canvas_positions_total 160
vllm:diffusion_num_committed_tokens_total 32
vllm:num_requests_running{engine="0"} 1.0
vllm:num_requests_waiting{engine="0"} 2.0
other{a="b"} no number
"""


def test_page_is_read() -> None:
    """Engines are added up; what has another name is not looked at."""
    assert read_counters(PAGE) == Counters(passes=5, positions=160, committed=32, busy=3)


@pytest.mark.parametrize(
    ("old", "new"),
    [(" 160", " x"), (" 160", " NaN"), (" 160", " -1"), ("canvas_positions", "canvases")],
)
def test_page_that_is_none(old: str, new: str) -> None:
    """A counter that is missing or no number is an error, and nothing is made up for it."""
    with pytest.raises(CountersError):
        read_counters(PAGE.replace(old, new))


@given(some.text())
def test_no_page_breaks_the_reader(text: str) -> None:
    """Whatever is answered, it is counters or an error."""
    with pytest.raises(CountersError):
        read_counters(text + PAGE.replace("canvas_positions", text[:1] or "x"))
