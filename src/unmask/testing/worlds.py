"""A small world in English and Korean, and scenarios about it, for tests of scoring."""

from types import MappingProxyType

from unmask.gate.response import Response, ResponseKey, SystemLabel, TurnResponse
from unmask.gate.scenario import Check, Claim, Scenario, ScenarioKind, Turn
from unmask.knowledge.context import Context, Form
from unmask.knowledge.world import (
    Entity,
    EntityType,
    Misconception,
    Origin,
    Phrases,
    Slot,
    Statement,
    Texts,
    Validity,
    ValueKind,
    World,
)
from unmask.types import Message, Role

ORIGIN = Origin(file="gate.yaml", line=1)
LANGUAGES = ("en", "ko")


def gate_world() -> World:
    """Return a keeper, her friends, a villain who was sealed twice, and what is wrongly believed of them."""
    entities = [
        _entity("kaelis", "person", "Kaelis", "카엘리스", ko=("카엘",)),
        _entity("velka", "person", "Velka", "벨카", en=("the Grey Warden",), ko=("회색 감시자",)),
        _entity("doran", "person", "Doran", "도란"),
        _entity("tarn", "person", "Tarn", "타른"),
        _entity("oru", "person", "Oru", "오루"),
        _entity("miven", "place", "Miven", "미벤"),
        _entity("tulven", "place", "Tulven", "툴벤"),
        _entity("harbor", "place", "Old Harbor", "옛 항구"),
    ]
    statements = [
        _statement("kaelis.home", "kaelis", "home", "miven"),
        _statement("kaelis.home.old", "kaelis", "home", "harbor", until="the flood"),
        _statement("kaelis.role", "kaelis", "role", "keeper"),
        _statement("kaelis.persona", "kaelis", "persona", "gruff"),
        _statement("kaelis.ally", "kaelis", "ally", "velka"),
        _statement("kaelis.motto", "kaelis", "motto", "the gate never sleeps"),
        _statement("velka.home", "velka", "home", "tulven"),
        _statement("velka.role", "velka", "role", "healer"),
        _statement("velka.motto", "velka", "motto", "모든 강물은 결국 바다로 흐른다"),
        _statement("oru.first.velka", "oru", "sealed_by", "velka", until="the second sealing"),
        _statement("oru.first.doran", "oru", "sealed_by", "doran", until="the second sealing"),
        _statement("oru.second.tarn", "oru", "sealed_by", "tarn"),
    ]
    beliefs = [
        Misconception(
            id="kaelis.in-tulven",
            subject="kaelis",
            confused_with="velka",
            slot="home",
            claimed="tulven",
            correction=("kaelis.home",),
            triggers=MappingProxyType({}),
            origin=ORIGIN,
        )
    ]
    return World(
        id="gate",
        title="The gate",
        languages=LANGUAGES,
        types={"person": EntityType(name="person", slots=_slots()), "place": EntityType(name="place", slots={})},
        words={
            "keeper": _texts("keeper", "파수꾼"),
            "healer": _texts("healer", "치유사"),
            "smith": _texts("smith", "대장장이"),
            "gruff": _texts("gruff", "무뚝뚝함"),
            "sly": _texts("sly", "교활함"),
        },
        entities={entity.id: entity for entity in entities},
        statements={statement.id: statement for statement in statements},
        misconceptions={belief.id: belief for belief in beliefs},
        digest="gate",
    )


def gate_scenario(
    question: str,
    *checks: Check,
    kind: ScenarioKind = ScenarioKind.FACT,
    language: str = "en",
    speaker: str = "kaelis",
    forbidden: tuple[Claim, ...] = (),
) -> Scenario:
    """Return a scenario of one turn."""
    turn = Turn(question=question, needed=(), checks=checks, forbidden=forbidden)
    return Scenario(id="one", world="gate", language=language, kind=kind, speaker=speaker, cluster="c", turns=(turn,))


def gate_response(*texts: str, scenario: str = "one", fault: str | None = None, seconds: float = 0.2) -> Response:
    """Return the answers to a scenario's turns."""
    key = ResponseKey(scenario=scenario, seed=0, system=SystemLabel.MODEL)
    context = Context(
        world="gate", language="en", form=Form.CARDS, entities=(), facts=(), dropped=(), text="", tokens=0
    )
    turns = tuple(
        TurnResponse(
            messages=(Message(role=Role.USER, content="?"),),
            context=context,
            text=text,
            finish_reason="stop",
            prompt_tokens=1,
            output_tokens=1,
            steps=1,
            seconds=seconds,
        )
        for text in texts
    )
    return Response(key=key, turns=turns, fault=fault)


def _slots() -> dict[str, Slot]:
    return {
        slot.name: slot
        for slot in (
            _slot("home", ValueKind.ENTITY, ("place",), en=("home", "where do you live"), ko=("집", "어디에 사")),
            _slot("role", ValueKind.WORD, en=("role", "post"), ko=("직책",)),
            _slot("persona", ValueKind.WORD, en=("persona",), ko=("성격",)),
            _slot("ally", ValueKind.ENTITY, ("person",), en=("ally", "friend"), ko=("동맹", "친구")),
            _slot("rival", ValueKind.ENTITY, ("person",), en=("rival", "enemy"), ko=("적수",)),
            _slot("motto", ValueKind.TEXT, en=("motto",), ko=("좌우명",)),
            _slot("sealed_by", ValueKind.ENTITY, ("person",), many=True, en=("sealer", "sealed"), ko=("봉인",)),
        )
    }


def _slot(
    name: str,
    kind: ValueKind,
    refers_to: tuple[str, ...] = (),
    *,
    many: bool = False,
    en: tuple[str, ...],
    ko: tuple[str, ...],
) -> Slot:
    asked_by: Phrases = MappingProxyType({"en": en, "ko": ko})
    return Slot(name=name, kind=kind, many=many, refers_to=refers_to, asked_by=asked_by)


def _entity(
    key: str, kind: str, name: str, korean: str, *, en: tuple[str, ...] = (), ko: tuple[str, ...] = ()
) -> Entity:
    aliases: Phrases = MappingProxyType({"en": en, "ko": ko})
    return Entity(id=key, type=kind, names=_texts(name, korean), aliases=aliases, origin=ORIGIN)


def _statement(key: str, subject: str, slot: str, value: str, until: str | None = None) -> Statement:
    return Statement(id=key, subject=subject, slot=slot, value=value, validity=Validity(until=until), origin=ORIGIN)


def _texts(english: str, korean: str) -> Texts:
    return MappingProxyType({"en": english, "ko": korean})
