"""Behaviour of what is counted and noted about a world."""

from pathlib import Path

from unmask.knowledge.files import read_world
from unmask.knowledge.survey import Oddity, survey
from unmask.testing.world_folders import HEAD, MISCONCEPTIONS, PEOPLE, write_folder


def test_counts_are_by_type(tmp_path: Path) -> None:
    """Entities, aliases in all languages, facts that hold and that held, misconceptions."""
    found = survey(read_world(write_folder(tmp_path)))

    person = next(count for count in found.counts if count.type == "person")
    assert (person.entities, person.aliases, person.current, person.former, person.misconceptions) == (2, 3, 7, 1, 1)


def test_what_is_odd_is_noted(tmp_path: Path) -> None:
    """Ambiguous names, slots asked for by one word, what nobody refers to, what is never used, what never triggers."""
    world = read_world(
        write_folder(
            tmp_path,
            world=HEAD.replace("en: [age]", "en: [home]").replace("words:", "words:\n  idle: {en: idle, ko: 한가한}"),
            people=PEOPLE.replace("    age: 41\n", "").replace(
                "names: {en: Joren, ko: 요렌}", "names: {en: Joren, ko: 요렌}\n  aliases: {ko: [성문지기]}"
            ),
            misconceptions=MISCONCEPTIONS.replace(", ko: [대장간]", ""),
        )
    )

    notes = [(note.oddity, note.text) for note in survey(world).notes]

    assert notes == [
        (Oddity.AMBIGUOUS, "성문지기 (ko) may be joren or kaelis"),
        (Oddity.SAME_WORD, "home (en) asks a person for age and for home"),
        (Oddity.SILENT, "dorvel"),
        (Oddity.UNREFERRED, "kaelis"),
        (Oddity.SILENT, "miven"),
        (Oddity.UNUSED_SLOT, "age of person"),
        (Oddity.UNUSED_WORD, "idle"),
        (Oddity.UNTRIGGERED, "kaelis-is-no-smith in ko"),
    ]
