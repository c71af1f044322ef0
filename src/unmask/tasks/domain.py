"""Tells whether a prompt is one that a task type knows, by the task type's own reader and words."""

import re
from collections.abc import Iterable

from unmask.cards import parse_facts
from unmask.tasks import arithmetic, latin, sorting
from unmask.tasks.dialogue_check import read_request
from unmask.tasks.extract import find_schema
from unmask.tasks.lookup import RELATIONS
from unmask.tasks.spec import load_spec
from unmask.types import Message, Role

_WORD = re.compile(r"[^\W\d_]+")


def recognise(messages: tuple[Message, ...]) -> str | None:
    """Return the name of the task type whose grammar fits the last message and its system message, if one does."""
    prompt = messages[-1].content
    request = read_request(messages)
    if request is not None:
        return "dialogue" if request.truths else None
    if any(message.role is Role.SYSTEM for message in messages):
        return None
    for name, fits in (
        ("arithmetic", _is_sum),
        ("sort", _is_list),
        ("latin", _is_square),
        ("extract", _has_schema),
        ("lookup", _asks_for_path),
    ):
        if fits(prompt):
            return name
    return None


def _is_sum(prompt: str) -> bool:
    return arithmetic.read_terms(prompt) is not None and _says_only(prompt, arithmetic.PHRASINGS)


def _is_list(prompt: str) -> bool:
    numbers = sorting.read_list(prompt)
    lengths = load_spec().axis("sort", "length").values
    return numbers is not None and str(len(numbers)) in lengths and _says_only(prompt, sorting.PHRASINGS)


def _is_square(prompt: str) -> bool:
    return latin.read_square(prompt) is not None and _says_only(prompt, latin.PHRASINGS)


def _has_schema(prompt: str) -> bool:
    return find_schema(prompt) is not None


def _asks_for_path(prompt: str) -> bool:
    facts, _, question = prompt.strip().rpartition("\n")
    subjects = {fact.subject for fact in parse_facts(facts)}
    asked = set(re.findall(r"\w+", question))
    return bool(asked & subjects) and bool(asked & set(RELATIONS))


def _says_only(prompt: str, phrasings: Iterable[str]) -> bool:
    """Tell whether every word is one of the phrasings': numbers in other prose mean something else."""
    known = {word for phrasing in phrasings for word in _WORD.findall(re.sub(r"\{\w+\}", "", phrasing))}
    return set(_WORD.findall(prompt)) <= known
