"""What a rule would have done, told from a trace."""

from unmask.backend import ExitRecord
from unmask.policy.exit_replay import first_exit, replay
from unmask.testing.exits import make_progress, make_rule
from unmask.types import Progress, ProgressSignal, StepTrace

MET = make_progress(flips=0.0, confidence_min=0.9)
NOT_MET = make_progress(flips=0.0, confidence_min=0.1)


def entry(
    step: int, progress: Progress, data: bytes = b"", *, canvas: int = 0, done: bool = False, ends: bool = False
) -> StepTrace:
    """Return a traced step of a canvas of two positions."""
    return StepTrace(
        canvas=canvas,
        step=step,
        max_steps=4,
        draft=(5, 6),
        fixed=(True, done),
        confidence=(0.9, 0.9),
        entropy=(0.1, 0.1),
        progress=progress,
        data=data,
        ends=ends,
    )


def test_the_first_step_that_meets_it_counts() -> None:
    """Patience is in a row, and fewest steps are waited for."""
    steps = tuple(entry(step, progress) for step, progress in enumerate((MET, NOT_MET, MET, MET)))

    assert first_exit(make_rule(), steps) is steps[0]
    assert first_exit(make_rule(patience=2), steps) is steps[3]
    assert first_exit(make_rule(min_steps=2), steps) is steps[2]
    assert first_exit(make_rule(patience=3), steps) is None


def test_a_finished_canvas_is_no_exit() -> None:
    """The step that ends a canvas anyway saves nothing."""
    assert first_exit(make_rule(), (entry(0, NOT_MET), entry(1, MET, done=True))) is None


def test_canvases_are_joined_each_at_its_own_step() -> None:
    """A canvas without an exit counts as it was; the text is that of all, a character in two canvases included."""
    parts = "a안".encode()
    trace = (
        entry(0, MET, parts[:2]),
        entry(1, MET, b"xx", done=True),
        entry(0, NOT_MET, b"??", canvas=1),
        entry(1, NOT_MET, parts[2:], canvas=1, done=True, ends=True),
    )

    assert replay(make_rule(), trace) == ExitRecord(steps=3, text="a안")


def test_a_draft_that_ends_the_answer_ends_it() -> None:
    """Canvases behind an end token in an exit's draft, or behind a stop sequence, would not have started."""
    trace = (
        entry(0, MET, b"abc", ends=True),
        entry(1, MET, b"abcd", done=True),
        entry(0, MET, b"ef", canvas=1, ends=True),
    )
    open_ended = (entry(0, MET, b"abc"), *trace[1:])

    assert replay(make_rule(), trace) == ExitRecord(steps=1, text="abc")
    assert replay(make_rule(), open_ended) == ExitRecord(steps=2, text="abcef")
    assert replay(make_rule(), open_ended, stop=("bcd", "c", "bc")) == ExitRecord(steps=1, text="a")


def test_a_rule_that_is_never_met_has_no_record() -> None:
    """So has a trace without any step."""
    assert replay(make_rule(), (entry(0, NOT_MET), entry(1, NOT_MET, done=True))) is None
    assert replay(make_rule(), ()) is None


def test_a_format_that_was_never_judged_is_never_met() -> None:
    """As when serving a request without a check, whatever the other conditions say."""
    judged = MET.replaced(ProgressSignal.FORMAT, 1.0)
    last = make_progress(0, format=1.0)
    rule = make_rule(is_formatted=True)

    assert replay(rule, (entry(0, MET), entry(1, make_progress(0), done=True, ends=True))) is None
    assert replay(rule, (entry(0, judged, b"a"), entry(1, last, done=True, ends=True))) == ExitRecord(steps=1, text="a")
