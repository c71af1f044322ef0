"""``unmask gate score``."""

import argparse
import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random, SystemRandom

import orjson

from unmask.cli.exits import UsageError
from unmask.cli.gate_exits import GateExit
from unmask.cli.gate_score_tables import print_scores, score_record
from unmask.cli.gate_trouble import Trouble
from unmask.cli.progress import progress_of
from unmask.cli.tools import Tools
from unmask.clock import SystemClock, SystemWallClock
from unmask.gate.artefacts import RunFolder
from unmask.gate.errors import RunFolderError
from unmask.gate.judges.client import JudgeClient
from unmask.gate.judges.opening import check_judge, open_judge
from unmask.gate.judges.panel import Panel
from unmask.gate.judges.rubric import Criterion
from unmask.gate.judges.settings import MOST_VOTES, PanelSettings, read_panel
from unmask.gate.judges.vote_file import VoteFile
from unmask.gate.known_wrong import Outcome, known_wrong_counts, trials_of, tried_by_code, tried_by_judges
from unmask.gate.patience import Trying
from unmask.gate.reading.phrases import load_phrases
from unmask.gate.scenario import Suite
from unmask.gate.score_run import ScoredAnswers, score_run
from unmask.gate.scorer import Scorer
from unmask.gate.suite_named import SHIPPED_SUITES, suite_named

KNOWN_WRONG = "known-wrong.json"
_GENERATED = "generated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """A run that was scored.

    Attributes:
        outcomes: how the scorer fared on answers known to be wrong; none where that was not asked for.
    """

    answers: ScoredAnswers
    outcomes: tuple[Outcome, ...]


def run_score(args: argparse.Namespace, tools: Tools) -> int:
    """Score a run, and show a row a metric."""
    folder = RunFolder(args.run)
    scoring = score_folder(folder, suite_of_run(folder, args.suite), args, tools)
    if args.json:
        tools.write_json(score_record(folder.url, scoring.answers, scoring.outcomes))
    else:
        print_scores(scoring.answers, scoring.outcomes, tools)
    return GateExit.PASS


def score_folder(folder: RunFolder, suite: Suite, args: argparse.Namespace, tools: Tools) -> Scoring:
    """Score a folder's answers as ``args`` of `unmask.cli.gate_score_parser.add_scoring` say, and keep the marks.

    Raises:
        UnmaskError: folder, suite or judges cannot be used; votes until then are kept.
    """
    return asyncio.run(_scored(folder, suite, panel_of(args), args.known_wrong, tools))


def panel_of(args: argparse.Namespace) -> PanelSettings | None:
    """Return the judges that options name, with votes and rubric; nothing where they name none.

    Raises:
        ConfigError: a file cannot be read or does not fit.
        JudgeError: a judge's key is not in the environment.
    """
    if args.k is not None and (args.judge is None or args.k > MOST_VOTES):
        raise UsageError(f"--k is {args.k}, allowed: up to {MOST_VOTES} votes of the judges of --judge")
    if args.judge is None:
        return None
    panel = read_panel(args.judge, args.k)
    for judge in panel.judges:
        check_judge(judge, os.environ)
    return panel


async def _scored(
    folder: RunFolder, suite: Suite, settings: PanelSettings | None, known_wrong: int | None, tools: Tools
) -> Scoring:
    clients: dict[str, JudgeClient] = {}
    try:
        if settings is not None:
            for judge in settings.judges:
                clients[judge.name] = open_judge(judge, os.environ, SystemWallClock())
        panel = None if settings is None else (settings, _panel(settings, clients, folder, tools))
        with progress_of(tools, "judging", "judged") as progress:
            answers = await score_run(folder, suite, load_phrases(), panel, progress)
        outcomes = () if known_wrong is None else await _tried(folder, suite, panel, known_wrong, tools)
    finally:
        for client in clients.values():
            await client.close()
    return Scoring(answers=answers, outcomes=outcomes)


def _panel(settings: PanelSettings, clients: dict[str, JudgeClient], folder: RunFolder, tools: Tools) -> Panel:
    trying = Trying(clock=SystemClock(), rng=Random(), notice=Trouble(tools))
    # Whoever wrote the answers must not foresee the fence around them.
    return Panel(settings, clients, trying, SystemRandom(), VoteFile(folder))


async def _tried(
    folder: RunFolder, suite: Suite, panel: tuple[PanelSettings, Panel] | None, most: int, tools: Tools
) -> tuple[Outcome, ...]:
    """Try the scorer on wrong answers; the same ones each time, so that votes on them are not asked for twice."""
    scorer = Scorer(suite, load_phrases())
    trials = trials_of(scorer, folder.responses(), Random(0), most)
    outcomes = list(tried_by_code(scorer, trials))
    if panel is not None:
        with progress_of(tools, "judging what is known to be wrong", "judged") as progress:
            outcomes += await tried_by_judges(scorer, trials, *panel, progress)
    _keep(folder, outcomes)
    _warn(outcomes, () if panel is None else panel[0].rubric.criteria, tools)
    return tuple(outcomes)


def _warn(outcomes: Sequence[Outcome], criteria: Sequence[Criterion], tools: Tools) -> None:
    """Say whose marks prove nothing, and what was not tried; it is for whoever decides by them too."""
    for outcome in outcomes:
        if not outcome.discrimination.tells_apart:
            tools.say(
                f"warning: {outcome.by} cannot be told from saying the same of every answer on {outcome.metric}; "
                "its marks prove nothing until it can"
            )
    if not outcomes:
        tools.say("warning: no answer is right by code, so none could be made wrong to try the scorer on")
    tried = {outcome.metric for outcome in outcomes}
    for metric in dict.fromkeys(one.metric for one in criteria if outcomes and one.metric not in tried):
        tools.say(f"note: no answer was made wrong in {metric}; a review says how good judges are there")


def _keep(folder: RunFolder, outcomes: Sequence[Outcome]) -> None:
    by = {name: known_wrong_counts(one for one in outcomes if one.by == name) for name in ("code", "judges")}
    folder.write_text(KNOWN_WRONG, orjson.dumps(by, option=orjson.OPT_INDENT_2).decode() + "\n")


def suite_of_run(folder: RunFolder, name: str | None, named: Callable[[str], Suite] = suite_named) -> Suite:
    """Return the suite that a run is of: the one named, or the one of the package with the run's digest.

    Raises:
        RunFolderError: the folder holds no run, or one of a suite that is not of the package.
        SuiteError: the suite cannot be read.
    """
    if name is not None:
        return named(name)
    binding = folder.binding()
    if binding is None:
        raise RunFolderError(f"{folder.url} holds no gate run; make one with unmask gate generate")
    for shipped in (*SHIPPED_SUITES, _GENERATED):
        if (shipped == _GENERATED) == (binding.family == _GENERATED):
            suite = named(shipped)
            if suite.digest == binding.suite:
                return suite
    raise RunFolderError(
        f"{folder.url} is a run of suite {binding.suite[:12]} of family {binding.family}, which is none of the "
        "package as it is now; name its file, or generated:SEED, by --suite"
    )
