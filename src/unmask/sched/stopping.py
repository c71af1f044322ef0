"""Ends an answer that is complete: what would follow is not denoised."""

import logging
from dataclasses import replace

from unmask.plan import CanvasResult
from unmask.sched.ending import Writer
from unmask.sequence import Sequence
from unmask.types import DraftCheck

SENTENCE_ENDS = frozenset(".!?。！？…")
_CLOSING = "\"')]}»”’」』"

logger = logging.getLogger(__name__)


def with_stop(sequence: Sequence, result: CanvasResult, writer: Writer, mask: int) -> CanvasResult:
    """Return what becomes of a canvas after a step: ended behind a sentence where the answer is complete there.

    Only tokens from the canvas's start on that are all revealed are looked at, each once. What follows is end tokens,
    for nothing of it may become output.
    """
    canvas, check = sequence.canvas, sequence.submission.complete
    assert canvas is not None, "a canvas result belongs to an open canvas"
    if check is None:
        return result
    open_from = result.tokens.index(mask) if mask in result.tokens else len(result.tokens)
    revealed = result.tokens[: min(open_from, canvas.limit)]
    if len(revealed) <= canvas.read:
        return result
    answer = writer.copy(sequence)
    for place, token in enumerate(revealed):
        if writer.write(answer, (token,)) is not None:
            break
        if place >= canvas.read and _ends_sentence(answer) and _passes(check, answer.text):
            length = place + 1
            tokens = result.tokens[:length] + (writer.end,) * (len(result.tokens) - length)
            return replace(result, tokens=tokens, finished=True, completed=True)
    canvas.read = len(revealed)
    return result


def _ends_sentence(answer: Sequence) -> bool:
    return not answer.unfinished and answer.text.rstrip().rstrip(_CLOSING)[-1:] in SENTENCE_ENDS


def _passes(check: DraftCheck, text: str) -> bool:
    try:
        return check(text)
    except Exception:  # a check that cannot judge has not passed, and must not end the requests beside this one
        logger.exception("the check of an answer's beginning failed")
        return False
