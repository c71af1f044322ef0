"""The suite that is made up."""

from collections import Counter

import pytest

from unmask.cards import SLOTS, Fact, parse_facts, render_cards
from unmask.gate.generated import SCENARIOS_PER_CLUSTER, SHARES, generated_suite
from unmask.gate.generated_asking import Ask
from unmask.gate.generated_world import PERSONS
from unmask.gate.scenario import (
    AdmitsUnknown,
    CorrectsClaim,
    KeepsManner,
    NamesEntities,
    Scenario,
    ScenarioKind,
    StatesFact,
    Suite,
)
from unmask.gate.suite_files import suite_text, warnings_of
from unmask.gate.suite_named import suite_named, write_suite
from unmask.gate.suite_references import misfits_of
from unmask.knowledge.digest import digest_of
from unmask.tasks.dialogue_check import read_request
from unmask.tasks.dialogue_phrases import FOLLOW_FRAMES, PREMISE_FRAMES, QUESTION_FRAMES
from unmask.tasks.names import is_held_out
from unmask.types import Message, Role


@pytest.fixture(scope="module")
def suite() -> Suite:
    """Make the suite of the default size once."""
    return generated_suite(0)


def test_it_is_as_large_as_narrow_intervals_need(suite: Suite) -> None:
    """At least 40 worlds, 2,000 scenarios and 400 clusters; a cluster is a world and who is asked."""
    clusters = Counter(scenario.cluster for scenario in suite.scenarios)

    assert len(suite.worlds) >= 40
    assert len(suite.scenarios) >= 2000
    assert len(clusters) >= 400
    assert set(clusters.values()) == {SCENARIOS_PER_CLUSTER}
    assert all(scenario.cluster == f"{scenario.world}/{scenario.speaker}" for scenario in suite.scenarios)
    assert warnings_of(suite) == ()


def test_kinds_have_their_shares(suite: Suite) -> None:
    """The shares that are stated are those that are there."""
    counts = Counter(scenario.kind for scenario in suite.scenarios)
    stated: Counter[ScenarioKind] = Counter()
    for ask, share in SHARES.items():
        stated[ask.kind] += round(share * len(suite.scenarios))

    assert counts == stated
    assert set(SHARES) == set(Ask)


def test_everything_refers_to_something(suite: Suite) -> None:
    """The same strictness holds as for a file."""
    found = [misfit for one in suite.scenarios for misfit in misfits_of(one, suite.worlds[one.world])]

    assert found == []


def test_ids_are_unique_and_seeds_make_other_suites(suite: Suite) -> None:
    """A seed makes one suite, always; another seed another one."""
    assert len({scenario.id for scenario in suite.scenarios}) == len(suite.scenarios)
    assert generated_suite(3, worlds=2) == generated_suite(3, worlds=2)
    assert generated_suite(3, worlds=2).digest != generated_suite(4, worlds=2).digest


def test_worlds_are_of_a_size(suite: Suite) -> None:
    """A dozen or two entities, more facts than a naive prompt takes, and digests that are their own."""
    for world in suite.worlds.values():
        assert 12 <= len(world.entities) <= 20
        assert len(world.statements) >= 63
        assert world.digest == digest_of(world)
        assert sum(entity.type == "person" for entity in world.entities.values()) == PERSONS


def test_names_are_those_that_training_never_saw(suite: Suite) -> None:
    """Names are the test split's, and slots are those of cards."""
    for world in suite.worlds.values():
        assert all(is_held_out(entity.names["en"]) for entity in world.entities.values())
        assert set(world.types["person"].slots) == set(SLOTS)


def test_worlds_have_look_alikes(suite: Suite) -> None:
    """In every world some names differ in their last piece only."""
    for world in suite.worlds.values():
        starts = Counter(entity.names["en"][:4] for entity in world.entities.values() if entity.type == "person")
        assert max(starts.values()) > 1


def test_what_is_believed_is_false(suite: Suite) -> None:
    """A misconception claims nothing that holds of its subject in any slot, and its correction does hold."""
    for world in suite.worlds.values():
        for believed in world.misconceptions.values():
            own = {fact.value for fact in world.statements.values() if fact.subject == believed.subject}
            assert believed.claimed not in own | {believed.subject}
            assert [world.statements[name].slot for name in believed.correction] == [believed.slot]


def test_traps_come_with_and_without_a_record(suite: Suite) -> None:
    """Half of the false premises are warned of in the world, half are not."""
    traps = [scenario for scenario in suite.scenarios if scenario.kind is ScenarioKind.TRAP]
    recorded = [one for one in traps if isinstance(one.turns[0].checks[0], CorrectsClaim)]

    assert len(recorded) == len(traps) / 2
    for trap in traps:
        (turn,) = trap.turns
        (claim,) = turn.forbidden
        world = suite.worlds[trap.world]
        assert world.text_of(claim.subject, claim.slot, claim.value, "en") in turn.question
        warned = {(found.subject, found.slot, found.claimed) for found in world.misconceptions.values()}
        assert ((claim.subject, claim.slot, claim.value) in warned) == (trap in recorded)


def test_needed_facts_are_those_checked(suite: Suite) -> None:
    """What a turn is checked for is what it needs, and nothing else is."""
    for scenario in suite.scenarios:
        for turn in scenario.turns:
            stated = {check.statement for check in turn.checks if isinstance(check, StatesFact)}
            believed = {check.misconception for check in turn.checks if isinstance(check, CorrectsClaim)}
            manner = {f"{scenario.speaker}.persona" for check in turn.checks if isinstance(check, KeepsManner)}
            corrected = {
                fact for name in believed for fact in suite.worlds[scenario.world].misconceptions[name].correction
            }
            assert set(turn.needed) == stated | believed | manner | corrected


def of_kind(suite: Suite, kind: ScenarioKind) -> list[Scenario]:
    """Return the scenarios of a kind."""
    return [scenario for scenario in suite.scenarios if scenario.kind is kind]


def test_each_kind_asks_what_its_name_says(suite: Suite) -> None:
    """Deep lore takes two hops, cross references name several people, absent facts are absent, others ask on."""
    for scenario in of_kind(suite, ScenarioKind.DEEP_LORE):
        hop, *facts = scenario.turns[0].needed
        world = suite.worlds[scenario.world]
        assert {world.statements[fact].subject for fact in facts} == {world.statements[hop].value}
    for scenario in of_kind(suite, ScenarioKind.CROSS_REFERENCE):
        (named,) = [check for check in scenario.turns[0].checks if isinstance(check, NamesEntities)]
        assert len(named.entities) >= 2
    for scenario in of_kind(suite, ScenarioKind.ABSENT_FACT):
        assert any(isinstance(check, AdmitsUnknown) for check in scenario.turns[0].checks)
    assert {len(scenario.turns) for scenario in of_kind(suite, ScenarioKind.MULTI_TURN)} == {2, 3}


def test_no_person_is_asked_the_same_twice(suite: Suite) -> None:
    """Scenarios of a cluster begin with different questions."""
    asked = Counter((scenario.cluster, scenario.turns[0].question) for scenario in suite.scenarios)

    assert max(asked.values()) == 1


def test_questions_are_the_tasks_own(suite: Suite) -> None:
    """Frames are the dialogue task's, those of its test split among them."""
    pools = (*QUESTION_FRAMES, *PREMISE_FRAMES, *FOLLOW_FRAMES)
    starts = {frame: frame.split("{")[0] for frame in pools}
    questions = [turn.question for scenario in suite.scenarios for turn in scenario.turns]

    assert all(any(question.startswith(start) for start in starts.values()) for question in questions)
    held_out = [pool[-2:] for pool in (QUESTION_FRAMES, PREMISE_FRAMES, FOLLOW_FRAMES)]
    for frames in held_out:
        assert any(question.startswith(starts[frames[0]]) for question in questions)


def test_facts_can_be_written_on_the_cards_that_models_read(suite: Suite) -> None:
    """Every fact of a world survives a card, and the prompt names its speaker as in training."""
    world = next(iter(suite.worlds.values()))
    facts = [
        Fact(
            subject=world.entities[fact.subject].names["en"],
            slot=fact.slot,
            value=world.text_of(fact.subject, fact.slot, fact.value, "en"),
        )
        for fact in world.statements.values()
    ]
    speaker = next(fact for fact in facts if fact.slot == "persona")
    content = f"{render_cards(facts)}\nYou are {speaker.subject}."

    assert set(parse_facts(content)) == set(facts)
    request = read_request((Message(role=Role.SYSTEM, content=content), Message(role=Role.USER, content="?")))
    assert request is not None
    assert request.persona == speaker.value


def test_it_survives_its_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Written and read back it is the same suite over the same worlds."""
    made = generated_suite(5, worlds=2)
    path = tmp_path_factory.mktemp("made") / "suite.jsonl"
    write_suite(made, path)
    read = suite_named(str(path))

    assert read.digest == made.digest
    assert read.scenarios == made.scenarios
    assert len(suite_text(made, [], lines=True).splitlines()) == len(made.scenarios) + 1


def test_it_is_named_with_its_seed() -> None:
    """`generated:SEED` is a suite without any file."""
    assert suite_named("generated:7").id == "generated-7"
    assert suite_named("generated").id == "generated-0"
