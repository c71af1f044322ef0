"""Behaviour of `unmask.ledger.price` and `unmask.ledger.price_file`."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import ConfigError
from unmask.ledger.price import FREE, Price, PriceBook, cost_of, costs_of, most_of
from unmask.ledger.price_file import document_text, parse_document, read_prices
from unmask.ledger.settlement import Purpose
from unmask.testing.ledgers import make_attempt

COUNTS = st.integers(0, 10**9)
PRICE = st.builds(Price, token_step=st.integers(0, 10**12), prefill_token=st.integers(0, 10**12))


@given(PRICE, st.lists(st.tuples(COUNTS, COUNTS), max_size=8))
def test_attempts_never_cost_more_than_was_reserved(price: Price, attempts: list[tuple[int, int]]) -> None:
    """Rounded down one by one, against all of them rounded up."""
    most = most_of(price, sum(steps for steps, _ in attempts), sum(tokens for _, tokens in attempts))

    assert sum(cost_of(price, steps, tokens) for steps, tokens in attempts) <= most


def test_costs_are_whole_micro_units() -> None:
    """A quarter of one for a token adds up."""
    price = Price(token_step=250_000, prefill_token=50_000)

    assert (cost_of(price, 1_600, 50), most_of(price, 1_600, 50)) == (402, 403)


def test_the_price_that_names_most_counts() -> None:
    """Model and class, then the model, then the class, then neither; none is no price."""
    prices = tuple(
        Price(model=model, service_class=name, token_step=number, prefill_token=0)
        for number, (model, name) in enumerate([("*", "*"), ("*", "batch"), ("tiny", "*"), ("tiny", "batch")])
    )
    book = PriceBook(version="1", prices=prices)
    found = [book.price(*pair) for pair in (("nano", "x"), ("nano", "batch"), ("tiny", "x"), ("tiny", "batch"))]

    assert [price.token_step for price in found if price] == [0, 1, 2, 3]
    assert PriceBook(version="1", prices=prices[2:]).price("nano", "batch") is None


def test_an_attempt_has_the_price_of_the_model_that_ran_it() -> None:
    """Of a model without one, or none of its own, that of its request; a request without a price has none at all."""
    book = PriceBook(
        version="1",
        prices=(
            Price(model="auto", token_step=9, prefill_token=0),
            Price(model="nano", token_step=1, prefill_token=0),
        ),
    )
    found = [book.price_of_attempt(model, "auto", "batch") for model in ("nano", "", "tiny")]

    assert [price.token_step for price in found if price] == [1, 9, 9]
    assert book.price_of_attempt("nano", "tiny", "batch") is None


def test_without_a_file_nothing_costs_anything() -> None:
    """And that is known, as against having no price."""
    assert read_prices(None) is FREE
    price = FREE.price("any", "class")
    assert price is not None
    assert most_of(price, 10**9, 10**9) == 0


def test_a_file_is_read_and_kept_as_it_was(tmp_path: Path) -> None:
    """In YAML; the ledger holds it in one way only, whatever the order."""
    path = tmp_path / "prices.yaml"
    path.write_text(
        "version: '2026-11'\nprices:\n"
        "  - {model: tiny, service_class: batch, token_step: 3, prefill_token: 1}\n"
        "  - {token_step: 250000, prefill_token: 50000}\n",
        encoding="utf-8",
    )
    book = read_prices(path)

    assert book.price("tiny", "batch") == Price(model="tiny", service_class="batch", token_step=3, prefill_token=1)
    assert document_text(parse_document(document_text(book))) == document_text(book)
    other = PriceBook(version=book.version, prices=book.prices[::-1])
    assert document_text(other) == document_text(book)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version: 1\nprices: [{token_step: 1, prefill_token: 1}]", "version is 1"),
        ("version: a\nprices: []", "prices is"),
        ("version: a\nprices: [{token_step: 0.5, prefill_token: 1}]", r"prices\.0\.token_step is 0\.5"),
        ("version: a\nprices: [{token_step: -1, prefill_token: 1}]", r"prices\.0\.token_step is -1"),
        ("version: a\nprices: [{token_step: 1}]", r"prices\.0\.prefill_token"),
        ("version: a\nprices: [{token_step: 1, prefill_token: 1, cached: 1}]", r"prices\.0\.cached"),
        (
            "version: a\nprices: [{token_step: 1, prefill_token: 1}, {token_step: 2, prefill_token: 1}]",
            r"\* in \* has 2 prices",
        ),
        ("- 1", "the file is"),
        ("a: [", "no YAML"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """With the field, its value and what is allowed."""
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=told):
        read_prices(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """By its path."""
    with pytest.raises(ConfigError, match="none"):
        read_prices(tmp_path / "none.yaml")


@given(PRICE, st.integers(0, 10**9), st.lists(st.tuples(st.sampled_from(Purpose), COUNTS, COUNTS), max_size=8))
def test_a_hit_never_costs_more_than_was_reserved(
    price: Price, hit: int, taken: list[tuple[Purpose, int, int]]
) -> None:
    """It takes no step and has a price of its own, up to what the other attempts leave of the reservation."""
    attempts = [
        make_attempt(purpose=purpose, token_steps=0, prefill_tokens=0)
        if purpose is Purpose.CACHE
        else make_attempt(purpose=purpose, token_steps=steps, prefill_tokens=tokens)
        for purpose, steps, tokens in taken
    ]
    reserved = most_of(price, sum(one.token_steps for one in attempts), sum(one.prefill_tokens for one in attempts)) + 5
    costs = [cost or 0 for cost in costs_of([replace(price, cache_hit=hit)] * len(attempts), attempts, reserved)]

    assert sum(costs) <= reserved
    others = [(one, cost) for one, cost in zip(attempts, costs, strict=True) if one.purpose is not Purpose.CACHE]
    assert all(cost == cost_of(price, one.token_steps, one.prefill_tokens) for one, cost in others)


def test_a_hit_costs_its_price() -> None:
    """Where that is less than generating the answer might have cost."""
    price = Price(token_step=250_000, prefill_token=50_000, cache_hit=40)

    assert costs_of([price], [make_attempt(purpose=Purpose.CACHE, token_steps=0, prefill_tokens=0)], 403) == [40]
    assert costs_of([price], [make_attempt(purpose=Purpose.CACHE, token_steps=0, prefill_tokens=0)], 30) == [30]


def test_a_book_without_a_price_of_hits_is_kept_as_it_always_was() -> None:
    """A version has one document for ever, so a field that says nothing is not written."""
    book = PriceBook(version="1", prices=(Price(token_step=1, prefill_token=1),))
    dear = PriceBook(version="1", prices=(Price(token_step=1, prefill_token=1, cache_hit=7),))

    assert "cache_hit" not in document_text(book)
    assert [parse_document(document_text(one)) for one in (book, dear)] == [book, dear]
