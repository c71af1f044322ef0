"""What a setting may be, and what is said about it."""

import re
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address


class Group(StrEnum):
    """What a setting is about; settings are listed in this order."""

    SERVER = "server"
    KEYS = "keys"
    ENGINE = "engine"
    REQUESTS = "requests"
    POLICY = "policy"
    SAVINGS = "savings"
    LEDGER = "ledger"
    CACHE = "cache"
    SEARCH = "search"
    TRACING = "tracing"
    CONNECTIONS = "connections"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``, both included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Names:
    """A list of different names, each a whole match of ``pattern``.

    With ``until``, what stands before this mark has to differ.
    """

    noun: str
    pattern: str = r"[^\s,]+"
    until: str = ""

    def allow(self, names: tuple[str, ...]) -> bool:
        """Tell whether these names may stand together."""
        different = {name.partition(self.until)[0] if self.until else name for name in names}
        return len(different) == len(names) and all(re.fullmatch(self.pattern, name) for name in names)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few names, the values of an enum, which is the setting's type."""

    names: type[StrEnum]


@dataclass(frozen=True, slots=True)
class Address:
    """An address to listen on; whether others than this machine may reach it, keys decide."""

    def allow(self, host: str) -> bool:
        """Tell whether ``host`` is one."""
        return is_loopback(host) or is_address(host)


@dataclass(frozen=True, slots=True)
class Folder:
    """A path, or where ``noun`` says so another place; nothing need be there yet, unless a server reads it at start."""

    noun: str = "a path"
    is_read: bool = False

    def allow(self, path: str | None) -> bool:
        """Tell whether ``path`` can be one; nothing stands for the default."""
        return path is None or (path != "" and "\0" not in path)


@dataclass(frozen=True, slots=True)
class Url:
    """The base of an HTTP address, without query; nothing stands for none."""

    def allow(self, url: str | None) -> bool:
        """Tell whether ``url`` is one."""
        return url is None or re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", url) is not None


@dataclass(frozen=True, slots=True)
class ModelAt:
    """A model and the base of the HTTP address of its server, as ``MODEL@URL``; nothing stands for none."""

    noun: str = "MODEL@URL such as bge-m3@http://127.0.0.1:8001/v1"

    def allow(self, text: str | None) -> bool:
        """Tell whether ``text`` names both."""
        if text is None:
            return True
        model, _, url = text.partition("@")
        return re.fullmatch(r"[^\s@]+", model) is not None and Url().allow(url)


@dataclass(frozen=True, slots=True)
class Setting:
    """Stands beside a setting's type: its group, its rule, what it does, and what its being empty means."""

    group: Group
    rule: Range | Names | OneOf | Address | Folder | Url | ModelAt
    meaning: str
    empty: str = ""


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach ``host``."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_address(host: str) -> bool:
    """Tell whether ``host`` is an IP address; names of hosts may turn out to be anything."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
