"""Names found in texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.gate.reading.mentions import Names
from unmask.testing.worlds import gate_world

NAMES = Names(gate_world())


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("I met the Grey Warden.", {"velka"}),
        ("Velka's home is Old Harbor.", {"velka", "harbor"}),
        ("카엘리스는 미벤에서도 벨카와 산다.", {"kaelis", "miven", "velka"}),
        ("카엘이오.", {"kaelis"}),
        ("그는 벨카였습니다", {"velka"}),
        ("Kaelis는 Miven에 산다.", {"kaelis", "miven"}),
        ("회색 감시자님이 옛 항구로 갔소.", {"velka", "harbor"}),
    ],
)
def test_names_are_found_by_any_alias_with_particles_in_any_script(text: str, entities: set[str]) -> None:
    """Aliases, Korean particles and Latin names in Korean sentences are names all the same."""
    assert NAMES.entities_in(text) == entities


@pytest.mark.parametrize("text", ["Velkan is not she", "벨카나무 아래", "velka lies", "큰벨카"])
def test_parts_of_other_words_are_no_names(text: str) -> None:
    """A longer word that begins or ends like a name is not it, nor is one in small letters."""
    assert NAMES.entities_in(text) == frozenset()


def test_longest_name_wins() -> None:
    """A name within a longer one is not found by itself."""
    assert NAMES.mask("Old Harbor").text == "Qe0Z"


@given(st.text(max_size=200))
def test_any_text_can_be_masked(text: str) -> None:
    """Whatever an answer holds, finding names in it ends."""
    masked = NAMES.mask(text)

    assert all(token in masked.text for token in masked.mentions)
