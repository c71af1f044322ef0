"""Reads the file of routes and joins it to what is served."""

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unmask.backend import Backend, ModelInfo
from unmask.config import Settings
from unmask.config.strict_yaml import load_yaml
from unmask.control.route import Route, RouteFit
from unmask.control.route_file import COMMAND, read_route
from unmask.control.routing import Routes, is_running
from unmask.control.stored import CountTokens
from unmask.errors import ConfigError, shown
from unmask.ledger.price import ANY, Price, PriceBook

PARAM = "routes"
LARGEST_FILE = 1 << 20
"""Bytes."""

_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Route(_Strict):
    small: _Name
    large: _Name
    fit: Annotated[str, Field(min_length=1, max_length=4_096)] | None = None
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None


class _File(_Strict):
    routes: Annotated[dict[_Name, _Route], Field(min_length=1, max_length=100)]


def routes_for(settings: Settings, backend: Backend, count_tokens: CountTokens) -> Routes:
    """Return the routes of the file that the settings name, over what is served; paths in it count from its folder.

    Raises:
        ConfigError: it cannot be read or does not fit; a larger model is not served; a fit is missing, damaged, or of
            other weights.
    """
    if settings.routes is None:
        return Routes()
    path = Path(settings.routes).expanduser()
    served = {model.name: model for model in backend.models()}
    file = _read(path)
    routes = [_route(name, entry, served, path) for name, entry in file.routes.items()]
    return Routes(routes, count_tokens=count_tokens, is_running=partial(is_running, backend))


def check_prices(routes: Routes, prices: PriceBook) -> None:
    """Refuse a price book that reserves less for a route than its models may cost.

    Raises:
        ConfigError: naming the route, the model and the fix.
    """
    classes = sorted({ANY, *(price.service_class for price in prices.prices)})
    for route in filter(None, (routes.named(model.name) for model in routes.models)):
        for service_class in classes:
            reserved = prices.price(route.name, service_class)
            for model in (route.small_name, route.large.name):
                price = prices.price(model, service_class)
                if price is not None and not _covers(reserved, price):
                    raise ConfigError(
                        f"prices: {route.name} costs less than {model} in the class {service_class}, allowed: at least "
                        f"as much. What a request may cost is reserved at the price of its route: give {route.name} "
                        "the prices of its dearer model; attempts are charged at those of the model that ran.",
                        param="prices",
                    )


def _covers(reserved: Price | None, price: Price) -> bool:
    if reserved is None:
        return False
    return reserved.token_step >= price.token_step and reserved.prefill_token >= price.prefill_token


def _read(path: Path) -> _File:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(f"routes cannot be read from {path}: {error.strerror}", param=PARAM) from error
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{path} is larger than it may be, allowed: up to {LARGEST_FILE} bytes", param=PARAM)
    try:
        return _File.model_validate_json(json.dumps(load_yaml(content.decode("utf-8-sig"))))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(
            f"{path}: {place} is {shown(first['input'])}: {first['msg']}. Each of its routes has a small and a large "
            "model, and may have a fit and a threshold from 0 to 1.",
            param=PARAM,
        ) from error
    except (TypeError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} is no YAML that routes may be written in: {error}", param=PARAM) from error


def _route(name: str, given: _Route, served: dict[str, ModelInfo], path: Path) -> Route:
    place = f"{path}: routes.{name}"
    if name in served:
        raise _misfit(place, "the name of a model that is served", "another name", "Call the route otherwise.")
    if given.small == given.large:
        raise _misfit(f"{place}.large", given.large, "another model than its small one", "Name two models.")
    large = served.get(given.large)
    if large is None:
        names = ", ".join(served)
        raise _misfit(f"{place}.large", given.large, names, "Serve it, or name one that is served.")
    small = served.get(given.small)
    fit = None if given.fit is None else read_route(path.parent / Path(given.fit).expanduser())
    if fit is None:
        _check_unfitted(place, given)
    else:
        _check_fit(place, fit, given, (small, large))
    route = Route(name=name, small_name=given.small, small=small, large=large, fit=fit, threshold=given.threshold)
    if large.canvas_lengths and not route.model.canvas_lengths:
        raise _misfit(place, "of two models without a canvas length in common", "one", "Name two others.")
    return route


def _check_unfitted(place: str, given: _Route) -> None:
    """Without a fit nothing is known of any request, so only a threshold of 0 ever tries the small model."""
    if given.threshold == 0:
        return
    command = f"{COMMAND} --small {given.small} --large {given.large} --out FILE"
    if given.threshold is None:
        raise _misfit(f"{place}.fit", None, "the file of a fitted route", f"Make it with: {command}")
    raise _misfit(
        f"{place}.threshold",
        given.threshold,
        "0 without a fit, which tries the small model first on every request",
        f"Or make a fit with: {command}",
    )


def _check_fit(place: str, fit: RouteFit, given: _Route, models: Iterable[ModelInfo | None]) -> None:
    command = f"{COMMAND} --small {given.small} --large {given.large} --out {given.fit}"
    for model, end, wanted in zip(models, (fit.small, fit.large), (given.small, given.large), strict=True):
        if end.name != wanted:
            raise _misfit(f"{place}.fit", f"of {end.name}", f"one of {wanted}", f"Make it with: {command}")
        if model is not None and model.digest != end.digest:
            raise _misfit(
                f"{place}.fit",
                f"of {end.name} with the weights {end.digest}",
                model.digest,
                f"The weights are others now. Make it anew with: {command}",
            )


def _misfit(place: str, value: object, allowed: str, fix: str) -> ConfigError:
    return ConfigError(f"{place} is {shown(value)}, allowed: {allowed}. {fix}", param=PARAM)
