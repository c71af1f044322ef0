"""Behaviour of the figures of `unmask.bench.business_bench`."""

from dataclasses import replace
from random import Random

import pytest

from unmask.bench.business_bench import REFINED, UNREFINED, refine_figures
from unmask.bench.business_prompts import redundant
from unmask.bench.business_stop import QUALITY, SAVED, StopAnswer, read_stop, stop_figures
from unmask.refine.refine import refine
from unmask.tasks.dialogue import Dialogue
from unmask.tasks.dialogue_phrases import MANNERS
from unmask.tasks.item import Item, Split
from unmask.testing.builders import make_generation
from unmask.text.tokenizer import packaged_tokenizer

ANSWER = StopAnswer(committed=40, wasted=20, steps=30, seconds=1.0, right=True, opens=True, closes=True)


def item() -> Item:
    """Return a dialogue item of the tuning split."""
    return Dialogue().generate(Random(4), Split.TUNE)


def test_wasted_is_what_follows_the_point() -> None:
    """In tokens; an answer that never makes it wastes nothing by this measure."""
    asked, tokenizer = item(), packaged_tokenizer()
    persona = next(word for word in asked.messages[0].content.split() if word in MANNERS)
    closing = MANNERS[persona].closings[0]
    point = asked.answer.removesuffix(closing).strip()
    tokens = tuple(tokenizer.encode(f"{point} {closing}"))
    found = read_stop(asked, make_generation(f"{point} {closing}", tokens=tokens), tokenizer)
    wrong = read_stop(asked, make_generation(closing, tokens=tuple(tokenizer.encode(closing))), tokenizer)

    assert (found.right, found.closes, found.committed) == (True, True, len(tokens))
    assert 0 < found.wasted <= len(tokenizer.encode(f" {closing}"))
    assert (wrong.right, wrong.wasted) == (False, 0)


def test_what_is_saved_comes_with_what_it_costs() -> None:
    """Both by item, with intervals: half of the waste is gone, and one answer in four has lost its manner."""
    without = [replace(ANSWER, wasted=20 + 2 * (number % 3)) for number in range(40)]
    within = [
        replace(one, wasted=one.wasted // 2, opens=number % 4 > 0, closes=False) for number, one in enumerate(without)
    ]
    by_name = {figure.name: figure for figure in stop_figures(without, within, 0)}

    assert by_name[SAVED].value == pytest.approx(0.5)
    assert by_name[QUALITY].value == pytest.approx(-0.25)
    assert by_name[QUALITY].low is not None
    assert (by_name["without_stop.closing"].value, by_name["with_stop.closing"].value) == (1.0, 0.0)


def test_redundant_prompts_ask_the_same_and_are_refined() -> None:
    """Drawn by item and seed; refinement gives the prompt back where all that was added was redundant."""
    asked = item()
    prompts = [redundant(asked, seed) for seed in range(12)]

    assert redundant(asked, 3) == prompts[3]
    assert len(set(prompts)) > 3
    assert {refine(prompt).messages for prompt in prompts} == {refine(asked.messages).messages}


def test_refinement_is_compared_over_all_and_by_task_type() -> None:
    """Tokens and right answers of the same items."""
    items = [replace(item(), task=task) for task in ("lookup", "dialogue", "extract", "arithmetic") for _ in range(20)]
    lengths = {UNREFINED: [10 + number % 2 for number in range(80)], REFINED: [8] * 80}
    right = {UNREFINED: [number % 2 == 0 for number in range(80)], REFINED: [number % 4 == 0 for number in range(80)]}
    by_name = {figure.name: figure for figure in refine_figures(items, lengths, right, 0)}

    assert by_name["prompt_refinement.saved"].value == pytest.approx(1 - 8 / 10.5)
    assert by_name["prompt_refinement.quality_difference"].value == pytest.approx(-0.25)
    assert by_name["prompt_refinement.lookup.quality_difference"].n == 20
