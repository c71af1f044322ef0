"""Behaviour of `unmask.tenants.token`."""

import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.tenants.token import ID_LENGTH, LOWER, MIXED, NOBODY, SECRET_LENGTH, Token, mint, parse

TOKEN = Token(public_id="a1" * 6, secret="S3" * 21 + "x")


def test_a_token_reads_back() -> None:
    """What is written is what is read."""
    assert parse(TOKEN.text) == TOKEN
    assert TOKEN.text == f"um-{'a1' * 6}-{'S3' * 21}x"


def test_the_secret_shows_nowhere() -> None:
    """A token that ends up in a log or a traceback tells its id alone."""
    assert TOKEN.secret not in repr(TOKEN)
    assert TOKEN.public_id in repr(TOKEN)


def test_minted_tokens_are_well_formed_and_differ() -> None:
    """Each is drawn anew."""
    tokens = [mint(secrets.choice) for _ in range(50)]

    assert all(parse(token.text) == token for token in tokens)
    assert len({token.public_id for token in tokens}) == len({token.secret for token in tokens}) == 50


def test_every_character_is_drawn() -> None:
    """Ids are lower case, so that they can be told over the phone; secrets have 62 characters."""
    asked: list[str] = []

    def choose(characters: str) -> str:
        asked.append(characters)
        return characters[-1]

    token = mint(choose)

    assert asked == [LOWER] * ID_LENGTH + [MIXED] * SECRET_LENGTH
    assert len(set(LOWER)) == 36
    assert len(set(MIXED)) == 62
    assert token == Token(public_id="9" * ID_LENGTH, secret="Z" * SECRET_LENGTH)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "um",
        "um--",
        TOKEN.text[:-1],
        f"{TOKEN.text}x",
        f" {TOKEN.text}",
        f"{TOKEN.text}\n",
        TOKEN.text.replace("um-", "sk-"),
        TOKEN.text.upper(),
        TOKEN.text.replace("a1", "é1"),
        f"um-{'a1' * 5}'--{'S' * 41}",
        "um-' OR 1=1 --aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "x" * 100_000,
    ],
)
def test_what_is_no_key_is_nobodys(text: str) -> None:
    """It still has an id to look for and a secret to hash, so that it takes as long as any other."""
    assert parse(text) is NOBODY


@given(st.text(max_size=80))
def test_nothing_that_is_read_has_nobodys_id(text: str) -> None:
    """So no key in the database can ever be opened by what is no key."""
    token = parse(text)

    assert token is NOBODY or token.text == text
    assert parse(NOBODY.text) is NOBODY
