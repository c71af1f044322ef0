"""The items of the search bench, and what a server may know of their answers: verifiers that are no checkers."""

from unmask.control.check import AnswerCheck, make_check
from unmask.search.score import Agreement, said
from unmask.tasks.constraint import Constraint
from unmask.tasks.dialogue_check import read_request
from unmask.tasks.dialogue_grammar import read_answer
from unmask.tasks.item import Item, Split, question_of
from unmask.tasks.latin import read_square
from unmask.tasks.patterns import Pattern
from unmask.tasks.registry import all_tasks
from unmask.tasks.sorting import read_list
from unmask.tasks.verifier import Verifier
from unmask.tune.items import draw_items

TASKS = ("arithmetic", "sort", "latin", "dialogue")
DIALOGUE = "dialogue"
SUM = "[0-9]{3}([+][0-9]{3}=[0-9]{4})+: [0-9]{1,4}"


def items_of(task: str, count: int, seed: int, split: Split) -> tuple[Item, ...]:
    """Draw distinct items of a split."""
    return draw_items(task, count, seed, split)


def check_of(item: Item) -> AnswerCheck:
    """Return a verifier that passes every right answer and some wrong ones: what a client could ask for.

    A sum has the form of a sum, whatever it comes to; a sorted list has the items of the request, in any order; a
    square has so many rows of such digits; what a character says is on its card, and need not be all that was asked.
    The task types' own verifiers of sums, lists and squares recompute the answer: they are checkers in disguise, and a
    search that had one would only have to draw until it passes.
    """
    if item.task == DIALOGUE:
        check = make_check(item.messages, all_tasks()[DIALOGUE], None)
    else:
        check = make_check(item.messages, None, None, (_form(item),))
    assert check is not None, "there is somebody to ask"
    return check


def agreement_of(item: Item) -> Agreement:
    """Return when two answers say the same: with the same words, and characters if they claim the same things.

    Both are read from request and answer alone.
    """
    request = read_request(item.messages) if item.task == DIALOGUE else None
    if request is None:
        return said
    persona = request.persona

    def claimed(text: str) -> str:
        reading = read_answer(text, persona)
        # What cannot be read agrees with nothing.
        return "" if reading.problem else "; ".join(sorted(min(claims) for claims in reading.claims))

    return claimed


def _form(item: Item) -> Verifier:
    question = question_of(item.messages)
    if item.task == "sort":
        numbers = read_list(question)
        assert numbers is not None, "an item of its task type can be read"
        return Constraint(same_items=tuple(map(str, numbers)))
    if item.task == "latin":
        square = read_square(question)
        assert square is not None, "an item of its task type can be read"
        size = len(square)
        row = f"[1-{size}]{{{size}}}"
        return Pattern(rf"{row}(\n{row}){{{size - 1}}}")
    return Pattern(SUM)
