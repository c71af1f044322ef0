"""Breadth-first search over canvases (after Zhang et al. 2025, arXiv 2505.23614).

Several paths are denoised side by side; at every look each has children by the softmax of its score, so that steps go
where the text is surest. The score of a path is that of its draft, which its last step has filled from logits that were
there anyway: a look costs no forward.

By default a look is taken where canvases end, and then nothing is lost: the next canvas of a path starts from masks
behind the tokens of those before it. With ``every`` = k there is one after k steps of a canvas, too. Then a run must
stop in the middle of its schedule and another go on with it. A run with ``max_steps`` = k does not do that: the engine
gives a step ceil(open / steps left) tokens to reveal, so with k steps in all each would reveal N/k times as much as
with N, and what has been fixed in such a hurry is no state of the N-step run. Neither does a total of k, as a canvas
may take the lesser of both. So a run has all N − taken steps that its canvas has left, and an exit whose bounds every
step meets stops it after k: its quotas are those of the whole run. `unmask.search.path.extended` then opens again what
the exit has filled.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from unmask.backend import Request
from unmask.search.candidates import concluded
from unmask.search.found import Found
from unmask.search.legs import gone_on, leg
from unmask.search.path import Path
from unmask.search.plan import Children
from unmask.search.requests import drawn
from unmask.search.running import Limit, Runner, Setting
from unmask.search.score import Scored


async def breadth(setting: Setting) -> Found:
    """Denoise ``width`` paths side by side, look at every canvas or every few steps, and return the best answer.

    The first child of the likeliest path is drawn as the request is, all others at the plan's temperature. Paths that
    have ended are answers and have no children. Of the steps, those that one path needs to its end are kept back; where
    the search is over before any path has ended, the likeliest is run to its end with them.

    Raises:
        UnmaskError: no path could be run to its end.
    """
    return await _Breadth(setting).run()


class _Breadth:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._runner = Runner(setting)
        self._answers: list[Scored] = []
        self._begun = 0

    async def run(self) -> Found:
        runner, plan = self._runner, self._setting.plan
        paths = [Path()] * plan.width
        while paths and not runner.is_over():
            paths = self._children(await self._round(self._affordable(paths)))
        if not self._answers:
            await self._finish(paths)
        return await concluded(runner, self._answers)

    async def _round(self, paths: Sequence[Path]) -> list[Path]:
        """Run each path to the next look; return those that go on, and keep those that have ended."""
        setting, first = self._setting, self._begun
        requests = [self._request(path, is_warm=place > 0) for place, path in enumerate(paths)]
        most = max(setting.max_steps - path.taken for path in paths)
        found = await self._runner.together(requests, most)
        going: list[Path] = []
        for place, (path, generation) in enumerate(zip(paths, found, strict=True)):
            if generation is None:
                continue
            longer = gone_on(setting, path, generation)
            if longer.ended:
                self._keep(longer, first + place)
            else:
                going.append(longer)
        return going

    def _request(self, path: Path, *, is_warm: bool) -> Request:
        setting = self._setting
        number, self._begun = self._begun, self._begun + 1
        return leg(setting, path, drawn(setting, number, is_warm=is_warm), setting.plan.breadth.every)

    def _affordable(self, paths: list[Path]) -> list[Path]:
        """Return as many paths, the first of them, as leave the steps that one needs to its end."""
        setting = self._setting
        canvas = setting.max_steps - paths[0].taken
        look = min(setting.plan.breadth.every or canvas, canvas)
        rest = self._most_left(paths[0]) - look
        count = max(1, (self._runner.purse.left - rest) // look)
        if count < len(paths):
            self._runner.cut(len(paths) - count, "given up", Limit.MAX_TOTAL_STEPS)
        return paths[:count]

    def _most_left(self, path: Path) -> int:
        """Return the most steps that a path may still take to its end."""
        setting = self._setting
        canvases = -(-(setting.max_tokens - sum(map(len, path.full))) // setting.canvas_length)
        return max(1, min(canvases * setting.max_steps - path.taken, setting.most_steps))

    def _children(self, paths: list[Path]) -> list[Path]:
        """Return the paths that go on, the likeliest first, each as often as it has children."""
        if not paths:
            return []
        paths.sort(key=self._value, reverse=True)
        counts = wanted = self._counts(paths, self._setting.plan.width)
        if self._runner.width < self._setting.plan.width:
            counts = self._counts(paths, self._runner.width)
        if sum(counts) < sum(wanted):
            self._runner.cut(sum(wanted) - sum(counts), "not begun", Limit.NARROWED)
        return [path for path, count in zip(paths, counts, strict=False) for _ in range(count)]

    def _counts(self, paths: Sequence[Path], width: int) -> list[int]:
        """Return how many children each of the likeliest paths has in a search of a width, answers included."""
        plan, left = self._setting.plan, width - len(self._answers)
        if left < 1:
            return []
        weights = softmax([self._value(path) / plan.breadth.sharpness for path in paths])
        match plan.breadth.children:
            case Children.RESAMPLE:
                counts = shared_out(left, weights)
            case Children.PRUNE:
                counts = [min(1, round(left * weight)) for weight in weights]
            case _:
                assert_never(plan.breadth.children)
        return counts if any(counts) else [1]

    def _value(self, path: Path) -> float:
        """Return what a path's weight goes by; of a draft that fails the verifier it is e times less."""
        score = path.score(self._setting.check)
        return path.confidence - (0.0 if score.passes else self._setting.plan.breadth.sharpness)

    async def _finish(self, paths: list[Path]) -> None:
        path = paths[0] if paths else Path()
        setting = self._setting
        request = replace(self._request(path, is_warm=False), max_tokens=setting.request.max_tokens, exit=None)
        generation = await self._runner.one(replace(request, budget=setting.request.budget), self._most_left(path))
        if generation is not None:
            path = gone_on(setting, path, generation)
        self._keep(path, self._begun - 1)

    def _keep(self, path: Path, number: int) -> None:
        assert path.generation is not None, "it was run"
        score = path.score(self._setting.check)
        self._answers.append(Scored(number=number, generation=path.generation, score=score))
        self._runner.has_answer, self._runner.beside = True, len(self._answers)


def softmax(values: Sequence[float]) -> list[float]:
    """Return weights in proportion to e to the power of each value; they sum to 1."""
    most = max(values)
    powers = [math.exp(value - most) for value in values]
    return [power / sum(powers) for power in powers]


def shared_out(count: int, weights: Sequence[float]) -> list[int]:
    """Return whole shares of ``count``: rounded down, the rest one each to the largest remainders, of equals the first.

    Unlike a draw it gives no path more than one child above its due, and the same ones every time.
    """
    shares = [count * weight for weight in weights]
    whole = [math.floor(share) for share in shares]
    ranked = sorted(range(len(shares)), key=lambda place: (whole[place] - shares[place], place))
    for place in ranked[: count - sum(whole)]:
        whole[place] += 1
    return whole
