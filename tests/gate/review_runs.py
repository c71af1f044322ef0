"""Gate runs made by hand, for tests of their review."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from unmask.gate.artefacts import RunFolder
from unmask.gate.correction import Correction, Decision, Ruling, corrected
from unmask.gate.response import Binding, Response, ResponseKey, System, SystemLabel, TurnResponse
from unmask.gate.scenario import ScenarioKind
from unmask.gate.score import Mark, Metric, Scored, Vote
from unmask.knowledge.context import Context, Form, Injected, Reason
from unmask.types import Message, Mode, Role

FACT = Metric.FACTUAL_PRECISION
START = datetime(2026, 1, 1, tzinfo=UTC)


def make_key(scenario: str = "s0", seed: int = 0, system: SystemLabel = SystemLabel.MODEL) -> ResponseKey:
    """Name an answer."""
    return ResponseKey(scenario=scenario, seed=seed, system=system)


def make_response(key: ResponseKey, text: str = "카엘리스는 북쪽에 산다.", fault: str | None = None) -> Response:
    """Return an answer of one turn, or a fault."""
    facts = (Injected(id="kaelis.home", reason=Reason.ASKED, score=0.5, tokens=4),)
    context = Context(
        world="w",
        language="ko",
        form=Form.PROSE,
        entities=("kaelis",),
        facts=facts,
        dropped=(),
        text="카엘리스의 집은 북쪽이다.",
        tokens=4,
    )
    turn = TurnResponse(
        messages=(Message(role=Role.SYSTEM, content="rules"), Message(role=Role.USER, content="카엘리스는 어디 사나?")),
        context=context,
        text=text,
        finish_reason="stop",
        prompt_tokens=9,
        output_tokens=5,
        steps=3,
        seconds=0.1,
    )
    return Response(key=key, turns=() if fault else (turn,), fault=fault)


def make_mark(value: float | None = 1.0, metric: Metric = FACT, *, borderline: bool = False) -> Mark:
    """Return a mark with a vote."""
    votes = (Vote(judge="judge-1", value=value, reason="집이 맞다", raw="{}"),)
    return Mark(metric=metric, value=value, why=("states kaelis.home",), votes=votes, borderline=borderline)


def make_scored(key: ResponseKey, *marks: Mark, cluster: str | None = None) -> Scored:
    """Return an answer's marks; each scenario is a cluster of its own unless one is given."""
    return Scored(key=key, kind=ScenarioKind.FACT, cluster=cluster or key.scenario, marks=marks or (make_mark(),))


def make_correction(
    scored: Scored,
    decision: Decision,
    *,
    metric: Metric = FACT,
    who: str = "mina",
    after: int = 0,
    value: float | None = None,
    text: str | None = None,
) -> Correction:
    """Return a decision on a mark, made so many seconds after the first one possible."""
    response = make_response(scored.key) if text is None else make_response(scored.key, text)
    mark = next(mark for mark in scored.marks if mark.metric is metric)
    ruling = Ruling(decision=decision, value=value, note="후대 영웅은 빠져야 맞다")
    return corrected(response, mark, ruling, who=who, when=(START + timedelta(seconds=after)).isoformat())


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A run in a folder."""

    path: Path
    responses: tuple[Response, ...]
    scores: tuple[Scored, ...]


def make_run(path: Path, scores: Sequence[Scored], more: Iterable[Response] = ()) -> Made:
    """Write a scored run into a folder; ``more`` are answers without marks."""
    responses = (*(make_response(one.key) for one in scores), *more)
    system = System(
        label=SystemLabel.MODEL, model="m", digest="d", mode=Mode.DIFFUSION, url=None, policy=None, settings=()
    )
    folder = RunFolder(str(path))
    folder.begin(
        Binding(
            run="run-1",
            suite="digest",
            family="family",
            worlds=(),
            retrieval="typed",
            revision="",
            seeds=(0,),
            systems=(system,),
            started=START.isoformat(),
        )
    )
    folder.append_responses(responses)
    folder.write_scores(scores)
    return Made(path=path, responses=responses, scores=tuple(scores))
