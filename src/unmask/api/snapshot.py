"""The draft of a canvas, as clients see it denoise."""

from unmask.backend import StepEvent


def snapshot(index: int, event: StepEvent) -> dict[str, object]:
    """Write the canvas of a choice after a step; canvases count from 0 and steps from 1."""
    return {
        "index": index,
        "canvas": event.canvas,
        "step": event.step,
        "max_steps": event.max_steps,
        "pieces": [{"text": piece.text, "state": piece.state.value} for piece in event.pieces],
    }
