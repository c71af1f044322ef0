"""Answers, bindings and a small suite of a gate run, of which a test names only what it is about."""

from collections.abc import Sequence
from typing import Any

from unmask.gate.response import Binding, Response, ResponseKey, System, SystemLabel, TurnResponse
from unmask.gate.scenario import CorrectsClaim, Scenario, ScenarioKind, StatesFact, Suite, Turn
from unmask.gate.suite_digest import suite_digest
from unmask.knowledge.context import Context, Form, Injected, Reason
from unmask.knowledge.world import World
from unmask.testing.small_worlds import small_world
from unmask.types import Message, Mode, Role


def make_context(**changes: Any) -> Context:  # noqa: ANN401 - any field of the context
    """Return a context of one fact."""
    fields: dict[str, Any] = {
        "world": "small",
        "language": "ko",
        "form": Form.CARDS,
        "entities": ("jungwoo",),
        "facts": (Injected(id="jungwoo.home", reason=Reason.ASKED, score=1.0, tokens=5),),
        "dropped": (),
        "text": "# 정우\n- home 미벤",
        "tokens": 9,
    }
    return Context(**(fields | changes))


def make_turn_response(text: str = "미벤에 삽니다.", **changes: Any) -> TurnResponse:  # noqa: ANN401 - any field
    """Return the answer to one question."""
    fields: dict[str, Any] = {
        "messages": (Message(role=Role.USER, content="정우, 집이 어디예요?"),),
        "context": make_context(),
        "finish_reason": "stop",
        "prompt_tokens": 12,
        "output_tokens": 4,
        "steps": 8,
        "seconds": 0.25,
    }
    return TurnResponse(text=text, **(fields | changes))


def make_key(scenario: str = "home", seed: int = 0, system: SystemLabel = SystemLabel.MODEL) -> ResponseKey:
    """Return the name of an answer."""
    return ResponseKey(scenario=scenario, seed=seed, system=system)


def make_answer(scenario: str = "home", seed: int = 0, text: str = "미벤에 삽니다.", **changes: Any) -> Response:  # noqa: ANN401
    """Return an answer of one turn."""
    fields: dict[str, Any] = {"turns": (make_turn_response(text),)}
    return Response(key=make_key(scenario, seed), **(fields | changes))


def make_system(label: SystemLabel = SystemLabel.MODEL, **changes: Any) -> System:  # noqa: ANN401 - any field
    """Return an embedded model."""
    fields: dict[str, Any] = {
        "model": "tiny",
        "digest": "0123456789abcdef",
        "mode": Mode.DIFFUSION,
        "url": None,
        "policy": None,
        "settings": ("concurrency=8", "temperature=0"),
    }
    return System(label=label, **(fields | changes))


def make_binding(**changes: Any) -> Binding:  # noqa: ANN401 - any field of the binding
    """Return what a small run is bound to."""
    fields: dict[str, Any] = {
        "run": "first",
        "suite": "a" * 64,
        "family": "small",
        "worlds": (("small", "b" * 64),),
        "retrieval": "fixed",
        "revision": "",
        "seeds": (0,),
        "systems": (make_system(),),
        "started": "2026-12-01T00:00:00+00:00",
    }
    return Binding(**(fields | changes))


def make_scenario(id_: str, *turns: Turn, **changes: Any) -> Scenario:  # noqa: ANN401 - any field of the scenario
    """Return a scenario that is asked of Jungwoo."""
    fields: dict[str, Any] = {
        "world": "small",
        "language": "en",
        "kind": ScenarioKind.FACT if len(turns) == 1 else ScenarioKind.MULTI_TURN,
        "speaker": "jungwoo",
        "cluster": f"small/{id_}",
    }
    return Scenario(id=id_, turns=turns, **(fields | changes))


def small_scenarios() -> tuple[Scenario, ...]:
    """Return a fact in Korean, a trap, and a conversation of two turns."""
    home = Turn(question="집이 어디예요?", needed=("jungwoo.home",), checks=(StatesFact(statement="jungwoo.home"),))
    trap = Turn(
        question="Is your rival Kaelin?",
        needed=("jungwoo.rival", "jungwoo.rival.not"),
        checks=(CorrectsClaim(misconception="jungwoo.rival.not"),),
    )
    ally = Turn(question="Who is your ally?", needed=("jungwoo.ally",), checks=(StatesFact(statement="jungwoo.ally"),))
    role = Turn(question="And their role?", needed=("kaelis.role",), checks=(StatesFact(statement="kaelis.role"),))
    return (
        make_scenario("home", home, language="ko"),
        make_scenario("rival", trap, kind=ScenarioKind.TRAP),
        make_scenario("ally", ally, role),
    )


def small_suite(scenarios: Sequence[Scenario] | None = None, world: World | None = None) -> Suite:
    """Return a suite over the small world."""
    asked = tuple(small_scenarios() if scenarios is None else scenarios)
    worlds = {"small": world or small_world()}
    return Suite(id="small", family="small", scenarios=asked, worlds=worlds, digest=suite_digest(asked, worlds))


class FixedRetriever:
    """Gives every turn the same facts, and remembers what it was shown.

    Args:
        sees_needed: whether it wants to know what is needed.
    """

    name = "fixed"

    def __init__(self, *, sees_needed: bool = False) -> None:
        self._sees_needed = sees_needed
        self.seen: list[tuple[Scenario, int, int]] = []

    @property
    def sees_needed(self) -> bool:
        """Return what it was told to."""
        return self._sees_needed

    def context(self, world: World, scenario: Scenario, turn: int, earlier: Sequence[TurnResponse]) -> Context:
        """Return the same facts every time."""
        self.seen.append((scenario, turn, len(earlier)))
        return make_context(world=world.id, language=scenario.language)
