"""The price book's file: read strictly, and kept in the ledger so that old costs can be told again."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from unmask.config.strict_yaml import load_yaml
from unmask.errors import ConfigError, shown
from unmask.ledger.price import ANY, FREE, Price, PriceBook

PARAM = "prices"
LARGEST_FILE = 1 << 20
MOST_MONEY = 10**12
"""Micro-units for a million tokens: a million of the currency."""

_Name = Annotated[str, Field(pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$")]
_Money = Annotated[int, Field(ge=0, le=MOST_MONEY)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class PriceDocument(_Strict):
    """One price; see `unmask.ledger.price.Price`."""

    model: _Name = ANY
    service_class: _Name = ANY
    token_step: _Money
    prefill_token: _Money
    cache_hit: _Money = 0


class BookDocument(_Strict):
    """A price book."""

    version: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    prices: Annotated[tuple[PriceDocument, ...], Field(min_length=1, max_length=10_000, strict=False)]


def read_prices(path: Path | None) -> PriceBook:
    """Read a price book in YAML, of which JSON is a part; without a file nothing costs anything.

    Raises:
        ConfigError: it cannot be read, or a field does not fit; the message has the field, its value and the fix.
    """
    if path is None:
        return FREE
    try:
        with path.expanduser().open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"the price book cannot be read from {path}: {error}", param=PARAM) from error
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{path} is larger than a price book may be, allowed: up to {LARGEST_FILE} bytes")
    try:
        raw = load_yaml(content.decode("utf-8-sig"))
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} is no YAML that a price book may be written in: {error}", param=PARAM) from error
    return _book(raw, str(path))


def document_text(book: PriceBook) -> str:
    """Write a book in one way only, as it is kept in the ledger."""
    document = TypeAdapter(PriceBook).dump_python(book, mode="json")
    for price in document["prices"]:
        # As it was written before there was one: a version has one document for ever.
        if not price["cache_hit"]:
            del price["cache_hit"]
    document["prices"] = sorted(document["prices"], key=lambda price: (price["model"], price["service_class"]))
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()


def parse_document(text: str) -> PriceBook:
    """Read what `document_text` wrote."""
    return _book(orjson.loads(text), "the ledger")


def _book(raw: object, place: str) -> PriceBook:
    try:
        document = BookDocument.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(
            f"{place}: {field} is {shown(first['input'])}: {first['msg']}. A price book has a version and prices, each "
            "with token_step and prefill_token in whole micro-units for a million tokens, and a model and a "
            "service_class or *",
            param=PARAM,
        ) from error
    prices = tuple(Price(**price.model_dump()) for price in document.prices)
    (pair, count), *_ = Counter((price.model, price.service_class) for price in prices).most_common(1)
    if count > 1:
        raise ConfigError(f"{place}: {pair[0]} in {pair[1]} has {count} prices, allowed: one", param=PARAM)
    return PriceBook(version=document.version, prices=prices)
