"""Behaviour of `unmask.remote.address`."""

import socket
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.remote.remotes import make_request, remote
from unmask.errors import ConfigError
from unmask.remote.address import allowed_addresses, check_url, found_addresses, is_forbidden
from unmask.remote.errors import ForbiddenAddressError, UnreachableError
from unmask.testing.fake_upstream import answer, streaming

FORBIDDEN = (
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "febf::1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "fd00:ec2::254",
    "100.100.100.200",
    "168.63.129.16",
    "0.0.0.0",  # noqa: S104 - an address that is refused
    "::",
    "224.0.0.1",
)
ALLOWED = ("127.0.0.1", "::1", "10.0.0.7", "192.168.1.2", "8.8.8.8", "fd00::5", "2001:4860:4860::8888")


@pytest.mark.parametrize(
    "url", ["http://host:8000/v1", "https://host/v1", "http://[::1]:8000", "http://모델.example/v1"]
)
def test_urls_that_may_be_asked(url: str) -> None:
    """A URL of http or https is taken, without the slash at its end."""
    assert check_url(url, param="url") == check_url(f"{url}/", param="url") == url


@pytest.mark.parametrize(
    "url",
    ["ftp://host/", "file:///etc/passwd", "host:8000", "", "http://", "http:///v1", "http://h/v1?a=b", "http://h/#x",
     "http://h:99999999/", "unix:///tmp/s", "http://h\n.x/"],
)  # fmt: skip
def test_urls_that_may_not(url: str) -> None:
    """Everything else is refused by the setting's name."""
    with pytest.raises(ConfigError, match="upstream url"):
        check_url(url, param="upstream url")


@pytest.mark.parametrize("url", ["http://user:hunter2@host/v1", "http://hunter2@host/v1", "https://:hunter2@host"])
def test_credentials_in_urls_are_refused_and_not_shown(url: str) -> None:
    """A password in a URL would end up in logs; the refusal does not repeat it."""
    with pytest.raises(ConfigError, match="credentials") as caught:
        check_url(url, param="url")

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("address", FORBIDDEN)
def test_forbidden_addresses(address: str) -> None:
    """Link-local and metadata addresses are refused in all their guises, and so are addresses of no server."""
    with pytest.raises(ForbiddenAddressError, match="allow_link_local"):
        allowed_addresses("u", ["8.8.8.8", address], allow_link_local=False)
    assert allowed_addresses("u", [address], allow_link_local=True) == [address]


@pytest.mark.parametrize("address", ALLOWED)
def test_allowed_addresses(address: str) -> None:
    """An operator's own machines are not forbidden."""
    assert not is_forbidden(ip_address(address))


@given(st.ip_addresses(network="169.254.0.0/16"))
def test_no_link_local_address_is_mapped_around_the_rule(address: Any) -> None:  # noqa: ANN401 - of IPv4
    """Written as IPv6 it stays forbidden."""
    assert is_forbidden(address)
    assert is_forbidden(ip_address(f"::ffff:{address}"))


async def test_names_are_checked_once_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that stands for a forbidden address is refused before anything is sent."""
    info = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))
    async with remote(streaming(*answer("2"))) as far:
        upstream = far.backend._models["far"].pool.upstreams["up1"]
        object.__setattr__(upstream.settings, "url", far.upstreams[0].url.replace("127.0.0.1", "model.invalid"))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_kwargs: [info])
        with pytest.raises(ForbiddenAddressError, match=r"up1: its host is 169\.254\.169\.254"):
            await far.backend.generate(make_request())

        assert far.asked == 0


async def test_addresses_in_urls_are_checked() -> None:
    """An address needs no resolver, and is refused all the same."""
    async with remote(streaming(*answer("2"))) as far:
        upstream = far.backend._models["far"].pool.upstreams["up1"]
        object.__setattr__(upstream.settings, "url", "http://[fe80::1]:80/v1")
        with pytest.raises(ForbiddenAddressError, match="fe80::1"):
            await far.backend.generate(make_request())


async def test_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is resolved once: what it stands for a moment later does not count. Its `Host` stays the name."""
    real = socket.getaddrinfo
    seen = []

    def resolve(host: str, port: int, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the original
        seen.append(host)
        return real("127.0.0.1" if host == "model.invalid" else host, port, *args, **kwargs)

    async with remote(streaming(*answer("2"))) as far:
        upstream = far.backend._models["far"].pool.upstreams["up1"]
        object.__setattr__(upstream.settings, "url", far.upstreams[0].url.replace("127.0.0.1", "model.invalid"))
        monkeypatch.setattr(socket, "getaddrinfo", resolve)

        assert (await far.backend.generate(make_request())).text == "2"
        assert far.upstreams[0].exchanges[0].headers["host"].startswith("model.invalid:")
    assert seen.count("model.invalid") == 1


def test_name_that_is_none() -> None:
    """It is the upstream that cannot be reached."""
    with pytest.raises(UnreachableError, match="cannot be resolved"):
        found_addresses("u", "no-such-host.invalid", 80)


async def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a proxy that the configuration names is used."""
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    async with remote(streaming(*answer("2"))) as far:
        assert (await far.backend.generate(make_request())).text == "2"


async def test_proxy_of_the_configuration_is_used() -> None:
    """It is sent the whole address, and resolves names itself."""
    async with remote(streaming(*answer("2"))) as proxy:
        through = {"proxy": proxy.upstreams[0].url.removesuffix("/v1")}
        async with remote(streaming(*answer("3")), upstream=through) as far:
            assert (await far.backend.generate(make_request())).text == "2"
            assert proxy.upstreams[0].exchanges[0].target == f"{far.upstreams[0].url}/chat/completions"
            assert far.asked == 0
