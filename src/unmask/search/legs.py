"""Legs: runs that stop in the middle of a canvas, to be looked at, and where a path is after a run."""

from dataclasses import replace

from unmask.backend import Generation, Request
from unmask.search.path import Path, extended
from unmask.search.requests import after, capped
from unmask.search.running import Setting


def leg(setting: Setting, path: Path, request: Request, every: int | None) -> Request:
    """Return a request that goes on where a path is, to the next look.

    A look is where a canvas ends, and ``every`` steps before that as well. The run has all the steps that its canvas
    has left, whatever stops it; see `unmask.search.breadth` for why.

    Args:
        setting: of the search.
        path: what stands.
        request: how its tokens are drawn.
        every: 2 or more; ``None`` looks where canvases end.
    """
    left = setting.max_steps - path.taken
    before = sum(map(len, path.full))
    return replace(
        capped(path.request(request), left),
        max_tokens=min(setting.max_tokens, before + setting.canvas_length),
        exit=after(every) if every is not None and every < left else None,
    )


def gone_on(setting: Setting, path: Path, generation: Generation) -> Path:
    """Return where a path is after a run of it; see `unmask.search.path.extended`."""
    window = setting.request.strategy.effective_window
    return extended(path, generation, max_tokens=setting.max_tokens, window=window)
