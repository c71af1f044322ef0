"""Depth-first search with backtracking (after Zhang et al. 2025, arXiv 2505.23614).

Where an answer is not good enough, the tokens of its last steps are masked again and denoised anew; the paper adds
noise to a continuous state in their place. What earlier steps have fixed stands, so a step back costs a part of a run.

Runs are looked at on their way, where anything can be told of them before their end. One that cannot pass any more, as
something can tell of its beginning, ends there: its further steps are another run's. One whose draft is a whole answer
that is good enough ends as well, where the verifier judges what an answer says: the draft is the answer, and the steps
that would only have confirmed it are not taken.
"""

from dataclasses import replace

from unmask.backend import Lever
from unmask.search.candidates import concluded
from unmask.search.found import Found
from unmask.search.legs import gone_on, leg
from unmask.search.path import Path, taken_back
from unmask.search.requests import capped, drawn
from unmask.search.running import Runner, Setting
from unmask.search.score import Scored
from unmask.types import Verification


async def depth(setting: Setting) -> Found:
    """Run the request, and go back as long as the best answer seen is not good enough.

    An answer is good enough when it passes the verifier and is as sure as the plan's threshold. At most ``width`` runs
    are begun. Each starts from the best answer seen, or from masks where there is none yet, without the tokens of the
    last `DepthPlan.back` steps in the canvas that holds the least sure one, twice as many each time that nothing better
    comes of it. Such a canvas has its whole budget of steps again and takes at most one for every token it lacks, so it
    is denoised more carefully than before. The best seen is the answer.

    Raises:
        UnmaskError: no run came to an answer: what kept it from that.
    """
    return await _Depth(setting).run()


class _Depth:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._runner = Runner(setting)
        self._best: Path | None = None
        self._answers: list[Scored] = []

    async def run(self) -> Found:
        plan = self._setting.plan
        back = plan.depth.back
        for number in range(plan.width):
            if self._is_enough(number):
                break
            self._runner.beside = number
            start = Path() if self._best is None else taken_back(self._best, back)
            found = await self._run(start, number)
            if found is None:
                break
            is_better = found.generation is not None and self._keep(found, number)
            back = plan.depth.back if is_better else 2 * back
        return await concluded(self._runner, self._answers)

    def _is_enough(self, begun: int) -> bool:
        if self._best is None:
            return False
        score = self._best.score(self._setting.check)
        return score.clears(self._setting.plan.threshold) or self._runner.is_over(begun)

    def _keep(self, found: Path, number: int) -> bool:
        """Keep an answer; return whether it is better than all before."""
        check = self._setting.check
        assert found.generation is not None, "it was run"
        score = found.score(check)
        is_better = self._best is None or score.rank > self._best.score(check).rank
        self._best = found if is_better else self._best
        self._answers.append(Scored(number=number, generation=found.generation, score=score))
        self._runner.has_answer = True
        return is_better

    async def _run(self, path: Path, number: int) -> Path | None:
        """Return an answer, a path without one where its beginning is refuted, nothing where the search is over."""
        looks = self._may_look(number)
        while looks and not path.ended and (self._best is not None or not self._runner.is_over()):
            longer = await self._further(path, number, is_leg=True)
            if longer is None:
                return None
            path = longer
            if self._is_accepted(path):
                return replace(path, ended=True)
            if not path.ended and self._is_given_up(path, number):
                return Path()
        return path if path.ended else await self._further(path, number, is_leg=False)

    def _may_look(self, number: int) -> bool:
        """Tell whether a run is looked at on its way: not where a leg could lack steps, or the request has an exit."""
        setting = self._setting
        request, budget = setting.request, setting.request.budget
        tells = setting.accepts_drafts or setting.refutes is not None
        if not tells or Lever.EXIT not in setting.model.levers:
            return False
        runs_as_asked = number == 0 and request.exit is not None
        has_total = budget is not None and budget.max_total_steps is not None
        return not runs_as_asked and not has_total and self._runner.purse.left >= setting.most_steps

    def _is_accepted(self, path: Path) -> bool:
        """Tell whether what would be the answer if the run ended here is a whole one, and good enough."""
        setting = self._setting
        if not setting.accepts_drafts or not path.is_whole:
            return False
        score = path.score(setting.check)
        return score.verdict is Verification.PASS and score.clears(setting.plan.threshold)

    def _is_given_up(self, path: Path, number: int) -> bool:
        """Tell whether what stands is refuted; the last run without an answer before it is one, whatever it says."""
        setting, runner = self._setting, self._runner
        if self._best is None:
            is_last = number + 1 >= runner.width or runner.purse.left < setting.most_steps
            if is_last or runner.is_over():
                return False
        return setting.refutes is not None and setting.refutes(path.beginning)

    async def _further(self, path: Path, number: int, *, is_leg: bool) -> Path | None:
        """Run to the next look, or to the end."""
        setting = self._setting
        request = drawn(setting, number, is_awaited=self._best is None)
        if is_leg:
            request = leg(setting, path, request, setting.plan.depth.every)
            most = setting.max_steps - path.taken
        else:
            request, most = capped(path.request(request), setting.max_steps), setting.most_steps
        generation = await self._runner.one(request, most)
        return None if generation is None else gone_on(setting, path, generation)
