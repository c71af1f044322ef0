"""Our forward of published families against what their own code has computed."""

import pytest
import torch

from tests.engine.families.published import FAMILIES, Published, canvas_row
from unmask.plan import Row

TOLERANCE = 1e-4


@pytest.fixture(scope="module", params=FAMILIES)
def published(request: pytest.FixtureRequest) -> Published:
    """One family."""
    return Published.read(request.param)


def test_logits_are_those_of_the_published_code(published: Published) -> None:
    """Of every position of texts with masks in them, none of them appended, logits are within 1e-4."""
    runner = published.runner()

    for text, expected in zip(published.texts, published.logits, strict=True):
        torch.testing.assert_close(runner.forward([canvas_row((), text)]), expected, atol=TOLERANCE, rtol=0)


def test_appended_tokens_count_as_context(published: Published) -> None:
    """Logits of the end of a text are the same where its beginning was appended, in one piece or in two, or before."""
    text, expected = published.texts[-1], published.logits[-1][24:]
    runner = published.runner()

    at_once = runner.forward([canvas_row(text[:24], text[24:])])
    runner.forward([Row(sequence=2, start=0, append=text[:11], pages=(4, 5), task=None)])
    in_two = runner.forward([canvas_row(text[11:24], text[24:], start=11, first_page=4)])
    again = runner.forward([canvas_row((), text[24:], start=24, first_page=4)])

    for found in (at_once, in_two, again):
        torch.testing.assert_close(found, expected, atol=TOLERANCE, rtol=0)


def test_rows_of_a_batch_are_as_alone(published: Published) -> None:
    """A row's logits are the same to the last bit whatever other rows, of other lengths, share the forward."""
    runner = published.runner()
    rows = [canvas_row((), text, first_page=4 * place) for place, text in enumerate(published.texts)]

    together = runner.forward(rows).split([len(text) for text in published.texts])
    alone = [runner.forward([row]) for row in rows]

    for found, expected in zip(together, alone, strict=True):
        assert torch.equal(found, expected)


def test_only_asked_positions_have_logits(published: Published) -> None:
    """Rows without a canvas bring no logits."""
    runner = published.runner()

    assert runner.forward([Row(sequence=1, start=0, append=(65, 66), pages=(0,), task=None)]).shape[0] == 0
