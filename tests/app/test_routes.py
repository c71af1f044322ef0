"""Behaviour of the file of routes, and of what a server checks before it starts."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from unmask.app.routes import check_prices, routes_for
from unmask.app.site import opened_site
from unmask.backend import Request
from unmask.cli.parser import build_parser
from unmask.config import Settings
from unmask.control.route_file import route_content
from unmask.control.routing import Routes
from unmask.control.sources import Classified
from unmask.errors import ConfigError
from unmask.ledger.price import FREE, Price, PriceBook
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.routes import LARGE, SMALL, make_fit, make_routes
from unmask.types import Message, Role

BACKEND = FakeBackend(models=(LARGE, SMALL))
FITTED = "routes: {auto: {small: nano, large: tiny, fit: auto.json}}"


def read(folder: Path, text: str, backend: FakeBackend = BACKEND) -> Routes:
    """Return the routes of a file; a fit of nano and tiny lies beside it."""
    fit = make_fit()
    (folder / "auto.json").write_bytes(route_content(small=fit.small, large=fit.large, tasks=fit.tasks, report={}))
    path = folder / "routes.yaml"
    path.write_text(text, encoding="utf-8")
    return routes_for(Settings(routes=str(path)), backend, lambda _: 1)


def refusal(folder: Path, text: str, backend: FakeBackend = BACKEND) -> str:
    """Return why a file is refused."""
    with pytest.raises(ConfigError) as caught:
        read(folder, text, backend)
    return caught.value.message


def test_a_fitted_route_is_read_from_beside_the_file(tmp_path: Path) -> None:
    """It is of the two models that are served, and nothing is worth a note."""
    routes = read(tmp_path, FITTED)
    route = routes.named("auto")

    assert route is not None
    assert (route.small, route.large, route.threshold) == (SMALL, LARGE, None)
    assert route.fit is not None
    assert route.fit.tasks["sort"].threshold == 0.5
    assert routes.notes == ()
    assert routes_for(Settings(), BACKEND, lambda _: 1).models == ()


def test_a_route_without_a_fit_names_the_command_that_makes_one(tmp_path: Path) -> None:
    """Only a threshold of 0 does without: the small model is tried on everything."""
    without = refusal(tmp_path, "routes: {auto: {small: nano, large: tiny}}")
    some = refusal(tmp_path, "routes: {auto: {small: nano, large: tiny, threshold: 0.8}}")
    routes = read(tmp_path, "routes: {auto: {small: nano, large: tiny, threshold: 0}}")

    command = "unmask tune routing --small nano --large tiny --out FILE"
    assert command in without
    assert command in some
    assert "0 without a fit" in some
    assert build_parser().parse_args(shlex.split(command)[1:]).part == "routing"
    assert routes.notes == ()


def test_a_fit_of_other_weights_is_refused(tmp_path: Path) -> None:
    """Whichever of the models was trained since; one that is not loaded is not looked at."""
    for models in (
        (replace(LARGE, digest="new"), SMALL),
        (LARGE, replace(SMALL, digest="new")),
    ):
        message = refusal(tmp_path, FITTED, FakeBackend(models=models))
        assert "allowed: 'new'" in message or "allowed: new" in message
        assert "unmask tune routing" in message
    routes = read(tmp_path, FITTED, FakeBackend(models=(LARGE,)))

    assert "nano is not loaded" in routes.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("routes: {auto: {small: nano, large: huge, fit: auto.json}}", "routes.auto.large is 'huge'"),
        ("routes: {auto: {small: tiny, large: nano, fit: auto.json}}", "of nano"),
        ("routes: {auto: {small: tiny, large: tiny, threshold: 0}}", "another model than its small one"),
        ("routes: {tiny: {small: nano, large: tiny, threshold: 0}}", "the name of a model"),
        ("routes: {auto: {small: nano, large: tiny, fit: none.json}}", "cannot be read"),
        ("routes: {auto: {small: nano, large: tiny, treshold: 0}}", "routes.auto.treshold"),
        ("routes: {auto: {small: nano, large: tiny, threshold: 2}}", "routes.auto.threshold"),
        ("routes: {'자동': {small: nano, large: tiny, threshold: 0}}", "pattern"),
        ("routes: {}", "routes"),
        ("models: []", "routes"),
        ("routes: [", "no YAML"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    """A model that is not served, a fit of others, a name twice, a field that is none, and no routes at all."""
    assert message in refusal(tmp_path, text)


def test_models_that_share_no_canvas_length_make_no_route(tmp_path: Path) -> None:
    """No request could be valid for both."""
    small = make_model("nano", canvas_lengths=(64,), default_canvas_length=64)
    text = "routes: {auto: {small: nano, large: tiny, threshold: 0}}"

    assert "canvas length" in refusal(tmp_path, text, FakeBackend(models=(LARGE, small)))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """With the setting that names it."""
    with pytest.raises(ConfigError) as caught:
        routes_for(Settings(routes=str(tmp_path / "none.yaml")), BACKEND, lambda _: 1)

    assert caught.value.param == "routes"


def test_a_route_reserves_at_least_what_its_models_cost() -> None:
    """In every class; a route that has a lower price, or none where its models have one, is refused."""

    def book(*prices: tuple[str, str, int]) -> PriceBook:
        entries = (Price(model=name, service_class=of, token_step=price, prefill_token=1) for name, of, price in prices)
        return PriceBook(version="1", prices=tuple(entries))

    routes = make_routes()
    check_prices(routes, FREE)
    check_prices(routes, book(("tiny", "*", 9), ("nano", "*", 2), ("auto", "*", 9)))
    check_prices(Routes(), book(("tiny", "*", 9)))
    for prices in (
        book(("tiny", "*", 9), ("*", "*", 5)),
        book(("tiny", "*", 9)),
        book(("nano", "batch", 9), ("*", "*", 5)),
        book(("tiny", "*", 9), ("auto", "*", 9), ("auto", "batch", 5)),
    ):
        with pytest.raises(ConfigError, match="allowed: at least as much"):
            check_prices(routes, prices)


async def test_a_prompt_is_counted_once_for_all_choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting takes longer than all else that chooses a model; the next prompt is counted by itself."""
    counted: list[str] = []

    class Counting:
        def chat_length(self, messages: Sequence[Message]) -> int:
            counted.append(messages[-1].content)
            return 1

    path = tmp_path / "routes.yaml"
    path.write_text("routes: {auto: {small: nano, large: tiny, threshold: 0}}", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("unmask.app.site.packaged_tokenizer", Counting)
    async with opened_site(Settings(routes=str(path)), BACKEND, None, None, Console()) as site:
        for text in ("하나", "둘"):
            request = Request(model="auto", messages=(Message(role=Role.USER, content=text),))
            for _ in range(2):
                site.parts.routes.decide(
                    site.parts.routes.named("auto") or pytest.fail("no route"),
                    request,
                    Classified(task="sort"),
                    None,
                    can_escalate=True,
                )

    assert counted == ["하나", "둘"]
