"""The draft of a canvas, as clients see it denoise."""

from enum import StrEnum

from unmask.backend import DraftPiece, StepEvent


class PieceState(StrEnum):
    """How sure a piece of a draft is: never to change, a guess, or nothing to show yet."""

    FIXED = "fixed"
    GUESSED = "guessed"
    MASKED = "masked"


def snapshot(index: int, event: StepEvent) -> dict[str, object]:
    """Write the canvas of a choice after a step; canvases count from 0 and steps from 1."""
    return {
        "index": index,
        "canvas": event.canvas,
        "step": event.step,
        "max_steps": event.max_steps,
        "pieces": [{"text": piece.text, "state": _state(piece).value} for piece in event.pieces],
    }


def _state(piece: DraftPiece) -> PieceState:
    if piece.fixed:
        return PieceState.FIXED
    return PieceState.GUESSED if piece.text else PieceState.MASKED
