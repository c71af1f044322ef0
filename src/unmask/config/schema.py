"""The settings' pydantic model, where values enter; made from the schema, not beside it."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from unmask.config.keys import Key, Value, settings_keys
from unmask.config.rules import Address, Folder, ModelAt, Names, OneOf, Range, Url


class _Given(BaseSettings):
    """Takes what it is given: where values come from, and which win, is decided in `unmask.config.load`."""

    model_config = SettingsConfigDict(strict=True, extra="forbid")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - named by pydantic-settings
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - same
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - same
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - same
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Leave out the process's own environment."""
        return (init_settings,)


class TextSource(EnvSettingsSource):
    """Reads values out of texts by setting, in place of the process's own environment; lists have commas in between."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._lists = frozenset(key.name for key in settings_keys() if key.is_list)
        super().__init__(settings_schema())

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._texts

    def prepare_field_value(
        self,
        field_name: str,
        field: FieldInfo,
        value: Any,  # noqa: ANN401 - as pydantic-settings has it
        value_is_complex: bool,  # noqa: FBT001 - same
    ) -> Any:  # noqa: ANN401 - same
        """Read one value; what is no value of its type stays a text, for the schema to refuse."""
        if field_name in self._lists and isinstance(value, str):
            return tuple(name.strip() for name in value.split(","))
        try:
            return super().prepare_field_value(field_name, field, value, value_is_complex)
        except ValueError:
            # Python refuses to read numbers of thousands of digits.
            return value


class ValueSource(InitSettingsSource):
    """Takes values as a file holds them, with its types."""

    def __init__(self, values: Mapping[str, object]) -> None:
        super().__init__(settings_schema(), dict(values))


@cache
def settings_schema() -> type[BaseSettings]:
    """Return the model that checks settings; it knows no other names and converts nothing."""
    fields = {key.name: (_annotation(key), key.default) for key in settings_keys()}
    return cast("type[BaseSettings]", create_model("GivenSettings", __base__=_Given, **cast("dict[str, Any]", fields)))


def checked(values: Mapping[str, object]) -> dict[str, Value]:
    """Return every setting's value; raise `pydantic.ValidationError` for what does not fit."""
    return settings_schema()(**cast("dict[str, Any]", values)).model_dump()


def _annotation(key: Key) -> object:
    kind = cast("Any", key.kind)
    match key.setting.rule:
        case Range(low=low, high=high) if kind is float:
            return Annotated[kind, Field(ge=low, le=high, allow_inf_nan=False)]
        case Range(low=low, high=high):
            return Annotated[kind, Field(ge=int(low), le=int(high))]
        case OneOf():
            # Texts are no members of an enum, which a strict schema would mind.
            return Annotated[kind, Field(strict=False)]
        case Names() | Address() | Folder() | Url() | ModelAt() as rule:

            def check(value: Any) -> Any:  # noqa: ANN401 - of the rule's own type, which pydantic has seen to
                if not rule.allow(value):
                    raise ValueError(key.allowed)
                return value

            # Lists of a file are no tuples, which a strict schema would mind.
            return Annotated[kind, Field(strict=not key.is_list), AfterValidator(check)]
