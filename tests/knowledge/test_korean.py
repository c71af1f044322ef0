"""Behaviour of Korean particles."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.knowledge.korean import Tail, particle, tail_of
from unmask.knowledge.morphemes import KiwiStemmer, kiwi_stemmer
from unmask.knowledge.names import NameTree
from unmask.knowledge.retrieval_errors import MissingExtraError
from unmask.knowledge.script import units

AFTER_CONSONANT = (
    "이",
    "은",
    "을",
    "과",
    "으로",
    "이라는",
    "이랑",
    "아",
    "이가",
    "입니다",
    "에게",
    "한테",
    "께서",
    "의",
    "에게는",
)
AFTER_VOWEL = (
    "가",
    "는",
    "를",
    "와",
    "로",
    "라는",
    "랑",
    "야",
    "였어요",
    "입니까",
    "에게",
    "한테",
    "께서",
    "의",
    "에서는",
)


SYLLABLES = st.one_of(
    st.sampled_from("이가은는을를의와과로도만하정우서울"), st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3)
)
NAMES = st.text(SYLLABLES, min_size=1, max_size=4)
"""Many of them look like particles."""


@pytest.mark.parametrize("rest", AFTER_CONSONANT)
def test_particles_after_a_consonant(rest: str) -> None:
    """Forms for a final consonant fit a name that ends in one."""
    assert tail_of("하은", rest) is Tail.FITTING


@pytest.mark.parametrize("rest", AFTER_VOWEL)
def test_particles_after_a_vowel(rest: str) -> None:
    """Forms for a vowel fit a name that ends in one."""
    assert tail_of("정우", rest) is Tail.FITTING


@pytest.mark.parametrize(
    ("stem", "rest", "tail"),
    [
        ("하", "은", Tail.MISSPELT),
        ("정우", "을", Tail.MISSPELT),
        ("하은", "가", Tail.MISSPELT),
        ("정우", "산맥", Tail.NO_PARTICLE),
        ("정우", "", Tail.NOTHING),
        ("서울", "로", Tail.FITTING),
        ("서울", "으로", Tail.MISSPELT),
        ("7호선7", "로", Tail.FITTING),
    ],
)
def test_tail(stem: str, rest: str, tail: Tail) -> None:
    """The wrong form is told from the right one, and from what is no particle."""
    assert tail_of(stem, rest) is tail


@pytest.mark.parametrize(
    ("word", "forms", "expected"),
    [
        ("정우", ("은", "는"), "는"),
        ("하은", ("은", "는"), "은"),
        ("서울", ("으로", "로"), "로"),
        ("3", ("이", "가"), "이"),
        ("2", ("이", "가"), "가"),
        ("Kaelis", ("을", "를"), "을(를)"),
    ],
)
def test_particle_fits_the_word(word: str, forms: tuple[str, str], expected: str) -> None:
    """The form follows the final consonant; both are written where the reading is not known."""
    assert particle(word, *forms) == expected


@given(
    names=st.lists(NAMES, min_size=1, max_size=6, unique=True),
    which=st.integers(0, 5),
    rest=st.sampled_from(("", *AFTER_CONSONANT, *AFTER_VOWEL)),
)
def test_stripping_never_loses_a_name(names: list[str], which: int, rest: str) -> None:
    """A name with particles is found whatever other names there are: it is among the readings, if not the first."""
    name = names[which % len(names)]
    tree: NameTree[str] = NameTree()
    for one in names:
        tree.add(one, one)
    if tail_of(name, rest) not in (Tail.NOTHING, Tail.FITTING):
        return

    (readings,) = tree.find(units(f"{name}{rest}"))

    assert name in {target for reading in readings for target in reading.targets}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A morpheme."""

    tag: str
    start: int


class FakeAnalyser:
    """Cuts 답게 off."""

    def tokenize(self, text: str) -> Iterable[Part]:
        """Return a noun and a suffix."""
        return (Part(tag="NNG", start=0), Part(tag="XSA", start=text.index("답게")))


def test_an_analyser_cuts_where_the_list_has_no_particle() -> None:
    """With an analyser of morphemes, a name is found before an ending that is on no list."""
    plain: NameTree[str] = NameTree()
    cut: NameTree[str] = NameTree(KiwiStemmer(FakeAnalyser()))
    for tree in (plain, cut):
        tree.add("대장장이", "smith")

    text = units("대장장이답게")

    assert plain.find(text) == ()
    assert [reading.targets for readings in cut.find(text) for reading in readings] == [("smith",)]


def test_missing_analyser_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package there is an error that names the extra."""
    monkeypatch.setitem(sys.modules, "kiwipiepy", None)

    with pytest.raises(MissingExtraError, match=r"unmask\[korean\]"):
        kiwi_stemmer()
