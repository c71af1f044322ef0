"""A folder of a run over a small suite, and judges for it."""

from dataclasses import replace
from pathlib import Path

from unmask.gate.artefacts import RunFolder
from unmask.gate.response import Binding, Response, System, SystemLabel
from unmask.gate.scenario import AdmitsUnknown, Check, CorrectsClaim, KeepsManner, Scenario, StatesFact, Suite
from unmask.testing.worlds import gate_response, gate_scenario, gate_world
from unmask.types import Mode

ASKED: tuple[tuple[str, str, tuple[Check, ...]], ...] = (
    (
        "Where do you live?",
        "Hmph. I live in Miven.",
        (StatesFact(statement="kaelis.home"), KeepsManner(persona="gruff")),
    ),
    ("Is Tulven your home?", "It is not Tulven. I live in Miven.", (CorrectsClaim(misconception="kaelis.in-tulven"),)),
    ("Who is your rival?", "I know nothing of my rival.", (AdmitsUnknown(subject="kaelis", slot="rival"),)),
    ("What is your role?", "I am a keeper.", (StatesFact(statement="kaelis.role"),)),
    ("Who is your ally?", "My ally is Velka.", (StatesFact(statement="kaelis.ally"),)),
)


def small_suite(copies: int = 1) -> Suite:
    """Return five scenarios, so many times each."""
    scenarios = tuple(
        replace(gate_scenario(question, *checks), id=f"s{copy}-{number}", cluster=f"c{number}")
        for copy in range(copies)
        for number, (question, _, checks) in enumerate(ASKED)
    )
    world = gate_world()
    return Suite(id="small", family="small", scenarios=scenarios, worlds={world.id: world}, digest="d" * 64)


def right_answers(suite: Suite) -> list[Response]:
    """Return a right answer to each scenario."""
    return [gate_response(_answer(scenario), scenario=scenario.id) for scenario in suite.scenarios]


def _answer(scenario: Scenario) -> str:
    return next(text for question, text, _ in ASKED if question == scenario.turns[0].question)


def run_folder(path: Path, suite: Suite, responses: list[Response]) -> RunFolder:
    """Write a run."""
    folder = RunFolder(str(path))
    system = System(
        label=SystemLabel.MODEL,
        model="tiny",
        digest="m" * 64,
        mode=Mode.DIFFUSION,
        url=None,
        policy=None,
        settings=(),
    )
    folder.begin(
        Binding(
            run="run",
            suite=suite.digest,
            family=suite.family,
            worlds=(("gate", "gate"),),
            retrieval="typed",
            revision="",
            seeds=(0,),
            systems=(system,),
            started="2026-01-01T00:00:00+00:00",
        )
    )
    folder.append_responses(responses)
    return folder


def judge_file(folder: Path, url: str, more: str = "") -> Path:
    """Write a file with one judge."""
    path = folder / "judge.yaml"
    path.write_text(
        f'judges:\n  - {{name: fake, api: openai, model: grader, url: "{url}"{more}}}\nvotes: 1\n', encoding="utf-8"
    )
    return path
