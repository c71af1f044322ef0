"""Behaviour of `unmask.cache.store`, and of its shelves."""

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unmask.cache.entry import Entry, Meaning, Question
from unmask.cache.store import AnswerStore, Gone
from unmask.testing.builders import make_generation
from unmask.testing.caches import make_question, make_store
from unmask.testing.manual_clock import ManualClock
from unmask.types import Verification

VECTOR = np.array([1, 0], np.float32)
MEANING = Meaning(embedder="fake", vector=VECTOR, tokens=())


def entry(id_: str, question: Question | None = None, *, text: str = "42", stored: float = 0.0) -> Entry:
    """Return an entry with a meaning, of a question of its own unless given."""
    return Entry(
        id=id_,
        question=question or make_question(id_),
        generation=make_generation(text),
        verification=Verification.PASS,
        stored=stored,
        meaning=MEANING,
    )


def ids(store: AnswerStore) -> set[str]:
    """Return the ids of what is there."""
    return set(store.ids())


def test_the_one_unused_longest_goes_first() -> None:
    """Beyond the number of entries, and use counts."""
    store = make_store(entries=2)
    first = entry("a")
    for one in (first, entry("b")):
        store.add(one)
    store.used(first)
    store.add(entry("c"))

    assert ids(store) == {"a", "c"}
    assert store.gone == Counter({Gone.ENTRIES: 1})


def test_bytes_are_bounded() -> None:
    """Large answers push out others, and one that is larger than all the room is not kept."""
    large = entry("large", text="x" * 1_000)
    store = make_store(size=2 * large.size)
    for one in (entry("a"), entry("b"), large):
        store.add(one)
    assert not store.add(entry("huge", text="x" * 5_000))
    store.add(replace(large, id="second", question=make_question("twice")))

    assert ids(store) == {"large", "second"}
    assert store.bytes <= 2 * large.size


def test_an_old_answer_is_not_given_again() -> None:
    """Neither to the same question nor to one alike."""
    clock = ManualClock()
    store = make_store(clock, ttl_s=10.0)
    kept = entry("a")
    store.add(kept)
    clock.advance(10.0)
    assert store.same(kept.question) is kept
    clock.advance(0.1)

    assert store.alike(kept.question.scope, MEANING, 0.5) == ()
    assert store.same(kept.question) is None
    assert (len(store), store.bytes, store.gone[Gone.AGE]) == (0, 0, 1)


def test_a_question_has_one_answer() -> None:
    """The later one."""
    store = make_store()
    question = make_question()
    store.add(entry("a", question))
    store.add(entry("b", question))

    assert ids(store) == {"b"}
    assert [found.id for found, _ in store.alike(question.scope, MEANING, 0.5)] == ["b"]


def test_entries_can_be_forgotten() -> None:
    """One, or all of a tenant; another tenant's are not touched."""
    store = make_store()
    for tenant in ("acme", "zeta"):
        for number in range(2):
            store.add(entry(f"{tenant}{number}", make_question(str(number), tenant=tenant)))

    assert store.forget(["zeta0"], tenant="acme") == 0
    assert store.forget(["zeta0", "nothing"]) == 1
    assert store.forget(store.ids(tenant="acme"), tenant="acme") == 2
    assert ids(store) == {"zeta1"}


def test_vectors_of_another_length_are_not_compared() -> None:
    """A server may have changed its model."""
    store = make_store()
    kept = entry("a")
    store.add(kept)
    longer = replace(MEANING, vector=np.array([1, 0, 0], np.float32))

    assert store.alike(kept.question.scope, longer, 0.5) == ()


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["add", "forget", "use"])), max_size=40),
    st.integers(1, 5),
)
def test_books_agree_after_anything(acts: list[tuple[str, str]], most: int) -> None:
    """Whatever is added, used and forgotten: bounds hold, bytes add up, and all indices know the same entries."""
    store = make_store(entries=most)
    made = {name: entry(name, make_question(name, tenant=name if name < "d" else "")) for name in "abcdefgh"}
    for name, act in acts:
        match act:
            case "add":
                store.add(made[name])
            case "forget":
                store.forget([name])
            case _:
                store.used(made[name])
        there = [made[id_] for id_ in store.ids()]
        assert len(there) <= most
        assert store.bytes == sum(one.size for one in there)
        for one in made.values():
            alike = store.alike(one.question.scope, MEANING, 0.5)
            assert (one in there) == (store.same(one.question) is one) == (one in [found for found, _ in alike])
