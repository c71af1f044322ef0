"""What a setting may be, and what is said about it."""

import re
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address


class Group(StrEnum):
    """What a setting is about; settings are listed in this order."""

    SERVER = "server"
    ENGINE = "engine"
    REQUESTS = "requests"
    POLICY = "policy"
    LEDGER = "ledger"
    CONNECTIONS = "connections"


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``, both included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Names:
    """A list of different names, each a whole match of ``pattern``."""

    noun: str
    pattern: str = r"[^\s,]+"

    def allow(self, names: tuple[str, ...]) -> bool:
        """Tell whether these names may stand together."""
        return len(set(names)) == len(names) and all(re.fullmatch(self.pattern, name) for name in names)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few names, the values of an enum, which is the setting's type."""

    names: type[StrEnum]


@dataclass(frozen=True, slots=True)
class Loopback:
    """An address that only this machine can reach."""

    def allow(self, host: str) -> bool:
        """Tell whether ``host`` is one."""
        return is_loopback(host)


@dataclass(frozen=True, slots=True)
class Folder:
    """A path, or where ``noun`` says so another place; nothing need be there yet."""

    noun: str = "a path"

    def allow(self, path: str | None) -> bool:
        """Tell whether ``path`` can be one; nothing stands for the default."""
        return path is None or (path != "" and "\0" not in path)


@dataclass(frozen=True, slots=True)
class Setting:
    """Stands beside a setting's type: its group, its rule, what it does, and what its being empty means."""

    group: Group
    rule: Range | Names | OneOf | Loopback | Folder
    meaning: str
    empty: str = ""


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach ``host``."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
