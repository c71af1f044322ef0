"""Legs: runs that stop in the middle of a canvas, to be looked at, and that another goes on from."""

from dataclasses import replace

from unmask.backend import Request
from unmask.search.path import Path
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
