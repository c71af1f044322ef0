"""Which addresses may be connected to: rules for URLs, and for what their names turn out to be.

Names are resolved here and the connection goes to the very address that was checked, so that a name cannot stand for
another address a moment later (DNS rebinding).
"""

import asyncio
import ipaddress
import socket

import httpx
from aiohttp.abc import AbstractResolver, ResolveResult

from unmask.errors import ConfigError, shown
from unmask.remote.errors import ForbiddenAddressError, UnreachableError

METADATA = frozenset({
    ipaddress.ip_address("100.100.100.200"),
    ipaddress.ip_address("192.0.0.192"),
    ipaddress.ip_address("fd00:ec2::254"),
    ipaddress.ip_address("fd20:ce::254"),
    ipaddress.ip_address("168.63.129.16"),
})  # fmt: skip
"""Where clouds serve a machine its credentials, beside 169.254.0.0/16."""
LARGEST_PORT = 65_535
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def check_url(url: str, *, param: str) -> str:
    """Return a base URL without the slash at its end.

    Raises:
        ConfigError: it is none, has another scheme than http or https, or carries credentials, query or fragment.
    """
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError, ValueError) as error:
        raise ConfigError(
            f"{param} is {shown(url)}, allowed: a URL such as http://host:8000/v1", param=param
        ) from error
    if parsed.userinfo or "@" in parsed.netloc.decode("ascii", "replace"):
        # Not shown: it holds a password.
        raise ConfigError(
            f"{param} carries credentials, allowed: none in a URL. Name the key by key_env or key_file.", param=param
        )
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigError(f"{param} is {shown(url)}, allowed: http or https and a host. Change it.", param=param)
    if parsed.port is not None and not 0 < parsed.port <= LARGEST_PORT:
        raise ConfigError(f"{param} has port {parsed.port}, allowed: 1 to {LARGEST_PORT}. Change it.", param=param)
    if parsed.query or parsed.fragment or "?" in url or "#" in url:
        raise ConfigError(f"{param} is {shown(url)}, allowed: no query and no fragment. Remove them.", param=param)
    return url.rstrip("/")


def is_forbidden(address: Address) -> bool:
    """Tell whether an address is link-local, a cloud's metadata service, or none that a server has."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None and is_forbidden(inner):
            return True
        if address in ipaddress.ip_network("64:ff9b::/96") and is_forbidden(
            ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        ):
            return True
    return address.is_link_local or address.is_multicast or address.is_unspecified or address in METADATA


def allowed_addresses(upstream: str, found: list[str], *, allow_link_local: bool) -> list[str]:
    """Return the addresses of a name, in their order.

    One that is forbidden refuses them all: such a name is not to be trusted with the others.

    Raises:
        ForbiddenAddressError: an address may not be connected to.
    """
    for text in found:
        # A zone, as in fe80::1%eth0, is no part of the address itself.
        if not allow_link_local and is_forbidden(ipaddress.ip_address(text.partition("%")[0])):
            raise ForbiddenAddressError(
                upstream,
                f"its host is {text}, a link-local or metadata address, which is not connected to. "
                "If it is right, set allow_link_local: true.",
            )
    return list(dict.fromkeys(found))


def found_addresses(upstream: str, host: str, port: int) -> list[str]:
    """Resolve a name; this blocks.

    Raises:
        UnreachableError: there is no such name.
    """
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnreachableError(upstream, f"the name {shown(host)} cannot be resolved") from error
    return [str(info[4][0]) for info in infos]


def port_of(url: httpx.URL) -> int:
    """Return the port, which may be that of the scheme."""
    return url.port or (443 if url.scheme == "https" else 80)


def pinned(request: httpx.Request, address: str) -> httpx.Request:
    """Return a request that goes to an address; certificate and ``Host`` stay those of its name."""
    return httpx.Request(
        method=request.method,
        url=request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


def check_literal(upstream: str, url: str, *, allow_link_local: bool) -> None:
    """Check the host of a URL where it is an address, which no resolver is asked for.

    Raises:
        ForbiddenAddressError: it may not be connected to.
    """
    host = httpx.URL(url).host
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return
    allowed_addresses(upstream, [host], allow_link_local=allow_link_local)


class CheckedResolver(AbstractResolver):
    """Resolves a name for a connection, to addresses that have been checked; see the module.

    Args:
        upstream: named in errors.
    """

    def __init__(self, upstream: str, *, allow_link_local: bool) -> None:
        self._upstream = upstream
        self._allow = allow_link_local

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a name, to be tried in their order.

        Raises:
            ForbiddenAddressError: the name stands for an address that may not be connected to.
            UnreachableError: there is no such name.
        """
        del family  # Either will do.
        found = await asyncio.to_thread(found_addresses, self._upstream, host, port)
        allowed = allowed_addresses(self._upstream, found, allow_link_local=self._allow)
        return [_result(host, port, address) for address in allowed]

    async def close(self) -> None:
        """Do nothing: nothing is kept."""


def _result(host: str, port: int, address: str) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends requests that are few to addresses that have been checked; names are resolved for each.

    Args:
        upstream: named in errors.
        inner: makes the connections.
    """

    def __init__(self, upstream: str, inner: httpx.AsyncBaseTransport, *, allow_link_local: bool) -> None:
        self._upstream = upstream
        self._inner = inner
        self._allow = allow_link_local

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the first address of its name that takes a connection.

        Raises:
            ForbiddenAddressError: the name stands for an address that may not be connected to.
            UnreachableError: there is no such name.
        """
        host, port = request.url.host, port_of(request.url)
        found = await asyncio.to_thread(found_addresses, self._upstream, host, port)
        *others, last = allowed_addresses(self._upstream, found, allow_link_local=self._allow)
        for address in others:
            try:
                return await self._inner.handle_async_request(pinned(request, address))
            except httpx.ConnectError:
                continue
        return await self._inner.handle_async_request(pinned(request, last))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


class BlockingTransport(httpx.BaseTransport):
    """The same for what is asked once, before there is an event loop to hold up."""

    def __init__(self, upstream: str, inner: httpx.BaseTransport, *, allow_link_local: bool) -> None:
        self._upstream = upstream
        self._inner = inner
        self._allow = allow_link_local

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the first address of its name that takes a connection."""
        found = found_addresses(self._upstream, request.url.host, port_of(request.url))
        *others, last = allowed_addresses(self._upstream, found, allow_link_local=self._allow)
        for address in others:
            try:
                return self._inner.handle_request(pinned(request, address))
            except httpx.ConnectError:
                continue
        return self._inner.handle_request(pinned(request, last))

    def close(self) -> None:
        """Close all connections."""
        self._inner.close()
