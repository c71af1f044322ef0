"""Settings of a server: read once, validated once, frozen."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import yaml

from unmask.errors import ConfigError

_WHOLE_RANGES = {
    "port": (0, 65_535),
    "max_rows": (1, 1_024),
    "page_pool_tokens": (256, 1 << 30),
    "queue_limit": (1, 1_000_000),
    "max_body_bytes": (1_024, 1 << 30),
    "threads": (1, 1_024),
}
_OPTIONAL = frozenset({"threads"})
_LONGEST_DRAIN_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that an operator decides about a server; raises `ConfigError` naming the setting that does not fit."""

    host: str = "127.0.0.1"
    """Address to listen on. Loopback only: requests carry no key, so whoever reaches the port may use it."""

    port: int = 8_000
    """Port to listen on; 0 takes a free one."""

    models: tuple[str, ...] = ()
    """Names of the models to load; none means every one in the package."""

    max_rows: int = 16
    """Requests of one model that run at once: the most rows in one forward."""

    page_pool_tokens: int = 32_768
    """Tokens that the KV pages of one model hold; a request waits until its worst case is free."""

    queue_limit: int = 256
    """Requests that may wait beside those that run; one more is refused with 429."""

    threads: int | None = None
    """Processor threads of a forward; by default torch decides."""

    max_body_bytes: int = 1 << 20
    """Longest request body; a longer one is refused with 413."""

    drain_s: float = 30.0
    """Seconds that running requests have to finish after a stop signal."""

    def __post_init__(self) -> None:
        """Check every setting."""
        _check_host(self.host)
        _check_models(self.models)
        for name, (low, high) in _WHOLE_RANGES.items():
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            # `True` is an `int` to Python, and a mistake in a settings file.
            if type(value) is not int or not low <= value <= high:
                raise ConfigError(f"{name} is {value!r}, allowed: a whole number from {low} to {high}", param=name)
        _check_drain(self.drain_s)


def load_settings(path: Path) -> Settings:
    """Read a YAML file of settings; what it does not name keeps its default.

    Raises:
        ConfigError: the file cannot be read, or a setting is unknown or does not fit.
    """
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"settings cannot be read from {str(path)!r}: {error}") from error
    return settings_from({} if values is None else values)


def settings_from(values: object, base: Settings | None = None) -> Settings:
    """Make settings from parsed ones over ``base`` (by default, the defaults); unknown names are refused."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"settings are {values!r}, allowed: names with values, such as `port: 8000`")
    known = [field.name for field in fields(Settings)]
    for name in values:
        if name not in known:
            raise ConfigError(f"{name!r} is no setting, allowed: {', '.join(known)}", param=str(name))
    start = base or Settings()
    merged = {name: values.get(name, getattr(start, name)) for name in known}
    if isinstance(merged["models"], list):
        merged["models"] = tuple(merged["models"])
    return Settings(**merged)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_host(host: object) -> None:
    if not isinstance(host, str) or not is_loopback(host):
        raise ConfigError(
            f"host is {host!r}, allowed: 127.0.0.1, ::1 or localhost. API keys do not exist yet, so everyone who "
            "reaches another address could use the server. Keep a loopback address and put a proxy that asks for "
            "credentials in front of it.",
            param="host",
        )


def _check_models(models: object) -> None:
    if (
        not isinstance(models, tuple)
        or not all(isinstance(name, str) and name for name in models)
        or len(set(models)) != len(models)
    ):
        raise ConfigError(f"models is {models!r}, allowed: a list of different model names", param="models")


def _check_drain(seconds: object) -> None:
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= _LONGEST_DRAIN_S:
        return
    raise ConfigError(f"drain_s is {seconds!r}, allowed: seconds from 0 to {_LONGEST_DRAIN_S:.0f}", param="drain_s")
