"""A review at a terminal: one mark after the other, each decision kept before the next is asked for."""

from collections.abc import Callable
from dataclasses import dataclass

from unmask.cli.gate_review_show import answer_text, mark_text, progress_text
from unmask.cli.tools import Tools
from unmask.gate.correction import NEED_NOTES, Decision, Ruling
from unmask.gate.review_errors import ReviewError
from unmask.gate.review_queue import ReviewItem
from unmask.gate.reviewed import ReviewedRun

KEYS = {
    "c": Decision.CORRECT,
    "w": Decision.WRONG,
    "j": Decision.JUDGE_ERROR,
    "s": Decision.SCENARIO_ERROR,
}
SKIP = {"", "k", "skip"}
QUIT = {"q", "quit"}
ASKED = "c correct, w wrong, j judge error, s scenario error, k skip, q quit: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One reviewer at one terminal.

    Attributes:
        run: its decisions are read anew before each mark, so that what another terminal has decided is not asked again.
        wanted: which of a run's marks are asked for.
        read: asks a question and returns a line; ``EOFError`` at the end of all input.
    """

    who: str
    tools: Tools
    run: ReviewedRun
    wanted: Callable[[ReviewedRun], tuple[ReviewItem, ...]]
    read: Callable[[str], str]

    def go(self) -> None:
        """Ask until everything is judged or the reviewer quits; Ctrl-C loses no decision that was confirmed."""
        skipped = set()
        shown = None
        while True:
            run = self.run.refreshed()
            item = next((one for one in self.wanted(run) if one.name not in skipped), None)
            if item is None:
                self.tools.say(f"nothing more to judge; {progress_text(run)}")
                return
            if item.response.key != shown:
                self.tools.say(progress_text(run))
                self.tools.write(answer_text(item))
                shown = item.response.key
            self.tools.write(mark_text(item, run.standing.of_each.get(item.name, ())))
            try:
                is_decided = self._ask(run, item)
            except EOFError:
                self.tools.say("")
                return
            if not is_decided:
                skipped.add(item.name)

    def _ask(self, run: ReviewedRun, item: ReviewItem) -> bool:
        """Ask for a decision until it is one, and keep it; false where it was skipped."""
        while True:
            entered = self.read(ASKED).strip().lower()
            if entered in SKIP:
                return False
            if entered in QUIT:
                raise EOFError
            decision = KEYS.get(entered[:1]) if entered in {*KEYS, *map(_spelled, Decision)} else None
            if decision is None:
                self.tools.say(f"{entered!r} is no decision, allowed: {', '.join(KEYS)}, k, q")
                continue
            try:
                ruling = self._ruling(item, decision)
                correction = run.correction_of(item.name, ruling, who=self.who, when=self.tools.now())
            except ReviewError as error:
                self.tools.say(error.message)
                continue
            run.store.add(correction)
            self.tools.say(f"kept as {correction.id}")
            return True

    def _ruling(self, item: ReviewItem, decision: Decision) -> Ruling:
        value = None
        if decision is Decision.JUDGE_ERROR and item.mark.value not in {0.0, 1.0}:
            value = _number(self.read("what it should be, 0 to 1, empty for the other side: "))
        note = self.read("note: " if decision in NEED_NOTES else "note, may be empty: ")
        return Ruling(decision=decision, value=value, note=note)


def _spelled(decision: Decision) -> str:
    return decision.replace("_", " ")


def _number(text: str) -> float | None:
    try:
        return float(text) if text.strip() else None
    except ValueError as error:
        raise ReviewError(f"{text[:40]!r} is no number, allowed: 0 to 1") from error
