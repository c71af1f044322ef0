"""Behaviour of `unmask.tune.prompts`."""

from random import Random

import pytest

from unmask.policy.policy import DEFAULT_TASK
from unmask.tasks.item import question_of
from unmask.tasks.registry import all_tasks
from unmask.tune.prompts import ENGLISH, FOREIGN, KOREAN, OUTSIDE, Population, foreign, generated, paraphrase

PARAPHRASED = (Population.PARAPHRASED, Population.PARAPHRASED_KOREAN)


def test_every_task_type_is_paraphrased() -> None:
    """A new task type comes with paraphrases, or this fails."""
    assert set(ENGLISH) == set(KOREAN) == set(all_tasks())
    assert set(FOREIGN) == set(OUTSIDE)


@pytest.mark.parametrize("population", PARAPHRASED)
@pytest.mark.parametrize("task", all_tasks())
def test_paraphrases_are_whole(task: str, population: Population) -> None:
    """Every place of every template is filled, and the truth is the task type."""
    rng = Random(4)
    for _ in range(20):
        prompt = paraphrase(rng, all_tasks()[task], population)
        text = question_of(prompt.messages)
        assert (prompt.population, prompt.truth) == (population, task)
        assert text
        assert not any(f"{{{place}}}" in text for place in ("facts", "name", "path", "schema", "text", "terms", "rows"))
        assert text.isascii() == (population is Population.PARAPHRASED)


@pytest.mark.parametrize("population", OUTSIDE)
def test_foreign_prompts_are_of_no_task_type(population: Population) -> None:
    """Their truth is `default`, with and without a system message."""
    rng = Random(4)
    prompts = [foreign(rng, population) for _ in range(60)]

    assert {prompt.truth for prompt in prompts} == {DEFAULT_TASK}
    assert {len(prompt.messages) for prompt in prompts} == {1, 2}
    assert len({prompt.messages for prompt in prompts}) > 10


def test_generated_prompts_are_items() -> None:
    """Their truth is what generated them."""
    assert generated(Random(1), all_tasks()["sort"]).truth == "sort"
