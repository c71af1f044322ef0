"""Depth-first search with steps back (after Zhang et al. 2025, arXiv 2505.23614).

Where an answer is not good enough, the tokens of its last steps are masked again and denoised anew; the paper adds
noise to a continuous state in their place. What earlier steps have fixed stands, so a step back costs a part of a run.
"""

from dataclasses import replace

from unmask.search.candidates import concluded
from unmask.search.found import Found
from unmask.search.path import Path, extended, taken_back
from unmask.search.requests import capped, drawn
from unmask.search.running import Runner, Setting
from unmask.search.score import Scored


async def depth(setting: Setting) -> Found:
    """Run the request, and take its last steps back as long as the best answer seen is not good enough.

    An answer is good enough when it passes the verifier and is as sure as the plan's threshold. At most
    ``width`` − 1 times the tokens of the last `SearchPlan.back` steps are taken back, in the canvas that holds the
    least sure one, twice as many each time that nothing better comes of it; then the best seen is the answer. The
    canvas has its whole budget of steps again and takes at most one for every token it lacks, so it is denoised more
    carefully than before.

    Raises:
        UnmaskError: the first run could not be made.
    """
    runner, plan = Runner(setting), setting.plan
    first = await _run(runner, Path(), 0)
    assert first is not None, "a first run without an answer raises"
    best, answers, back = first, [_scored(setting, first, 0)], plan.back
    runner.has_answer = True
    for number in range(1, plan.width):
        if best.score(setting.check).clears(plan.threshold) or runner.is_over(number):
            break
        runner.beside = number
        found = await _run(runner, taken_back(best, back), number)
        if found is None:
            break
        answers.append(_scored(setting, found, number))
        is_better = found.score(setting.check).rank > best.score(setting.check).rank
        best, back = (found, plan.back) if is_better else (best, 2 * back)
    return await concluded(runner, answers)


async def _run(runner: Runner, path: Path, number: int) -> Path | None:
    setting = runner.setting
    request = capped(path.request(drawn(setting, number)), setting.max_steps)
    generation = await runner.one(request, setting.most_steps)
    if generation is None:
        return None
    window = setting.request.strategy.effective_window
    return extended(replace(path, taken=0), generation, max_tokens=setting.max_tokens, window=window)


def _scored(setting: Setting, path: Path, number: int) -> Scored:
    assert path.generation is not None, "it was run"
    return Scored(number=number, generation=path.generation, score=path.score(setting.check))
