"""Behaviour of `unmask.config.rules`."""

import pytest

from unmask.config.rules import Names, Url, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST"])
def test_loopback_is_known(host: str) -> None:
    """Every name of this machine for itself is one."""
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "localhost.example.org"])  # noqa: S104 - refused
def test_other_hosts_are_not(host: str) -> None:
    """A name that merely begins like one of ours is somebody else's."""
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("names", "allowed"),
    [((), True), (("a", "b"), True), (("a", "a"), False), (("a", ""), False), (("a b",), False)],
)
def test_names_are_different_and_whole(names: tuple[str, ...], allowed: bool) -> None:
    """A name that is there twice, or is empty, is a slip."""
    assert Names("names").allow(names) is allowed


@pytest.mark.parametrize(
    "url", [None, "http://127.0.0.1:4318", "https://collector.example.org/otlp", "http://[::1]:4318"]
)
def test_addresses_of_http_are_allowed(url: str | None) -> None:
    """With a path or without, and none at all."""
    assert Url().allow(url)


@pytest.mark.parametrize(
    "url", ["", "collector:4318", "grpc://c:4317", "http://", "http://a b", "http://u:p@c", "http://c?x"]
)
def test_other_addresses_are_not(url: str) -> None:
    """No other protocol, and nothing secret in it: settings are shown."""
    assert not Url().allow(url)
