"""A budget of steps that rolls over from canvas to canvas (after Kim et al. 2025, arXiv 2503.19385).

Every canvas has a quota. It is drawn again until a draw is good enough; what is left of its quota rolls to the next
canvas, and at the last one all that is left is forced into more draws to choose among. The paper accepts a draw that is
better than the best ever; log-probabilities of different canvases do not compare, so here a draw is accepted when it
clears a calibrated threshold (as in arXiv 2512.08985). The best of everything is kept.
"""

from dataclasses import dataclass, replace

from unmask.search.candidates import concluded
from unmask.search.found import Found
from unmask.search.legs import gone_on
from unmask.search.path import Path
from unmask.search.plan import DRAWS
from unmask.search.requests import capped, drawn
from unmask.search.running import Limit, Runner, Setting
from unmask.search.score import Score, Scored


async def rollover(setting: Setting) -> Found:
    """Denoise a request canvas by canvas, each drawn again until it is accepted or its quota is spent.

    The quota of a canvas is its share of all steps by the plan's weights, over as many canvases as the answer may have;
    those that it turns out not to have leave theirs unspent. A canvas's first draw is as the request, others are drawn
    at the plan's temperature. A draw is accepted when it passes the verifier (if it ends the answer) and its own mean
    log-probability clears the threshold. Of a canvas without an accepted draw the best one stands.

    Raises:
        UnmaskError: a canvas could not be run and there is no answer.
    """
    return await _Rollover(setting).run()


def quotas(total: int, canvases: int, weights: tuple[float, ...]) -> list[int]:
    """Return the steps of each canvas; they sum to the total.

    Args:
        total: steps of all.
        canvases: how many there may be.
        weights: of the first ones; 1 beyond them.
    """
    shares = [*weights[:canvases], *(1.0,) * (canvases - len(weights))]
    ends = [round(total * sum(shares[: place + 1]) / sum(shares)) for place in range(canvases)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quota:
    """Steps of one canvas: its share, what earlier canvases have left, and the fewest that a run takes."""

    steps: int
    rolled: int
    least: int

    def at(self, share: float) -> int:
        """Return the steps of a search that has such a share of its width."""
        return max(int(self.steps * share) + self.rolled, self.least)


class _Rollover:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._runner = Runner(setting)
        self._answers: list[Scored] = []
        self._begun = 0

    async def run(self) -> Found:
        setting, runner = self._setting, self._runner
        canvases, path, rolled = setting.canvases, Path(), 0
        for place, quota in enumerate(quotas(setting.total, canvases, setting.plan.weights)):
            # A canvas whose weight is too small for a single run borrows from those behind it.
            least = min(setting.max_steps, max(1, runner.purse.left - (canvases - place - 1)))
            draws, rolled = await self._draws(path, _Quota(steps=quota, rolled=rolled, least=least))
            if not draws:
                break
            path = max(draws, key=lambda draw: self._score(draw).rank)
            if path.ended:
                break
        if not self._answers:
            self._keep(path)
        return await concluded(runner, self._answers)

    async def _draws(self, path: Path, quota: _Quota) -> tuple[list[Path], int]:
        """Return the draws of a canvas and what is left of its quota; answers among them are kept."""
        setting, runner = self._setting, self._runner
        draws: list[Path] = []
        fewest, began = 1, runner.purse.spent

        def left(width: int) -> int:
            return quota.at(width / setting.plan.width) - (runner.purse.spent - began)

        while left(runner.width) >= fewest and len(draws) < DRAWS * runner.width and not (draws and runner.is_over()):
            found = await self._draw(path, left(runner.width), is_warm=bool(draws))
            if found is None:
                break
            taken = found.steps - path.steps
            # A draw with fewer steps than any so far has taken would be cut short.
            fewest = taken if not draws else min(fewest, taken)
            draws.append(found)
            if found.ended:
                self._keep(found)
            elif self._score(found).clears(setting.plan.threshold):
                break
        else:
            if left(runner.width) < fewest <= left(setting.plan.width):
                runner.limit = Limit.NARROWED
        return draws, max(0, left(runner.width))

    async def _draw(self, path: Path, quota: int, *, is_warm: bool) -> Path | None:
        setting = self._setting
        number, self._begun = self._begun, self._begun + 1
        request = path.request(drawn(setting, number, is_warm=is_warm))
        longest = min(setting.max_tokens, sum(map(len, path.full)) + setting.canvas_length)
        request = replace(capped(request, setting.max_steps), max_tokens=longest, exit=None)
        generation = await self._runner.one(request, min(setting.max_steps, quota))
        return None if generation is None else gone_on(setting, path, generation)

    def _score(self, path: Path) -> Score:
        """Return the score of a path's last canvas: of the draws of one canvas nothing else differs."""
        return replace(path.score(self._setting.check), confidence=path.last)

    def _keep(self, path: Path) -> None:
        assert path.generation is not None, "the first canvas was run, or has raised"
        self._runner.has_answer = True
        score = path.score(self._setting.check)
        self._answers.append(Scored(number=self._begun - 1, generation=path.generation, score=score))
