"""Exits in the books: when a draft is judged, when a canvas stops, and what a control run notes."""

from dataclasses import replace

import pytest

from unmask.plan import CanvasResult, ExitOffer
from unmask.policy.exit_rule import MEASURED
from unmask.sched.ending import Writer
from unmask.sched.exits import rule_of, wanted_signals, with_exit
from unmask.sched.progress import apply_result
from unmask.sequence import Canvas, NotedExit, Sequence
from unmask.testing.exits import make_plan, make_progress, make_rule
from unmask.testing.networks import TINY_ADAPTER, letter, spell
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import DraftCheck, ExitAction, ExitReason, ExitRule, Outcome, ProgressSignal, StepTrace

MASK, END = TINY_ADAPTER.mask, TINY_ADAPTER.end
WRITER = Writer(end=END, token_bytes=letter)
MET = make_progress(flips=0.0, confidence_min=0.9)
DRAFT = (9, 8, END, END)
OPEN = (9, MASK, MASK, MASK)


class Judge:
    """A check that remembers what it was asked."""

    def __init__(self, verdict: bool = True) -> None:
        self.texts: list[str] = []
        self.verdict = verdict

    def __call__(self, text: str) -> bool:
        """Return the verdict."""
        self.texts.append(text)
        return self.verdict


def broken(text: str) -> bool:
    """Fail to judge."""
    raise ZeroDivisionError


def denoising(
    rule: ExitRule,
    *,
    action: ExitAction = ExitAction.STOP,
    check: DraftCheck | None = None,
    output: tuple[int, ...] = (),
    trace: bool = False,
    stop: tuple[str, ...] = (),
) -> Sequence:
    """Return a sequence of at most two canvases of four, the open one with one step taken."""
    submission = make_submission(
        max_tokens=8, canvas_length=4, exit=make_plan(action, rule), check=check, trace=trace, stop=stop
    )
    canvas = Canvas(tokens=OPEN, limit=4, max_steps=4, steps=1)
    return make_sequence(
        submission, canvas=canvas, canvases=1, steps=1, pending=(), output=list(output), text=spell(output)
    )


def offered(tokens: tuple[int, ...] = DRAFT, *, traced: bool = False) -> CanvasResult:
    """Return a step that meets its rule as far as logits tell."""
    record = StepTrace(
        canvas=0, step=1, max_steps=4, draft=tokens, fixed=(True, False, False, False), confidence=(), entropy=()
    )
    return CanvasResult(
        tokens=OPEN,
        finished=False,
        converged=False,
        state=None,
        record=record if traced else None,
        progress=MET,
        offer=ExitOffer(tokens=tokens),
    )


def settle(sequence: Sequence, result: CanvasResult) -> CanvasResult:
    """Let a step's exit be decided, and book what comes of it."""
    settled = with_exit(sequence, result, WRITER)
    apply_result(sequence, settled, WRITER)
    return settled


def test_a_canvas_stops_with_the_draft() -> None:
    """What is offered is the answer, and the reason is told."""
    sequence = denoising(make_rule())
    result = settle(sequence, offered())

    assert (result.tokens, result.finished, result.exited) == (DRAFT, True, True)
    assert (sequence.text, sequence.steps, sequence.outcome) == (spell((9, 8)), 2, Outcome.COMPLETED)
    assert (sequence.exit_reason, sequence.exited, sequence.control) == (ExitReason.EARLY_EXIT, True, None)


def test_a_step_without_an_offer_breaks_the_row() -> None:
    """Patience counts steps in a row."""
    sequence = denoising(make_rule(patience=2))
    unmet = replace(offered(), offer=None)
    ends = [settle(sequence, result).finished for result in (offered(), unmet, offered(), offered())]

    assert ends == [False, False, False, True]


@pytest.mark.parametrize("verdict", [True, False])
def test_the_format_is_judged_on_the_whole_answer(verdict: bool) -> None:
    """Earlier canvases and the draft up to its end token; a draft that fails does not stop."""
    judge = Judge(verdict)
    sequence = denoising(make_rule(is_formatted=True), check=judge, output=(5, 6, 7, 8))

    assert settle(sequence, offered()).finished is verdict
    assert judge.texts == [spell((5, 6, 7, 8, 9, 8))]


def test_the_format_is_judged_last() -> None:
    """Where nothing is offered, or the rule reads no format, nobody is asked."""
    judge = Judge()
    settle(denoising(make_rule(is_formatted=True), check=judge), replace(offered(), offer=None))
    settle(denoising(make_rule(), check=judge), offered())

    assert judge.texts == []


def test_a_draft_that_goes_on_is_not_judged() -> None:
    """Without an end token another canvas would follow: two other kinds stop it all the same, one does not."""
    judge, draft = Judge(verdict=False), (9, 8, 7, 6)

    assert settle(denoising(make_rule(is_formatted=True), check=judge), offered(draft)).exited
    one_kind = make_rule(flips=None, is_formatted=True)
    assert not settle(denoising(one_kind, check=judge), offered(draft)).exited
    assert judge.texts == []


@pytest.mark.parametrize(("output", "stop"), [((5, 6, 7, 8), ()), ((), (spell((7, 6)),))])
def test_a_draft_that_is_cut_is_judged(output: tuple[int, ...], stop: tuple[str, ...]) -> None:
    """An answer also ends at ``max_tokens`` and at a stop sequence, and is judged as it would be."""
    judge = Judge()
    settle(denoising(make_rule(is_formatted=True), check=judge, output=output, stop=stop), offered((9, 8, 7, 6)))

    assert judge.texts == [spell((*output, 9, 8)) if stop else spell((*output, 9, 8, 7, 6))]


def test_a_check_that_breaks_has_not_passed() -> None:
    """Whoever judges badly keeps a canvas going and ends nothing."""
    assert not settle(denoising(make_rule(is_formatted=True), check=broken), offered()).finished


def test_without_a_check_a_format_is_never_met() -> None:
    """The engine is not even asked."""
    sequence = denoising(make_rule(is_formatted=True))
    assert sequence.canvas is not None

    assert rule_of(sequence, sequence.canvas) is None
    assert wanted_signals(sequence, None) == frozenset()


def test_only_what_a_rule_reads_is_measured_and_all_for_a_trace() -> None:
    """The format is no matter of logits."""
    rule = make_rule(is_formatted=True)
    wanted = wanted_signals(denoising(rule, check=Judge()), rule)

    assert wanted == {ProgressSignal.FLIPS, ProgressSignal.CONFIDENCE_MIN}
    assert wanted_signals(denoising(rule, trace=True), None) == frozenset(MEASURED)


def test_a_control_run_notes_the_first_exit_and_goes_on() -> None:
    """The draft and steps of the first step that met the rule; nothing more is asked of the engine for that canvas."""
    sequence = denoising(make_rule(), action=ExitAction.OBSERVE)
    result = settle(sequence, offered())
    canvas = sequence.canvas
    assert canvas is not None

    assert (result.tokens, result.finished) == (OPEN, False)
    assert canvas.noted == NotedExit(steps=2, tokens=DRAFT, progress=offered().progress)
    assert rule_of(sequence, canvas) is None


def end_canvas(sequence: Sequence, tokens: tuple[int, ...]) -> None:
    """Finish the open canvas as its full run does."""
    settle(sequence, replace(offered(), tokens=tokens, finished=True, converged=True, offer=None))


def control_of(sequence: Sequence) -> Sequence:
    """Return what a control run would have been."""
    assert sequence.control is not None
    return sequence.control


def test_a_control_ends_where_its_draft_ends() -> None:
    """Later canvases of the full run would not have started."""
    sequence = denoising(make_rule(), action=ExitAction.OBSERVE)
    settle(sequence, offered())
    end_canvas(sequence, (9, 8, 7, 6))
    sequence.canvas = Canvas(tokens=OPEN, limit=4, max_steps=4, steps=0)
    end_canvas(sequence, (5, END, END, END))
    control = control_of(sequence)

    assert (sequence.text, sequence.steps) == (spell((9, 8, 7, 6, 5)), 4)
    assert (control.text, control.steps, control.outcome) == (spell((9, 8)), 2, Outcome.COMPLETED)


def test_a_control_takes_canvases_without_an_exit_as_they_are() -> None:
    """Steps and text of a canvas that met no rule are those of the full run, before and after one that did."""
    sequence = denoising(make_rule(), action=ExitAction.OBSERVE)
    sequence.submission = replace(sequence.submission, max_tokens=12)
    end_canvas(sequence, (2, 3, 4, 5))
    assert not sequence.exited
    sequence.canvas = Canvas(tokens=OPEN, limit=4, max_steps=4, steps=0)
    settle(sequence, offered((9, 8, 7, 6)))
    settle(sequence, replace(offered(), offer=None))
    end_canvas(sequence, (9, 8, 7, 5))
    sequence.canvas = Canvas(tokens=OPEN, limit=4, max_steps=4, steps=0)
    end_canvas(sequence, (7, END, END, END))
    control = control_of(sequence)

    assert (sequence.text, sequence.steps) == (spell((2, 3, 4, 5, 9, 8, 7, 5, 7)), 6)
    assert (control.text, control.steps) == (spell((2, 3, 4, 5, 9, 8, 7, 6, 7)), 4)


def test_a_control_whose_draft_goes_on_ends_with_its_run() -> None:
    """What would have followed is not known."""
    sequence = denoising(make_rule(), action=ExitAction.OBSERVE)
    settle(sequence, offered((9, 8, 7, 6)))
    end_canvas(sequence, (9, END, END, END))
    control = control_of(sequence)

    assert (control.text, control.steps, control.outcome) == (spell((9, 8, 7, 6)), 2, Outcome.COMPLETED)


def test_a_trace_tells_progress_format_and_text() -> None:
    """Of every step, whether or not the rule is met; a canvas that stops is shown as decided."""
    judge = Judge(verdict=True)
    sequence = denoising(make_rule(min_steps=3), check=judge, trace=True)
    settle(sequence, replace(offered(traced=True), offer=None))
    settle(sequence, offered(traced=True))
    first, last = sequence.trace

    assert first.progress == MET.replaced(ProgressSignal.FORMAT, 1.0)
    assert (first.data, first.ends) == (spell((9, 8)).encode(), True)
    assert first.fixed == (True, False, False, False)
    assert last.fixed == (True,) * 4
    assert len(judge.texts) == 2


def test_a_trace_counts_what_may_become_output() -> None:
    """Of a draft that reaches ``max_tokens`` no more than fits, and it ends there."""
    sequence = denoising(make_rule(min_steps=9), trace=True, output=(5, 6, 7, 8, 9, 9))
    settle(sequence, offered((9, 8, 7, 6), traced=True))
    (entry,) = sequence.trace

    assert (entry.data, entry.ends) == (spell((9, 8)).encode(), True)
    assert entry.progress is not None
    assert entry.progress[ProgressSignal.FORMAT] is None
