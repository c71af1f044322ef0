"""Every setting with all that is known about it, read off `Settings`."""

import re
from dataclasses import dataclass, fields
from functools import cache
from typing import cast, get_type_hints

from unmask.config.rules import Address, Folder, Group, ModelAt, Names, OneOf, Range, Setting, Url
from unmask.config.settings import Settings

PREFIX = "UNMASK_"

Value = str | int | float | tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting; ``kind`` is its type, `Annotated` taken off."""

    name: str
    kind: object
    default: Value
    setting: Setting

    @property
    def is_list(self) -> bool:
        """Whether it holds several names."""
        return isinstance(self.setting.rule, Names)

    @property
    def group(self) -> Group:
        """What it is about."""
        return self.setting.group

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return PREFIX + self.name.upper()

    @property
    def flag(self) -> str:
        """Its option on the command line; a list's takes one name and may be repeated."""
        name = self.name.removesuffix("s") if self.is_list else self.name
        return "--" + name.replace("_", "-")

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        match self.setting.rule:
            case Range(low=low, high=high):
                noun = "a number" if self.kind is float else "a whole number"
                return f"{noun} from {low:g} to {high:g}" if self.kind is float else f"{noun} from {low} to {high}"
            case Names(noun=noun):
                return f"a list of different {noun}"
            case OneOf(names=names):
                *most, last = names
                return f"{', '.join(most)} or {last}"
            case Address():
                return "127.0.0.1, ::1 or localhost; with keys any address of this machine"
            case Folder(noun=noun) | ModelAt(noun=noun):
                return noun
            case Url():
                return "an address such as http://127.0.0.1:4318"

    def shown(self, value: Value) -> str:
        """Write a value as a person reads it."""
        match value:
            case None | ():
                return self.setting.empty
            case tuple():
                return ", ".join(value)
            case float():
                return f"{value:g}"
            case _:
                return str(hidden(value))


def hidden(value: Value) -> Value:
    """Return a value that may be shown: without the password of a URL."""
    return re.sub(r"(://[^/@]*?:)[^/]*(?=@)", r"\1***", value) if isinstance(value, str) else value


@cache
def settings_keys() -> tuple[Key, ...]:
    """Return every setting, in the order of the schema."""
    hints = get_type_hints(Settings, include_extras=True)
    keys = []
    for field in fields(Settings):
        kind, (setting,) = hints[field.name].__origin__, hints[field.name].__metadata__
        keys.append(Key(name=field.name, kind=kind, default=cast("Value", field.default), setting=setting))
    return tuple(keys)
