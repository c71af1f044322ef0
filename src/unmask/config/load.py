"""From flags, environment and file to settings; what is wrong is told with the place where it stands."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from unmask.config.choices import KeyMode
from unmask.config.file import read_file
from unmask.config.keys import PREFIX, Key, Value, settings_keys
from unmask.config.rules import is_loopback
from unmask.config.savings import enabled_savings
from unmask.config.schema import TextSource, ValueSource, checked
from unmask.config.settings import Settings
from unmask.config.state import state_folder
from unmask.errors import ConfigError, shown
from unmask.savings.standing import known_figures, require_quality

KUBERNETES_MARK = "UNMASK_SERVICE_HOST"
_KUBERNETES = (
    " Kubernetes sets such variables for a Service called unmask: give the Service another name, or the pod "
    "`enableServiceLinks: false`."
)
_NO_KEYS = (
    " Without keys everyone who reaches another address could use the server. Keep a loopback address, or set keys to "
    "required and make keys with `unmask keys create`."
)


class Source(StrEnum):
    """Where a value comes from; an earlier one wins over a later one."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where one value comes from: ``place`` is the flag, the variable, or the file and line."""

    source: Source
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings, and where each of them comes from."""

    settings: Settings
    origins: Mapping[str, Origin]
    file: Path | None

    def value(self, key: Key) -> Value:
        """Return the value of a setting."""
        return cast("Value", getattr(self.settings, key.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """The values of one source, by setting."""

    values: Mapping[str, object]
    origins: Mapping[str, Origin]


def load_settings(*, flags: Mapping[str, str], environ: Mapping[str, str], file: Path | None) -> Loaded:
    """Merge settings: flags win over the environment, the environment over the file, the file over the defaults.

    Args:
        flags: texts by setting; a list's names have commas in between.
        environ: environment variables, of which those of our prefix count.
        file: a TOML or YAML file.

    Raises:
        ConfigError: a name is unknown, a value does not fit, or the file cannot be read.
        SavingUnmeasuredError: a saving is enabled whose quality nobody has measured.
    """
    layers = (_from_file(file), _from_environment(environ), _from_flags(flags))
    values: dict[str, object] = {}
    origins = {key.name: Origin(source=Source.DEFAULT, place="") for key in settings_keys()}
    for layer in layers:
        values.update(layer.values)
        origins.update(layer.origins)
    try:
        fitting = checked(values)
    except ValidationError as error:
        name = str(error.errors(include_url=False, include_context=False)[0]["loc"][0])
        raise _misfit(name, values[name], origins[name]) from error
    if fitting["keys"] is KeyMode.OFF and not is_loopback(str(fitting["host"])):
        raise _misfit("host", fitting["host"], origins["host"])
    settings = Settings(**cast("dict[str, Any]", fitting))
    _check_savings(settings, origins, environ)
    return Loaded(settings=settings, origins=origins, file=file)


def _check_savings(settings: Settings, origins: Mapping[str, Origin], environ: Mapping[str, str]) -> None:
    """Refuse a saving without a figure of its quality."""
    enabled = enabled_savings(settings)
    figures = known_figures(state_folder(environ)) if enabled else ()
    for saving, names in enabled.items():
        for name in names:
            require_quality(saving, figures, place=f"{origins[name].place}: {name}", param=name)


def _from_file(path: Path | None) -> _Layer:
    if path is None:
        return _Layer(values={}, origins={})
    file = read_file(path)
    known = [key.name for key in settings_keys()]
    for name, value in file.values.items():
        if name not in known:
            table = " Settings stand in no tables." if isinstance(value, dict) else ""
            raise _unknown(name, known, f"{file.place(name)}: ", table)
    origins = {name: Origin(source=Source.FILE, place=file.place(name)) for name in file.values}
    return _Layer(values=ValueSource(file.values)(), origins=origins)


def _from_environment(environ: Mapping[str, str]) -> _Layer:
    known = {key.variable: key.name for key in settings_keys()}
    given = {name: text for name, text in environ.items() if name.startswith(PREFIX)}
    for name in given:
        if name not in known:
            raise _unknown(name, known, "environment: ", _KUBERNETES if KUBERNETES_MARK in environ else "")
    origins = {known[name]: Origin(source=Source.ENVIRONMENT, place=name) for name in given}
    return _Layer(values=TextSource({known[name]: text for name, text in given.items()})(), origins=origins)


def _from_flags(flags: Mapping[str, str]) -> _Layer:
    keys = {key.name: key for key in settings_keys()}
    origins = {name: Origin(source=Source.FLAG, place=keys[name].flag) for name in flags}
    return _Layer(values=TextSource(flags)(), origins=origins)


def _unknown(name: str, known: Iterable[str], place: str, hint: str) -> ConfigError:
    names = tuple(known)
    close = get_close_matches(name, names, 1)
    meant = f", did you mean {close[0]}?" if close else "."
    return ConfigError(f"{place}{shown(name)} is no setting{meant}{hint} Allowed: {', '.join(names)}", param=name)


def _misfit(name: str, value: object, origin: Origin) -> ConfigError:
    key = next(key for key in settings_keys() if key.name == name)
    hint = _NO_KEYS if name == "host" else ""
    value = list(value) if isinstance(value, tuple) else value
    return ConfigError(f"{origin.place}: {name} is {shown(value)}, allowed: {key.allowed}.{hint}", param=name)
