"""What ``unmask gate review`` shows: an answer with all that was made of it, lists and records."""

from collections.abc import Sequence

from unmask.gate.correction import Correction
from unmask.gate.response import TurnResponse
from unmask.gate.review_queue import ReviewItem
from unmask.gate.reviewed import Progress, ReviewedRun
from unmask.gate.score import Mark
from unmask.gate.standing import Judged
from unmask.types import Role


def name_of(name: Judged) -> str:
    """Write which mark is meant, as ``--decide`` takes it."""
    key, metric = name
    return f"{key.scenario}:{key.seed}:{key.system}:{metric}"


def progress_text(run: ReviewedRun) -> str:
    """Say how many marks of each stratum are judged."""
    targeted, audit = run.targeted, run.audit
    drawn = "none drawn, see --audit" if run.queue.draw is None else f"{audit.judged} of {audit.of} judged"
    return f"targeted: {targeted.judged} of {targeted.of} judged; random audit: {drawn}"


def answer_text(item: ReviewItem) -> str:
    """Write an answer for whoever judges it: what was asked, which facts the model had, and what it said."""
    key = item.response.key
    lines = [f"=== {key.scenario} (seed {key.seed}, {key.system}), a {item.scored.kind} of {item.scored.cluster}"]
    for number, turn in enumerate(item.response.turns, start=1):
        lines += _turn_lines(number, turn)
    return "\n".join(map(printable, lines))


def mark_text(item: ReviewItem, words: Sequence[Correction]) -> str:
    """Write a mark with its votes, why it is in the queue, and what was decided of it so far."""
    mark = item.mark
    lines = [f"--- {mark.metric}: {_value(mark)}{', borderline' if mark.borderline else ''} [{strata_text(item)}]"]
    lines += [f"    {why}" for why in mark.why]
    for vote in mark.votes:
        value = "unscored" if vote.value is None else f"{vote.value:g}"
        lines.append(f"    {vote.judge} votes {value}: {vote.reason or vote.raw}")
    lines += [f"    {word_text(word)}" for word in words]
    return "\n".join(map(printable, lines))


def word_text(word: Correction) -> str:
    """Write a decision in one line."""
    value = "" if word.value is None else f", value {word.value:g}"
    note = f": {word.note}" if word.note else ""
    return f"{word.id} {word.who} at {word.when}: {word.decision.replace('_', ' ')}{value}{note}"


def strata_text(item: ReviewItem) -> str:
    """Say why a mark is in the queue, with both facts where there are two."""
    parts = [] if item.look is None else [f"{item.look} (all taken)"]
    if item.audit is not None:
        parts.append(f"drawn ({item.audit:.4g})")
    return "; ".join(parts)


def list_line(run: ReviewedRun, item: ReviewItem) -> str:
    """Write a mark of the queue with what was decided of it in one line, whose beginning ``--decide`` takes."""
    latest = run.standing.latest.get(item.name) or run.standing.scenario_errors.get(item.response.key.scenario)
    parts = [f"{name_of(item.name)}  {_value(item.mark)}", strata_text(item)]
    if latest is not None:
        note = f": {' '.join(latest.note.split())}" if latest.note else ""
        parts.append(f"{latest.decision.replace('_', ' ')} by {latest.who}{note}")
    return printable("; ".join(parts))


def disagreement_lines(run: ReviewedRun) -> list[str]:
    """Say where reviewers disagree."""
    return [
        printable(
            f"{name_of(found.name)}: reviewers disagree, the last word counts\n"
            + "\n".join(f"    {word_text(word)}" for word in found.words)
        )
        for found in run.standing.disagreements
    ]


def run_record(run: ReviewedRun, items: Sequence[ReviewItem]) -> dict[str, object]:
    """Return a queue, or a part of it, for machines."""
    draw = run.queue.draw
    return {
        "run": run.binding.run,
        "url": run.folder.url,
        "draw": None if draw is None else {"seed": draw.seed, "n": draw.n, "of": draw.of, "who": draw.who},
        "targeted": _progress_record(run.targeted),
        "audit": _progress_record(run.audit),
        "items": [item_record(run, item) for item in items],
        "disagreements": [
            {"mark": name_of(found.name), "words": [correction_record(word) for word in found.words]}
            for found in run.standing.disagreements
        ],
        "foreign": [correction_record(word) for word in run.standing.foreign],
    }


def item_record(run: ReviewedRun, item: ReviewItem) -> dict[str, object]:
    """Return one mark with its answer, for machines."""
    return {
        "mark": name_of(item.name),
        "look": item.look,
        "targeted_probability": item.targeted,
        "audit_probability": item.audit,
        "value": item.mark.value,
        "why": item.mark.why,
        "borderline": item.mark.borderline,
        "votes": item.mark.votes,
        "turns": item.response.turns,
        "judged": run.is_judged(item),
        "decisions": [correction_record(word) for word in _history(run, item)],
    }


def correction_record(word: Correction) -> dict[str, object]:
    """Return a decision, for machines."""
    return {
        "id": word.id,
        "mark": name_of((word.key, word.metric)),
        "decision": word.decision,
        "value": word.value,
        "note": word.note,
        "who": word.who,
        "when": word.when,
        "of_score": word.of_score,
        "of_answer": word.of_answer,
    }


def printable(text: str) -> str:
    """Write control characters as escapes: an answer must not steer the terminal of whoever reads it."""
    return "".join(one if one.isprintable() or one in "\n\t" else f"\\x{ord(one):02x}" for one in text)


def _history(run: ReviewedRun, item: ReviewItem) -> list[Correction]:
    return [word for word in run.corrections if (word.key, word.metric) == item.name]


def _turn_lines(number: int, turn: TurnResponse) -> list[str]:
    asked = [message.content for message in turn.messages if message.role is Role.USER]
    facts = [f"    {fact.id} ({fact.reason}, {fact.score:g})" for fact in turn.context.facts]
    return [
        f"--- question {number}",
        asked[-1] if asked else "(none)",
        f"--- facts it was given ({len(facts)}, {turn.context.tokens} tokens)",
        turn.context.text,
        *facts,
        f"--- answer {number} ({turn.finish_reason}, {turn.output_tokens} tokens)",
        turn.text or "(empty)",
    ]


def _value(mark: Mark) -> str:
    return "unscored" if mark.value is None else f"{mark.value:g}"


def _progress_record(progress: Progress) -> dict[str, int]:
    return {"judged": progress.judged, "of": progress.of}
