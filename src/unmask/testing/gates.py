"""Scored runs with every field filled in, of which a test names only what it is about."""

from collections.abc import Mapping, Sequence
from typing import Any

from unmask.gate.decide import ScoredRun
from unmask.gate.gate_file import Bound, Gate, Row, Statistic, gate_of
from unmask.gate.response import Binding, Response, ResponseKey, System, SystemLabel, TurnResponse
from unmask.gate.scenario import ScenarioKind
from unmask.gate.score import Mark, Metric, Scored
from unmask.knowledge.context import Context, Form, Injected, Reason
from unmask.types import Message, Mode, Role

SCORER = "5" * 64
Value = float | None


def make_row(**changes: Any) -> Row:  # noqa: ANN401 - any field of the row
    """Return a row on the rate of factual precision."""
    fields: dict[str, Any] = {
        "name": "precision",
        "metric": Metric.FACTUAL_PRECISION,
        "statistic": Statistic.RATE,
        "bound": Bound.AT_LEAST,
        "threshold": 0.95,
        "reason": "wrong facts cost the trust of players",
    }
    return Row(**(fields | changes))


def make_gate(*rows: Row) -> Gate:
    """Return a gate of rows, of one on factual precision without any."""
    return gate_of(rows or (make_row(),))


def make_system(**changes: Any) -> System:  # noqa: ANN401 - any field of the system
    """Return the system that is judged."""
    fields: dict[str, Any] = {
        "label": SystemLabel.MODEL,
        "model": "tiny",
        "digest": "0123456789abcdef",
        "mode": Mode.DIFFUSION,
        "url": None,
        "policy": "a" * 64,
        "settings": ("temperature=0",),
    }
    return System(**(fields | changes))


def make_run_binding(**changes: Any) -> Binding:  # noqa: ANN401 - any field of the binding
    """Return what a run of one system with one seed is of."""
    fields: dict[str, Any] = {
        "run": "run-1",
        "suite": "5017e",
        "family": "harbour",
        "worlds": (("harbour", "301d"),),
        "retrieval": "typed",
        "revision": "c0ffee",
        "seeds": (0,),
        "systems": (make_system(),),
        "started": "2026-12-01T00:00:00+00:00",
    }
    return Binding(**(fields | changes))


def make_scored(scenario: str, value: Value, **changes: Any) -> Scored:  # noqa: ANN401 - any field of the score
    """Return an answer with one mark, of factual precision unless ``metric`` names another."""
    metric = changes.pop("metric", Metric.FACTUAL_PRECISION)
    key = ResponseKey(scenario=scenario, seed=changes.pop("seed", 0), system=changes.pop("system", SystemLabel.MODEL))
    fields: dict[str, Any] = {
        "kind": ScenarioKind.FACT,
        "cluster": scenario,
        "marks": (Mark(metric=metric, value=value),),
    }
    return Scored(key=key, **(fields | changes))


def make_clusters(clusters: Sequence[Sequence[Value]], **changes: Any) -> tuple[Scored, ...]:  # noqa: ANN401
    """Return a scenario a cluster, with an answer a seed."""
    return tuple(
        make_scored(f"s{number:04d}", value, seed=seed, **changes)
        for number, values in enumerate(clusters)
        for seed, value in enumerate(values)
    )


def make_scored_run(scored: Sequence[Scored], scorer: str = SCORER, **changes: Any) -> ScoredRun:  # noqa: ANN401
    """Return a run of scored answers whose binding has their seeds and systems."""
    seeds = tuple(sorted({item.key.seed for item in scored})) or (0,)
    labels = {item.key.system for item in scored} | {SystemLabel.MODEL}
    systems = tuple(make_system(label=label, model=label.value) for label in sorted(labels, reverse=True))
    binding = make_run_binding(**({"seeds": seeds, "systems": systems} | changes))
    return ScoredRun(binding=binding, scored=tuple(scored), scorer=scorer)


def make_rates(passes: int, fails: int) -> tuple[Scored, ...]:
    """Return so many clusters of one answer each."""
    return make_clusters([[1.0]] * passes + [[0.0]] * fails)


def make_response(scenario: str, text: str, **changes: Any) -> Response:  # noqa: ANN401 - any field of the response
    """Return an answer to one question with one fact."""
    turn = TurnResponse(
        messages=(Message(role=Role.USER, content=changes.pop("question", "who keeps the harbour?")),),
        context=Context(
            world="harbour",
            language="en",
            form=Form.PROSE,
            entities=("ania",),
            facts=(Injected(id="ania.role", reason=Reason.ASKED, score=1.0, tokens=5),),
            dropped=(),
            text="Ania keeps the harbour.",
            tokens=5,
        ),
        text=text,
        finish_reason="stop",
        prompt_tokens=9,
        output_tokens=4,
        steps=3,
        seconds=0.2,
    )
    key = ResponseKey(scenario=scenario, seed=0, system=SystemLabel.MODEL)
    fields: dict[str, Any] = {"key": key, "turns": (turn,)}
    return Response(**(fields | changes))


def by_name(values: Mapping[str, Value]) -> tuple[Scored, ...]:
    """Return an answer for each scenario of a mapping."""
    return tuple(make_scored(name, value) for name, value in values.items())
