"""What every task type promises, whichever it is."""

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.drawn import ODD_TEXTS, drawn
from unmask.tasks.item import Item, Split, Task, split_of
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role

TASKS = all_tasks()
COUNT = 200
# What the generators draw is frozen: weights that were trained on it, and figures measured on it, stay comparable.
FROZEN = {
    "lookup": "7d0469a0b3c8193c",
    "dialogue": "f52394d4b66a4ca5",
    "extract": "3f76a37c51bccfdc",
    "arithmetic": "97bd59e61c5bbf78",
    "sort": "0710364b618a4db8",
    "latin": "655abe7094ab7ce0",
}

every_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
every_split = pytest.mark.parametrize("split", Split)


def user(content: str) -> tuple[Message, ...]:
    """Return a request of one user message."""
    return (Message(role=Role.USER, content=content),)


def digest(items: Sequence[Item]) -> str:
    """Hash all that a model or a judge sees of some items."""
    texts = [
        repr((item.task, [(str(m.role), m.content) for m in item.messages], item.answer, item.difficulty.axes))
        + repr((item.canonical, item.accepted))
        for item in items
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


@every_task
@every_split
def test_reference_passes_both_judges(task: Task, split: Split) -> None:
    """The reference answer is right for the checker and plausible for the verifier, in every split."""
    for item in drawn(task.name, split, COUNT):
        assert task.check(item, item.answer).passed
        assert task.verify(item.messages, item.answer).passed


@every_task
def test_another_items_answer_fails_with_a_reason(task: Task) -> None:
    """The answer of another item fails both judges, which say why, unless it happens to hold for this one as well."""
    items = drawn(task.name, Split.TUNE, COUNT)
    pairs = list(pairwise(items))
    for judged in (
        [task.check(item, other.answer) for item, other in pairs],
        [task.verify(item.messages, other.answer) for item, other in pairs],
    ):
        # A square with two givens, or ignorance of a slot that neither card has, may fit by chance.
        assert sum(result.passed for result in judged) <= COUNT / 20
        assert all(result.reason for result in judged if not result.passed)


@every_task
def test_cut_and_doubled_answers_fail(task: Task) -> None:
    """An answer without its last character, or said twice, is wrong."""
    for item in drawn(task.name, Split.CALIBRATE, 50):
        for text in (item.answer[:-1], item.answer + item.answer, item.answer + "\n" + item.answer):
            result = task.check(item, text)
            assert not result.passed
            assert result.reason


@every_task
@pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_odd_texts_fail_without_raising(task: Task, text: str) -> None:
    """Text of any script, length or emptiness is refused with a short reason, never an error."""
    for item in drawn(task.name, Split.TEST, 3):
        for result in (task.check(item, text), task.verify(item.messages, text)):
            assert not result.passed
            assert 0 < len(result.reason) < 600


@every_task
@pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_odd_requests_fail_without_raising(task: Task, text: str) -> None:
    """A request that is not of the task type verifies nothing."""
    assert not task.verify(user(text), "1").passed
    assert not task.verify((Message(role=Role.SYSTEM, content=text),), "1").passed


@every_task
def test_a_request_without_messages_fails(task: Task) -> None:
    """Even an empty conversation is answered by a verdict."""
    assert not task.verify((), "1").passed


@given(name=st.sampled_from(sorted(TASKS)), text=st.text(max_size=200), request=st.text(max_size=200))
def test_verifiers_never_raise(name: str, text: str, request: str) -> None:
    """Whatever the request and the answer are, the verifier returns a result that explains itself."""
    item = drawn(name, Split.TEST, 3)[0]
    for messages in (item.messages, user(request), (*item.messages, *user(request))):
        result = TASKS[name].verify(messages, text)
        assert result.passed != bool(result.reason)


@given(
    name=st.sampled_from(sorted(TASKS)),
    index=st.integers(0, COUNT - 1),
    at=st.integers(0, 200),
    edit=st.text(max_size=3),
    cut=st.integers(0, 3),
)
def test_checkers_accept_no_damage_that_verifiers_refuse(name: str, index: int, at: int, edit: str, cut: int) -> None:
    """A damaged answer that still passes the checker passes the verifier too: what is right is plausible."""
    item = drawn(name, Split.TEST, COUNT)[index]
    text = item.answer[:at] + edit + item.answer[at + cut :]
    if TASKS[name].check(item, text).passed:
        assert TASKS[name].verify(item.messages, text).passed


@every_task
@every_split
def test_items_lie_in_their_split(task: Task, split: Split) -> None:
    """The canonical form hashes into the split asked for."""
    assert {split_of(item.canonical) for item in drawn(task.name, split, COUNT)} == {split}


@every_task
def test_splits_share_no_item(task: Task) -> None:
    """No canonical form, and so no digest, is drawn in two splits."""
    forms = [{item.digest for item in drawn(task.name, split, COUNT)} for split in Split]
    assert sum(map(len, forms)) == len(set.union(*forms))


@every_task
@every_split
def test_equal_seeds_draw_equal_items(task: Task, split: Split) -> None:
    """An item is a function of the generator's state and the split."""
    rng = Random(f"{task.name} {split}")
    assert tuple(task.generate(rng, split) for _ in range(20)) == drawn(task.name, split, COUNT)[:20]


@every_task
def test_what_is_drawn_is_frozen(task: Task) -> None:
    """Prompts, answers, difficulties and canonical forms are those the embedded models were trained on."""
    assert digest([item for split in Split for item in drawn(task.name, split, COUNT)]) == FROZEN[task.name]


@every_task
def test_items_name_their_task_and_ask_last(task: Task) -> None:
    """An item carries its task's name, and its last message is the user's."""
    for item in drawn(task.name, Split.TRAIN, COUNT):
        assert item.task == task.name
        assert item.messages[-1].role is Role.USER
